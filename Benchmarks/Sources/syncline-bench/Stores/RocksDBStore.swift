// RocksDB doing a sync client's job: a row under its id and an operation under its number, told apart by the first
// byte, in one write batch.

import CRocksDB

final class RocksDBStore: Store {
    private let rocks: RocksDB

    init(_ directory: String, _ durability: Durability) throws { rocks = try RocksDB(directory, durability) }

    func insert(_ rows: TodoRows, _ range: Range<Int>) throws {
        let batch = rocksdb_writebatch_create()
        defer { rocksdb_writebatch_destroy(batch) }
        for index in range {
            let json = rows[index].json
            let (high, low) = rows.key(index)
            var row: [UInt8] = [1]
            withBytes(of: (high, low)) { row.append(contentsOf: $0) }
            put(batch, row, json)
            var operation: [UInt8] = [2]
            withUnsafeBytes(of: UInt64(index).bigEndian) { operation.append(contentsOf: $0) }
            put(batch, operation, row + json)
        }
        try rocks.write(batch)
    }

    private func put(_ batch: OpaquePointer?, _ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                let key = key.bindMemory(to: CChar.self)
                let value = value.bindMemory(to: CChar.self)
                rocksdb_writebatch_put(batch, key.baseAddress, key.count, value.baseAddress, value.count)
            }
        }
    }

    func get(_ rows: TodoRows, _ index: Int) throws -> Int {
        try withBytes(of: rows.key(index)) { key in
            let key = ([1] + key).map { CChar(bitPattern: $0) }
            var size = 0
            var failure: UnsafeMutablePointer<CChar>?
            let value = rocksdb_get(rocks.database, rocks.readOptions, key, key.count, &size, &failure)
            try checkRocksDB(&failure)
            guard let value else { throw BenchError("a row is missing") }
            rocksdb_free(value)
            return size
        }
    }

    func close() { rocks.close() }
}
