// RocksDB by its C interface: its defaults with LZ4 for the tables; the write-ahead log is synced on every durable
// commit. Threads write at once and RocksDB commits those that arrive together as one group.

import CRocksDB

/// Sendable although it holds pointers: the database and its option objects may be used by many threads.
final class RocksDB: @unchecked Sendable {
    let database: OpaquePointer
    let readOptions: OpaquePointer
    private let writeOptions: OpaquePointer

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

    func write(_ batch: OpaquePointer?) throws {
        var failure: UnsafeMutablePointer<CChar>?
        rocksdb_write(database, writeOptions, batch, &failure)
        try checkRocksDB(&failure)
    }

    func close() {
        rocksdb_writeoptions_destroy(writeOptions)
        rocksdb_readoptions_destroy(readOptions)
        rocksdb_close(database)
    }
}

final class RocksDBEngine: Engine {
    private let rocks: RocksDB

    init(_ directory: String, _ durability: Durability) throws { rocks = try RocksDB(directory, durability) }

    func makeSession() throws -> any Session { try RocksDBSession(rocks) }

    func readFirst() throws -> Int { try read(atMost: 1).bytes }
    func scan() throws -> ScanTotals { try read(atMost: .max) }

    private func read(atMost limit: Int) throws -> ScanTotals {
        let iterator = rocksdb_create_iterator(rocks.database, rocks.readOptions)
        defer { rocksdb_iter_destroy(iterator) }
        var totals = ScanTotals()
        rocksdb_iter_seek_to_first(iterator)
        while totals.records < limit, rocksdb_iter_valid(iterator) != 0 {
            var keySize = 0
            var valueSize = 0
            let key = rocksdb_iter_key(iterator, &keySize)
            let value = rocksdb_iter_value(iterator, &valueSize)
            totals.add(key: .init(start: key, count: keySize), value: .init(start: value, count: valueSize))
            rocksdb_iter_next(iterator)
        }
        var failure: UnsafeMutablePointer<CChar>?
        rocksdb_iter_get_error(iterator, &failure)
        try checkRocksDB(&failure)
        return totals
    }

    func close() { rocks.close() }
}

private final class RocksDBSession: Session {
    private let rocks: RocksDB
    private let batch: OpaquePointer

    init(_ rocks: RocksDB) throws {
        guard let batch = rocksdb_writebatch_create() else { throw BenchError("RocksDB made no batch") }
        self.rocks = rocks
        self.batch = batch
    }

    deinit { rocksdb_writebatch_destroy(batch) }

    func put(_ records: RecordSet, _ range: Range<Int>) throws {
        rocksdb_writebatch_clear(batch)
        for index in range {
            let key = records.key(index).bindMemory(to: CChar.self)
            let value = records.value(index).bindMemory(to: CChar.self)
            rocksdb_writebatch_put(batch, key.baseAddress, key.count, value.baseAddress, value.count)
        }
        try rocks.write(batch)
    }
}

func checkRocksDB(_ failure: inout UnsafeMutablePointer<CChar>?) throws {
    guard let text = failure else { return }
    failure = nil
    defer { rocksdb_free(text) }
    throw BenchError("RocksDB: \(String(cString: text))")
}
