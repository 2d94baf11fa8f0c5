// LevelDB by its C interface, with its defaults (Snappy for the tables); the log is synced on every durable commit.
// Threads write at once and LevelDB commits those that arrive together as one group.

import CLevelDB

/// Sendable although it holds pointers: the database and its option objects may be used by many threads.
final class LevelDBEngine: Engine, @unchecked Sendable {
    fileprivate let database: OpaquePointer
    fileprivate let writeOptions: OpaquePointer
    private let readOptions: OpaquePointer

    init(_ directory: String, _ durability: Durability) throws {
        let options = leveldb_options_create()
        defer { leveldb_options_destroy(options) }
        leveldb_options_set_create_if_missing(options, 1)
        var failure: UnsafeMutablePointer<CChar>?
        let opened = leveldb_open(options, directory + "/leveldb", &failure)
        try check(&failure)
        guard let opened, let writeOptions = leveldb_writeoptions_create(),
            let readOptions = leveldb_readoptions_create()
        else { throw BenchError("LevelDB did not open") }
        database = opened
        self.writeOptions = writeOptions
        self.readOptions = readOptions
        leveldb_writeoptions_set_sync(writeOptions, durability == .durable ? 1 : 0)
    }

    func makeSession() throws -> any Session { try LevelDBSession(self) }

    func readFirst() throws -> Int { try read(atMost: 1).bytes }
    func scan() throws -> ScanTotals { try read(atMost: .max) }

    private func read(atMost limit: Int) throws -> ScanTotals {
        let iterator = leveldb_create_iterator(database, readOptions)
        defer { leveldb_iter_destroy(iterator) }
        var totals = ScanTotals()
        leveldb_iter_seek_to_first(iterator)
        while totals.records < limit, leveldb_iter_valid(iterator) != 0 {
            var keySize = 0
            var valueSize = 0
            let key = leveldb_iter_key(iterator, &keySize)
            let value = leveldb_iter_value(iterator, &valueSize)
            totals.add(key: .init(start: key, count: keySize), value: .init(start: value, count: valueSize))
            leveldb_iter_next(iterator)
        }
        var failure: UnsafeMutablePointer<CChar>?
        leveldb_iter_get_error(iterator, &failure)
        try check(&failure)
        return totals
    }

    func close() {
        leveldb_writeoptions_destroy(writeOptions)
        leveldb_readoptions_destroy(readOptions)
        leveldb_close(database)
    }
}

private final class LevelDBSession: Session {
    private let engine: LevelDBEngine
    private let batch: OpaquePointer

    init(_ engine: LevelDBEngine) throws {
        guard let batch = leveldb_writebatch_create() else { throw BenchError("LevelDB made no batch") }
        self.engine = engine
        self.batch = batch
    }

    deinit { leveldb_writebatch_destroy(batch) }

    func put(_ records: RecordSet, _ range: Range<Int>) throws {
        leveldb_writebatch_clear(batch)
        for index in range {
            let key = records.key(index).bindMemory(to: CChar.self)
            let value = records.value(index).bindMemory(to: CChar.self)
            leveldb_writebatch_put(batch, key.baseAddress, key.count, value.baseAddress, value.count)
        }
        var failure: UnsafeMutablePointer<CChar>?
        leveldb_write(engine.database, engine.writeOptions, batch, &failure)
        try check(&failure)
    }
}

private func check(_ failure: inout UnsafeMutablePointer<CChar>?) throws {
    guard let text = failure else { return }
    failure = nil
    defer { leveldb_free(text) }
    throw BenchError("LevelDB: \(String(cString: text))")
}
