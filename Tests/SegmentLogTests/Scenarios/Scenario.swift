// Short scenarios, each with one fault and the one way it must end. They are values, so that the suite runs each by
// name and the breakages are tried on all of them.

import Testing

@testable import SegmentLog

struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    let run: @Sendable () throws -> Void

    init(_ name: String, _ run: @escaping @Sendable () throws -> Void) {
        self.name = name
        self.run = run
    }

    var testDescription: String { name }

    static var all: [Scenario] { damage + forgery + recovery + neighbours }
}

/// A scenario that ended differently.
struct ScenarioFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

@Suite struct ScenarioTests {
    @Test(arguments: Scenario.all)
    func `a story ends as it must`(_ scenario: Scenario) throws {
        try scenario.run()
    }
}

// MARK: - Parts of scenarios

/// A log in memory, and the operations on it.
struct StoryLog {
    let tree: MemoryStorage
    static let segment1 = "00000001-0000000000000001.seg"

    /// Without zeros ahead, so that a file ends where its frames do.
    static func configuration(compresses: Bool = true) -> LogConfiguration {
        var configuration = LogConfiguration()
        configuration.segmentSize = .kibibytes(256)
        configuration.zeroAhead = .bytes(0)
        configuration.acceleration = 1
        configuration.compresses = compresses
        configuration.syncsWhenIdle = false
        return configuration
    }

    /// A new log, written by `body` and then left as by a process that simply ends.
    init(_ body: (LogWriter) throws -> Void) throws {
        tree = MemoryStorage()
        let writer = try StoryLog.open(tree)
        try body(writer)
    }

    init(_ tree: MemoryStorage) {
        self.tree = tree
    }

    static func open(_ storage: any LogStorage, compresses: Bool = true) throws(LogError) -> LogWriter {
        try LogWriter.open(
            storage, configuration: configuration(compresses: compresses), clock: SimulationClock())
    }

    static func batch(_ texts: String...) -> RecordBatch {
        var batch = RecordBatch()
        for text in texts { batch.append(Array(text.utf8)) }
        return batch
    }

    /// Records as a reader shows them.
    static func records(
        _ storage: any LogStorage, showing visibility: LogReader.Visibility = .written
    ) throws -> [UInt64: String] {
        var records: [UInt64: String] = [:]
        var cursor = try LogReader.open(storage, showing: visibility).cursor()
        while try cursor.nextFrame() {
            cursor.forEachRecord { number, bytes in
                records[number.rawValue] = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            }
        }
        return records
    }

    var bytes: [UInt8] {
        get { tree.contents(of: StoryLog.segment1) ?? [] }
        nonmutating set { tree.setContents(newValue, of: StoryLog.segment1) }
    }

    /// The frames of the first segment, each with its position.
    func frames() throws -> [(header: FrameHeader, range: Range<Int>)] {
        let catalog = try LogCatalog(tree)
        let window = FileWindow(try tree.reading(StoryLog.segment1), name: StoryLog.segment1)
        var walker = FrameWalker(
            window, seed: catalog.identity.seed, from: 512, expecting: FrameExpectation(chain: 0, sequence: .first))
        var frames: [(FrameHeader, Range<Int>)] = []
        while case .frame(let header, let offset) = try walker.next() {
            frames.append((header, Int(offset)..<Int(offset) + header.frameLength))
        }
        return frames
    }

    func dataFrames() throws -> [(header: FrameHeader, range: Range<Int>)] {
        try frames().filter { $0.header.knownKind == .data }
    }

    /// A writer must refuse the log with a reason, and change nothing.
    func mustBeRefused(_ what: String) throws {
        let before = contents
        do throws(LogError) {
            _ = try StoryLog.open(tree)
        } catch {
            guard error.code == .storeCorrupt else { throw ScenarioFailure("\(what): \(error)") }
            guard contents == before else { throw ScenarioFailure("\(what): refused, and changed") }
            return
        }
        throw ScenarioFailure("\(what): the log was opened")
    }

    private var contents: [String: [UInt8]] {
        tree.allNames().files.reduce(into: [:]) { $0[$1] = $1 == "LOCK" ? nil : tree.contents(of: $1) }
    }

    /// A copy to be damaged.
    func copy() -> StoryLog { StoryLog(tree.copy()) }
}

func mustThrow(_ code: LogError.Code, _ what: String, _ body: () throws(LogError) -> Void) throws {
    do throws(LogError) {
        try body()
    } catch {
        guard error.code == code else { throw ScenarioFailure("\(what): \(error)") }
        return
    }
    throw ScenarioFailure("\(what): nothing was refused")
}

func must(_ holds: Bool, _ what: @autoclosure () throws -> String) throws {
    if !holds { throw ScenarioFailure(try what()) }
}
