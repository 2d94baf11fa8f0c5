// Limits on the exchange with a server: timeouts, sizes, and the length of a pull. Redirects are never followed;
// that is a fixed rule, not a limit.

public import SegmentLog
package import SynclineCore
import SynclineWire

/// How long a store waits for its server, and how much data it accepts.
///
/// Exceeding a limit loses no data: an interrupted request counts as one whose response was lost, and an interrupted
/// pull keeps its pages.
public struct NetworkLimits: Hashable, Sendable {
    /// The timeout for opening a connection. URLSession has no such limit; ``stall`` applies instead.
    public var connect: Duration
    /// How long a connection may be silent during a request. This is the only timeout for an event stream.
    public var stall: Duration
    /// The timeout for a whole request with its response.
    public var total: Duration
    /// How long an unused connection is kept open for the next request.
    public var idle: Duration
    /// The longest `Retry-After` wait that is accepted. If the server asks for more, the push or pull stops instead.
    public var longestWait: Duration
    /// The maximum size of a response body, uncompressed. A pull whose page is larger asks for fewer rows, and lists a single
    /// row that is larger as unreadable.
    public var body: ByteCount
    /// The maximum size of a response's headers.
    public var headers: ByteCount
    /// The maximum number of requests for one list, which stops a list that never ends. An interrupted pull with a
    /// query id continues where it stopped.
    public var pages: Int

    /// Creates limits. Omitted ones have their defaults.
    public init(
        connect: Duration = .seconds(10), stall: Duration = .seconds(60), total: Duration = .seconds(100),
        idle: Duration = .seconds(118), longestWait: Duration = .seconds(300),
        body: ByteCount = .mebibytes(256), headers: ByteCount = .mebibytes(1), pages: Int = 100_000
    ) {
        self.connect = connect
        self.stall = stall
        self.total = total
        self.idle = idle
        self.longestWait = longestWait
        self.body = body
        self.headers = headers
        self.pages = pages
    }
}

extension NetworkLimits {
    /// The limits as the transport takes them.
    var transport: TransportLimits {
        var limits = TransportLimits()
        limits.connect = connect
        limits.stall = stall
        limits.total = total
        limits.idle = idle
        limits.responseSize = Int(clamping: body.rawValue)
        limits.headerSize = Int(clamping: headers.rawValue)
        return limits
    }

    /// Throws if a limit would let nothing through.
    func check() throws(SyncError) {
        let times = [connect, stall, total, idle]
        let isFine =
            times.allSatisfy { $0 > .zero && $0 <= NetworkLimits.longest } && longestWait >= .zero
            && longestWait <= NetworkLimits.longest && body.rawValue > 0 && headers.rawValue > 0 && pages > 0
        guard isFine else {
            throw SyncError(
                .invalidConfiguration, "a network limit is not valid",
                hint: "Times must be above 0 and at most a year; sizes and pages must be 1 or more.")
        }
    }

    private static let longest = Duration.seconds(366 * 86_400)

    /// Parses the store's setting `limits`: an object of seconds, bytes and a number of pages. Missing members keep
    /// their defaults.
    package init(_ value: Value) throws(SyncError) {
        self.init()
        guard case .object(let members) = value else { throw NetworkLimits.refusal("it is not an object") }
        for member in members {
            let number: Double
            switch member.value.unspelled {
            case .integer(let value): number = Double(value)
            case .double(let value) where value.isFinite: number = value
            default: throw NetworkLimits.refusal("\"\(member.name)\" is not a number")
            }
            guard number >= 0, number < 1e15 else { throw NetworkLimits.refusal("\"\(member.name)\" is out of range") }
            let time = Duration.milliseconds(Int64((min(number, 1e12) * 1000).rounded()))
            switch member.name {
            case "connect": connect = time
            case "stall": stall = time
            case "total": total = time
            case "idle": idle = time
            case "wait": longestWait = time
            case "body": body = .bytes(UInt64(number))
            case "headers": headers = .bytes(UInt64(number))
            case "pages": pages = Int(number)
            default: throw NetworkLimits.refusal("\"\(member.name)\" is not a known limit")
            }
        }
        try check()
    }

    private static func refusal(_ reason: String) -> SyncError {
        SyncError(
            .invalidConfiguration, "the limits are not valid: \(reason)",
            hint:
                #"Write them as {"connect":10,"stall":60,"total":100,"idle":118,"wait":300,"body":268435456,"headers":1048576,"pages":100000}, or some of them."#
        )
    }

    /// Returns why a pull may not request another page, or nil if it may.
    func refusal(ofRequest number: Int, table: String) -> SyncError? {
        if number <= pages { return nil }
        return SyncError(
            .serverError, "the list of \(table) did not end within \(pages) pages",
            hint: "Stored pages are kept. Pull again to continue, or allow more pages in the limits.")
    }
}
