// The append workloads: numbers of records, of writers, and of records in a commit.

/// One case: every variant does the same work.
struct AppendCase: Sendable {
    var name: String
    var title: String
    var durability = Durability.durable
    var variants: [EngineVariant]
    var records: Int
    var batch = 1
    var writers = 1
    /// The number of records after which another variant takes its turn; nil if each variant does its round at once.
    var slice: Int?
    var secondsAtMost: Double
}

extension AppendCase {
    /// The cases of a workload. Quick ones are sized so that all together take a minute or two on a disk that syncs in
    /// 0.1 ms; the time limit keeps the run short on a slow disk.
    static func cases(of workload: Workload, quick: Bool) -> [AppendCase] {
        let seconds = quick ? 1.0 : 10
        let shapes: [EngineName] = [.sqliteRowid, .sqliteRowidTuned, .sqliteClustered, .sqliteClusteredTuned]
        let peers =
            shapes.map { EngineVariant($0) } + [EngineVariant(.rocksdb), EngineVariant(.leveldb), EngineVariant(.lmdb)]
        let all = [EngineVariant(.floor), EngineVariant(.log)] + peers
        let withTasks = [EngineVariant(.floor), EngineVariant(.log), EngineVariant(.log, .tasks)]
        // All of SQLite's shapes wait for the same sync, so one of them is enough.
        // With a connection each, some wait for many seconds: too long for a quick run.
        let concurrent =
            withTasks + [EngineVariant(.sqliteRowid)] + (quick ? [] : [EngineVariant(.sqliteRowidConnections)])
            + [EngineVariant(.rocksdb), EngineVariant(.leveldb), EngineVariant(.lmdb)]
        func batches(of size: Int, _ records: Int) -> AppendCase {
            AppendCase(
                name: workload.rawValue, title: "one writer, commits of \(size), durable", variants: all,
                records: records, batch: size, secondsAtMost: seconds)
        }
        switch workload {
        case .appendDurable:
            let one = AppendCase(
                name: "append-durable-1", title: "one writer, one record a commit, durable",
                variants: withTasks + peers, records: quick ? 1000 : 5000, slice: quick ? 200 : 500,
                secondsAtMost: quick ? 1 : 5)
            return [one]
                + [16, 64].map { writers in
                    AppendCase(
                        name: "append-durable-\(writers)", title: "\(writers) writers, one record a commit, durable",
                        variants: concurrent, records: (quick ? 250 : 1500) * writers, writers: writers,
                        secondsAtMost: quick ? 0.3 : 2)
                }
        case .appendBuffered:
            return [
                AppendCase(
                    name: workload.rawValue, title: "one writer, one record a commit, not synced",
                    durability: .buffered, variants: all, records: quick ? 10_000 : 50_000, secondsAtMost: seconds)
            ]
        case .batch10: return [batches(of: 10, quick ? 5_000 : 50_000)]
        case .batch100: return [batches(of: 100, quick ? 20_000 : 100_000)]
        case .batch1000: return [batches(of: 1000, quick ? 50_000 : 300_000)]
        case .recover, .scan, .follow: return []
        }
    }
}
