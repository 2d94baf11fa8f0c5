// The databases that the same tests run on, and a store without one.

import Foundation
import SynclineTables
import Testing

@testable import SynclineServer

enum TestBackend: String, CaseIterable, CustomTestStringConvertible {
    case sqlite
    /// Skipped with a message if it is not installed.
    case postgres
    /// Tables in memory.
    case memory

    var testDescription: String { rawValue }

    /// An empty database, and what keeps it.
    func database() throws -> (any SQLDatabase, AnyObject) {
        let (store, keeper) = try store(as: StillEnvironment())
        return (try TestBackend.open(store), keeper)
    }

    static func open(_ store: String) throws -> any SQLDatabase {
        switch try StoreAddress(store) {
        case .sqlite(let path): try SQLiteDatabase(path: path)
        case .postgres(let url): try PostgresDatabase(url: url, connections: 6, limits: .patient)
        }
    }

    /// The address of an empty store, and what keeps it.
    func store(as environment: any ServerEnvironment = PatientEnvironment()) throws -> (String, AnyObject) {
        switch self {
        case .sqlite:
            let folder = try TemporaryFolder()
            return ("sqlite:\(folder.path)/test.db", folder)
        case .postgres:
            return try store(in: try #require(PrivatePostgres.shared), environment)
        case .memory: preconditionFailure("tables in memory have no database")
        }
    }

    private func store(
        in cluster: PrivatePostgres, _ environment: any ServerEnvironment = PatientEnvironment()
    ) throws -> (String, AnyObject) {
        let url = cluster.url(try cluster.newDatabase())
        if let numbers = TestBackend.numbers { try TestBackend.set(numbers, url, environment) }
        return (url, cluster)
    }

    /// A store in a cluster without other tests, whose transactions readers would wait for.
    func storeAlone() throws -> (String, AnyObject) {
        self == .postgres ? try store(in: try #require(PrivatePostgres(syncs: false))) : try store()
    }

    /// SYNCLINE_NUMBERS: where PostgreSQL's numbers come from in all tests, if not from the default.
    static var numbers: NumberSource? {
        ProcessInfo.processInfo.environment["SYNCLINE_NUMBERS"].flatMap(NumberSource.init)
    }

    private static func set(_ numbers: NumberSource, _ url: String, _ environment: any ServerEnvironment) throws {
        let database = try PostgresDatabase(url: url, connections: 2, limits: .patient)
        defer { database.close() }
        _ = try SQLStore(database, [], environment, numbers: numbers)
    }

    /// For tests that ask a store only what a service asks it.
    static let stores = available + [.memory]

    static let available: [TestBackend] = {
        if PrivatePostgres.shared != nil { return [.sqlite, .postgres] }
        print("Tests of PostgreSQL are skipped: \(PrivatePostgres.missing).")
        return [.sqlite]
    }()
}

extension DatabaseLimits {
    /// For tests beside many others: a slow answer of a busy machine is not taken for none.
    static let patient = DatabaseLimits(statement: .seconds(120), check: .seconds(30))
}
