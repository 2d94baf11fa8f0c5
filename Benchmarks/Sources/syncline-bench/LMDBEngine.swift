// LMDB: its defaults (no writable map) and a map of 4 GiB; MDB_NOSYNC for buffered commits. A durable commit syncs the
// data and then writes the meta page through a descriptor that syncs by itself. Threads take turns on LMDB's own lock.

import CLMDB

/// Sendable although it holds a pointer: an environment may be used by many threads, each with transactions of its own.
final class LMDBEngine: Engine, @unchecked Sendable {
    private let environment: OpaquePointer
    private let table: MDB_dbi

    init(_ directory: String, _ durability: Durability) throws {
        environment = try openLMDB(directory, durability)
        var transaction: OpaquePointer?
        var table: MDB_dbi = 0
        try checkLMDB(mdb_txn_begin(environment, nil, 0, &transaction))
        try checkLMDB(mdb_dbi_open(transaction, nil, 0, &table))
        try checkLMDB(mdb_txn_commit(transaction))
        self.table = table
    }

    func makeSession() -> any Session { LMDBSession(self) }

    fileprivate func put(_ records: RecordSet, _ range: Range<Int>) throws {
        var transaction: OpaquePointer?
        try checkLMDB(mdb_txn_begin(environment, nil, 0, &transaction))
        for index in range {
            var key = lmdbSlice(records.key(index))
            var value = lmdbSlice(records.value(index))
            let code = mdb_put(transaction, table, &key, &value, 0)
            guard code == 0 else {
                mdb_txn_abort(transaction)
                return try checkLMDB(code)
            }
        }
        try checkLMDB(mdb_txn_commit(transaction))
    }

    func readFirst() throws -> Int { try read(atMost: 1).bytes }
    func scan() throws -> ScanTotals { try read(atMost: .max) }

    private func read(atMost limit: Int) throws -> ScanTotals {
        var transaction: OpaquePointer?
        var cursor: OpaquePointer?
        try checkLMDB(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        try checkLMDB(mdb_cursor_open(transaction, table, &cursor))
        defer { mdb_cursor_close(cursor) }
        var totals = ScanTotals()
        var key = MDB_val()
        var value = MDB_val()
        while totals.records < limit {
            let code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            if code == MDB_NOTFOUND { break }
            try checkLMDB(code)
            totals.add(
                key: .init(start: key.mv_data, count: key.mv_size),
                value: .init(start: value.mv_data, count: value.mv_size))
        }
        return totals
    }

    func close() { mdb_env_close(environment) }
}

private final class LMDBSession: Session {
    private let engine: LMDBEngine

    init(_ engine: LMDBEngine) { self.engine = engine }

    func put(_ records: RecordSet, _ range: Range<Int>) throws { try engine.put(records, range) }
}

/// - Parameter tables: How many tables have names.
func openLMDB(_ directory: String, _ durability: Durability, tables: UInt32 = 0) throws -> OpaquePointer {
    var environment: OpaquePointer?
    try checkLMDB(mdb_env_create(&environment))
    guard let environment else { throw BenchError("LMDB made no environment") }
    try checkLMDB(mdb_env_set_mapsize(environment, 4 << 30))
    try checkLMDB(mdb_env_set_maxdbs(environment, tables))
    let flags = durability == .durable ? 0 : UInt32(MDB_NOSYNC)
    try checkLMDB(mdb_env_open(environment, directory, flags, 0o644))
    return environment
}

/// LMDB's view of bytes; it does not write through it.
func lmdbSlice(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
    MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
}

func checkLMDB(_ code: Int32) throws {
    guard code != 0 else { return }
    throw BenchError("LMDB: \(String(cString: mdb_strerror(code)))")
}
