// The settings with which an app opens a store, its reports, and the first events of a new store.

public import SegmentLog
public import SynclineCore
import SynclineGround
package import SynclineWire

/// Options for opening a store.
public struct SyncConfiguration: Sendable {
    /// Whether opening may create a new store.
    public var creation: LogCreation
    /// How durable a change is when the call returns.
    public var durability: Durability
    /// How a new store compares ids.
    public var ids: IDComparison
    /// The sync protocol of a new store's backend.
    public var serverProtocol: ServerProtocol
    /// The app's schema, if it has one. The store records it and enforces the recorded schema.
    public var schema: SyncSchema?
    /// The base URL of the backend, whose tables are below `/tables`; nil for the URL in the store's settings, if it
    /// has one.
    public var backend: String?
    /// Supplies the token that requests carry; nil if the server needs none.
    public var credentials: (any CredentialProvider)?
    /// Timeouts and size limits for the server; nil for those in the store's settings, or else the defaults.
    public var limits: NetworkLimits?
    /// Whether other processes change the store while they follow it: see ``SyncDatabase/follow(at:_:)``. Their changes are
    /// then merged as they arrive, and otherwise when the store is opened, resumed or refreshed.
    public var isShared: Bool
    /// Receives reports about the engine's work, for the app's log; nil to report nothing.
    public var diagnostics: DiagnosticReceiver?
    /// Where to record the requests and responses, for a bug report; nil to record nothing.
    public var recording: TrafficRecording?
    /// How much memory the newest changes may use before they are written to a checkpoint.
    public var memoryLimit: ByteCount
    /// How much memory may be used for what was read of checkpoints, so that it need not be read again. More makes lists of
    /// large tables faster. The default is 64 MiB, and 32 MiB on devices whose apps have less memory: iOS, tvOS, watchOS
    /// and visionOS.
    public var cacheSize: ByteCount
    /// The log's settings.
    public var log: LogConfiguration
    /// A clock and a source of ids.
    public var environment: any SyncEnvironment
    /// The transport to use instead of the network.
    package var transport: (any HTTPTransport)?
    /// The server's capabilities, if they are known from an earlier response.
    package var knownOfServer: ServerCapabilities = []
    /// Further settings that a new store starts with.
    package var settings: [(name: String, value: Value)] = []

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        private static let usualCacheSize = ByteCount.mebibytes(32)
    #else
        private static let usualCacheSize = ByteCount.mebibytes(64)
    #endif

    /// Creates a configuration. The defaults suit most apps.
    public init(
        creation: LogCreation = .ifMissing, durability: Durability = .durable, ids: IDComparison = .exact,
        serverProtocol: ServerProtocol = .zumo2, schema: SyncSchema? = nil, backend: String? = nil,
        credentials: (any CredentialProvider)? = nil, limits: NetworkLimits? = nil, isShared: Bool = false,
        diagnostics: DiagnosticReceiver? = nil, recording: TrafficRecording? = nil,
        memoryLimit: ByteCount = .mebibytes(16), cacheSize: ByteCount? = nil, log: LogConfiguration = .init(),
        environment: any SyncEnvironment = SystemEnvironment()
    ) {
        self.creation = creation
        self.durability = durability
        self.ids = ids
        self.serverProtocol = serverProtocol
        self.schema = schema
        self.backend = backend
        self.credentials = credentials
        self.limits = limits
        self.isShared = isShared
        self.diagnostics = diagnostics
        self.recording = recording
        self.memoryLimit = memoryLimit
        self.cacheSize = cacheSize ?? SyncConfiguration.usualCacheSize
        self.log = log
        self.environment = environment
    }

    /// Reports to the app, if it wants to know.
    func report(_ level: Diagnostic.Level, _ area: Diagnostic.Area, _ message: @autoclosure () -> String) {
        diagnostics?(Diagnostic(level, area, message()))
    }

    /// The settings that a new store records in its first events.
    var initialSettings: [Event.Body] {
        var settings = [
            (SettingName.device, Value.string(environment.newID())),
            (SettingName.serverProtocol, .string(serverProtocol.rawValue)),
        ]
        if ids == .ignoreCase { settings.append((SettingName.ids, .string("ignore-case"))) }
        return (settings + self.settings).map { .configured(name: $0.0, value: $0.1) }
    }

    /// Returns the first records of a new log: its process, and the settings.
    func initialRecords(in storage: any LogStorage) -> RecordBatch {
        let settings = initialSettings
        var opening = Opening(
            device: "", engineVersion: synclineVersion, projectorVersion: Projector.version,
            schemaVersion: schema?.version ?? 0, place: StorePlace.mark(storage))
        if case .configured(_, .string(let device)?)? = settings.first { opening.device = device }
        var batch = RecordBatch()
        for body in [.opened(opening)] + settings {
            batch.append(Event(time: environment.milliseconds(), body).bytes)
        }
        return batch
    }
}
