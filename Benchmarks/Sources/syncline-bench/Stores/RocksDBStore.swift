// RocksDB doing a sync client's job: a row under its id and an operation under its number, told apart by the first
// byte, in one write batch.

import CRocksDB

/// Sendable although it holds pointers: the database and its option objects may be used by many threads.
final class RocksDBStore: Store, @unchecked Sendable {
    private let database: OpaquePointer
    private let writeOptions: OpaquePointer
    private let readOptions: OpaquePointer

    init(_ directory: String, _ durability: Durability) throws {
        let options = rocksdb_options_create()
        defer { rocksdb_options_destroy(options) }
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
        var failure: UnsafeMutablePointer<CChar>?
        let opened = rocksdb_open(options, directory + "/rocksdb", &failure)
        try checkRocksDB(&failure)
        guard let opened, let writeOptions = rocksdb_writeoptions_create(),
            let readOptions = rocksdb_readoptions_create()
        else { throw BenchError("RocksDB did not open") }
        database = opened
        self.writeOptions = writeOptions
        self.readOptions = readOptions
        rocksdb_writeoptions_set_sync(writeOptions, durability == .durable ? 1 : 0)
    }

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
        var failure: UnsafeMutablePointer<CChar>?
        rocksdb_write(database, writeOptions, batch, &failure)
        try checkRocksDB(&failure)
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
            let value = rocksdb_get(database, readOptions, key, key.count, &size, &failure)
            try checkRocksDB(&failure)
            guard let value else { throw BenchError("a row is missing") }
            rocksdb_free(value)
            return size
        }
    }

    func close() {
        rocksdb_writeoptions_destroy(writeOptions)
        rocksdb_readoptions_destroy(readOptions)
        rocksdb_close(database)
    }
}
