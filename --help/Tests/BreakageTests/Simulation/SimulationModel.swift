// The oracle: what the log must have, as a plain list of transactions. Each is durable, kept (it survives the
// process), or doubtful. An opened log has all the durable ones, then some of the others in order, each completely.

struct SimulationModel {
    enum Standing { case doubtful, kept, durable }

    struct Transaction: Equatable {
        var first: UInt64
        var records: [[UInt8]]
        var time: Int64
        var standing = Standing.doubtful
        var last: UInt64 { first + UInt64(records.count) - 1 }
    }

    private(set) var log: [Transaction] = []
    /// The highest record that collection was ever allowed to make the log's first.
    var floor: UInt64 = 1
    /// After a segment without records, times continue from its creation.
    var leastTime: Int64 = 0

    var next: UInt64 { (log.last?.last ?? 0) + 1 }

    mutating func begin(_ records: [[UInt8]], clock: Int64) -> Transaction {
        log.append(Transaction(first: next, records: records, time: max(clock, log.last?.time ?? 0, leastTime)))
        return log[log.count - 1]
    }

    mutating func keep() { log[log.count - 1].standing = max(.kept, log[log.count - 1].standing) }

    /// What was refused never returns.
    mutating func refuse() throws {
        let last = log.removeLast()
        guard last.standing == .doubtful else {
            throw SimulationFailure("@\(last.first) was shown as durable, then refused")
        }
    }

    mutating func settle(through number: UInt64) throws {
        guard number < next else { throw SimulationFailure("@\(number) is called durable and was never appended") }
        for index in log.indices.reversed() where log[index].last <= number {
            if log[index].standing == .durable { break }
            log[index].standing = .durable
        }
    }

    mutating func doubt() {
        for index in log.indices where log[index].standing == .kept { log[index].standing = .doubtful }
    }

    /// Returns the transactions that explain what was found: a prefix of the list.
    func explain(_ found: [[UInt8]], from first: UInt64) throws -> [Transaction] {
        guard first <= floor else {
            throw SimulationFailure("the log begins with @\(first); it must have everything from @\(floor)")
        }
        var number = first
        func holds(_ transaction: Transaction) -> Bool {
            let start = Int(transaction.first) - Int(first)
            return start >= 0 && start + transaction.records.count <= found.count
                && found[start..<start + transaction.records.count].elementsEqual(transaction.records)
        }
        var explained = log.filter { $0.last < first }
        for transaction in log[explained.count...] {
            guard holds(transaction) else { break }
            number = transaction.last + 1
            explained.append(transaction)
        }
        guard number == first + UInt64(found.count) else {
            throw SimulationFailure(
                "@\(number) holds what was never appended there, or half a transaction; \(found.count) records from @\(first)"
            )
        }
        if explained.count < log.count, log[explained.count].standing != .doubtful {
            throw SimulationFailure("@\(number) is missing, which is \(log[explained.count].standing)")
        }
        return explained
    }

    mutating func adopt(_ transactions: [Transaction]) {
        log = transactions
        for index in log.indices { log[index].standing = .durable }
    }

    func transaction(holding number: UInt64) -> Transaction? {
        log.last { $0.first <= number }.flatMap { number <= $0.last ? $0 : nil }
    }
}

extension SimulationModel.Standing: Comparable {}

/// What contradicted the model, and at which step.
struct SimulationFailure: Error, CustomStringConvertible {
    var what: String
    var step: Int?

    init(_ what: String) {
        self.what = what
    }

    var description: String { step.map { "step \($0): \(what)" } ?? what }
}
