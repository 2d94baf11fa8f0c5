// LMDB doing a sync client's job: rows by id in one table, operations by number in another, appended.

import CLMDB

/// Sendable although it holds a pointer: the one thread that uses it at a time has transactions of its own.
final class LMDBStore: Store, @unchecked Sendable {
    private let environment: OpaquePointer
    private let rows: MDB_dbi
    private let operations: MDB_dbi

    init(_ directory: String, _ durability: Durability) throws {
        environment = try openLMDB(directory, durability, tables: 2)
        var transaction: OpaquePointer?
        var (rows, operations): (MDB_dbi, MDB_dbi) = (0, 0)
        try checkLMDB(mdb_txn_begin(environment, nil, 0, &transaction))
        try checkLMDB(mdb_dbi_open(transaction, "rows", UInt32(MDB_CREATE), &rows))
        try checkLMDB(mdb_dbi_open(transaction, "operations", UInt32(MDB_CREATE | MDB_INTEGERKEY), &operations))
        try checkLMDB(mdb_txn_commit(transaction))
        (self.rows, self.operations) = (rows, operations)
    }

    func insert(_ todos: TodoRows, _ range: Range<Int>) throws {
        var transaction: OpaquePointer?
        try checkLMDB(mdb_txn_begin(environment, nil, 0, &transaction))
        for index in range {
            try todos[index].json.withUnsafeBytes { json in
                try withBytes(of: todos.key(index)) { try put(transaction, rows, $0, json, 0) }
                // The operation names its row.
                var operation = [UInt8](unsafeUninitializedCapacity: 16 + json.count) { memory, count in
                    withBytes(of: todos.key(index)) { UnsafeMutableRawBufferPointer(memory).copyMemory(from: $0) }
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[16...])
                        .copyMemory(from: json)
                    count = 16 + json.count
                }
                try withUnsafeBytes(of: UInt(index)) { number in
                    try operation.withUnsafeMutableBytes {
                        try put(transaction, operations, number, UnsafeRawBufferPointer($0), UInt32(MDB_APPEND))
                    }
                }
            }
        }
        try checkLMDB(mdb_txn_commit(transaction))
    }

    private func put(
        _ transaction: OpaquePointer?, _ table: MDB_dbi, _ key: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer, _ flags: UInt32
    ) throws {
        var (key, value) = (lmdbSlice(key), lmdbSlice(value))
        try checkLMDB(mdb_put(transaction, table, &key, &value, flags))
    }

    func get(_ todos: TodoRows, _ index: Int) throws -> Int {
        var transaction: OpaquePointer?
        try checkLMDB(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        return try withBytes(of: todos.key(index)) { key in
            var (key, value) = (lmdbSlice(key), MDB_val())
            try checkLMDB(mdb_get(transaction, rows, &key, &value))
            return [UInt8](UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)).count
        }
    }

    func close() { mdb_env_close(environment) }
}
