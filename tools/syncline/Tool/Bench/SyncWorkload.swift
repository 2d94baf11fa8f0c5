// The workload of `bench sync`: pages made before the clock starts, a store that pulls them, and the push's requests.

import CLibrary
import SegmentLog
import Syncline
import SynclineGround
import SynclineWire

/// An amount of work and the time it took.
struct Figure: Sendable {
    var seconds = 0.0
    var records = 0
    /// The number of allocations, if they are counted.
    var allocations: UInt64?

    init() {}

    init(_ duration: Duration, records: Int) {
        seconds = max(1e-9, duration / .seconds(1))
        self.records = records
    }

    var perSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }
}

struct SyncFigures: Sendable {
    var pull = Figure()
    var push = Figure()
    /// The additional memory of the process at the peak of the pull.
    var peak = 0
}

struct SyncWorkload: Sendable {
    var rows: Int
    var pageSize: Int

    private static let table = "todoitem"

    func run(_ storage: any LogStorage) async throws -> SyncFigures {
        var configuration = SyncConfiguration()
        configuration.creation = .always
        configuration.transport = PremadePages(rows: rows, pageSize: pageSize)
        let database = try await SyncDatabase.open(storage, configuration)
        var figures = SyncFigures()
        let before = PeakMemory.reset()
        var settings = PullSettings()
        settings.queryID = "all"
        settings.pageSize = pageSize
        let counted = Allocations.count
        let begin = SystemSource.instant()
        let report = try await database.pull(SyncWorkload.table, settings)
        figures.pull = Figure(begin.duration(to: SystemSource.instant()), records: rows)
        figures.pull.allocations = Allocations.since(counted)
        figures.peak = max(0, PeakMemory.current - before)
        if let reason = report.reason { throw reason }
        guard report.changed == rows else { throw ToolError("internal", "\(report.changed) of \(rows) rows arrived") }
        try await change(database)
        figures.push = try requests(database)
        try await database.close()
        return figures
    }

    /// Changes every row.
    private func change(_ database: SyncDatabase) async throws {
        for start in stride(from: 0, to: rows, by: 1000) {
            let part = start..<min(start + 1000, rows)
            try await database.transaction(durability: .buffered) { transaction in
                for index in part {
                    try transaction.update(
                        SyncWorkload.table,
                        .object([.init("id", .string(PremadePages.id(index))), .init("complete", .bool(true))]))
                }
            }
        }
    }

    /// Makes the plan of a push, and the bytes of each of its requests.
    private func requests(_ database: SyncDatabase) throws -> Figure {
        let codec = WireCodec(.zumo2)
        let counted = Allocations.count
        let begin = SystemSource.instant()
        let reader = try database.reader
        let plan = try PushPlan(reader).operations
        for operation in plan {
            guard let entry = try reader.entry(key: operation.rowKey), let pending = entry.pending else { continue }
            let frozen = FrozenOperation(
                kind: operation.kind, status: .inFlight, maybeSent: true, position: operation.position,
                through: pending.last, operationID: "operation", columns: pending.overlay, ancestor: entry.base)
            let (table, id) = operation.address
            _ = try codec.request(.write(WriteRequest(frozen, table: table, id: id, .zumo2, TableTypes())))
        }
        var figure = Figure(begin.duration(to: SystemSource.instant()), records: plan.count)
        figure.allocations = Allocations.since(counted)
        return figure
    }
}

/// A server with prepared pages.
private final class PremadePages: HTTPTransport {
    private let pages: [HTTPResponse]
    private let next = Atomic(0)

    static func id(_ index: Int) -> String {
        // Spread like random ids, but the same on every run.
        var mixed = UInt64(index) &* 0x9e37_79b9_7f4a_7c15
        mixed ^= mixed >> 29
        let high = Hexadecimal.text(mixed, digits: 16)
        let low = Hexadecimal.text(index, digits: 12)
        return "\(high.prefix(8))-\(high.dropFirst(8).prefix(4))-4000-8000-\(low)"
    }

    init(rows: Int, pageSize: Int) {
        pages = stride(from: 0, to: rows, by: pageSize).map { start in
            let part = start..<min(start + pageSize, rows)
            var response = HTTPResponse(status: 200)
            let list = part.map { PremadePages.row($0) }.joined(separator: ",")
            response.body = Array("{\"results\":[\(list)],\"count\":\(rows - start)}".utf8)
            return response
        }
    }

    private static func row(_ index: Int) -> String {
        let time = Timestamp(.init(milliseconds: 1_700_000_000_000 + Int64(index)))
        return """
            {"id":"\(id(index))","text":"buy \(index % 97) things and do not forget the \(index % 13)","complete":false,\
            "priority":\(index % 5),"list":"list \(index % 40)","due":"\(time)","createdAt":"\(time)",\
            "updatedAt":"\(time)","version":"AAAAAAA\(index)","deleted":false}
            """
    }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < pages.count else { throw .offline("there are no more pages") }
        return pages[index]
    }
}

/// The peak memory of the process, if the system reports it.
private enum PeakMemory {
    /// Resets the peak, and returns the present value.
    static func reset() -> Int {
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        return current
    }

    static var current: Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return (Int(text.filter { $0.isNumber }) ?? 0) * 1024
        }
        return 0
    }
}
