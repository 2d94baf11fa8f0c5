// Conditions and orders by properties of nested values, which a column holds as an object.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

private struct Address: Codable, Hashable {
    struct Street: Codable, Hashable {
        var name: String
        var number: Int?
    }

    var city: String
    var zip: String?
    var street: Street
    var isMain = false

    var label: String { city + street.name }

    enum CodingKeys: String, CodingKey {
        case zip, street
        case city = "town"
        case isMain = "main"
    }
}

private struct Person: SyncModel {
    var id: String
    var name: String
    var address: Address
    var other: Address?
    var tags: [String] = []

    enum CodingKeys: String, CodingKey {
        case id, name, other, tags
        case address = "home"
    }
}

@Suite(.timeLimit(.minutes(10))) struct NestedMemberTests {
    private func people() async throws -> (table: SyncTable<Person>, all: [Person]) {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let table = try database.table(Person.self)
        let all = (0..<24).map { number in
            let address = Address(
                city: ["Bonn", "Ulm", "Jena"][number % 3], zip: number % 4 == 0 ? nil : "\(number % 5)",
                street: .init(name: "s\(number % 7)", number: number % 2 == 0 ? nil : number), isMain: number % 2 == 0)
            let person = Person(id: "p\(number + 10)", name: "n\(number)", address: address)
            return number % 3 == 0 ? person : Person(id: person.id, name: person.name, address: address, other: address)
        }
        try await table.insert(all)
        return (table, all)
    }

    /// Whether a query has the models that a condition in Swift has.
    private func check(
        _ query: SyncQuery<Person>, _ all: [Person], _ line: Int = #line, _ condition: (Person) -> Bool
    ) async throws {
        let expected = all.filter(condition).map(\.id)
        #expect(try await query.get().map(\.id) == expected && !expected.isEmpty, "line \(line)")
    }

    @Test func `a condition on a property of a nested value`() async throws {
        let (table, all) = try await people()
        try await check(table.where { $0.address.city == "Bonn" }, all) { $0.address.city == "Bonn" }
        try await check(table.where { $0.address.isMain && $0.address.city != "Ulm" }, all) {
            $0.address.isMain && $0.address.city != "Ulm"
        }
        try await check(table.where { $0.address.zip == nil }, all) { $0.address.zip == nil }
        try await check(table.where { $0.address.zip > "2" }, all) { $0.address.zip.map { $0 > "2" } ?? false }
        try await check(table.where { $0.address.street.number >= 5 }, all) { $0.address.street.number ?? 0 >= 5 }
        try await check(table.where { $0.address.street.name.hasSuffix("3") }, all) {
            $0.address.street.name.hasSuffix("3")
        }
        try await check(table.where { $0.other.city == "Jena" }, all) { $0.other?.city == "Jena" }
        #expect(
            try Filter<Person> { $0.address.street.name == "a" }.expression
                == FilterExpression(parsing: "home/street/name eq 'a'"))
    }

    @Test func `only stored properties of objects are members`() async throws {
        for condition in [
            Filter<Person> { $0.address.label == "x" }, Filter<Person> { $0.name.capitalized == "X" },
            Filter<Person> { $0.tags.first == "x" }, Filter<Person> { $0.name.lowercased().capitalized == "X" },
        ] {
            #expect(throws: SyncError.self) { try condition.expression }
        }
        let (table, _) = try await people()
        for query in [table.order(by: \.address.label), table.order(by: \.name.count)] {
            await #expect(throws: SyncError.self) { try await query.get() }
        }
    }

    @Test func `a column with a slash in its name decides an order`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.transaction { transaction in
            for (id, size) in [("a", 2), ("b", 3), ("c", 1)] {
                let item: Value = .object([
                    .init("id", .string(id)), .init("w/h", .integer(Int64(size))),
                    .init("w", .object([.init("h", .integer(Int64(-size)))])),
                ])
                try transaction.insert("t", item)
            }
        }
        var query = RowQuery(table: "t")
        query.order = [RowQuery.Key("w/h")]
        #expect(try await database.rows(of: "t").query(query).rows.map(\.id) == ["c", "a", "b"])
        try await database.close()
    }

    @Test func `an order by a property of a nested value, and pages of it`() async throws {
        let (table, all) = try await people()
        func expect(_ query: SyncQuery<Person>, _ precedes: (Person, Person) -> Bool, _ line: Int = #line) async throws
        {
            let expected = all.sorted { precedes($0, $1) || !precedes($1, $0) && $0.id < $1.id }.map(\.id)
            #expect(try await query.get().map(\.id) == expected, "line \(line)")
            #expect(try await query.limit(5).get().map(\.id) == Array(expected.prefix(5)), "line \(line)")
            let paged = query.limit(7)
            var (page, found) = (try await paged.page() as SyncQuery<Person>.Page?, [String]())
            while let shown = page {
                found += shown.models.map(\.id)
                page = try await paged.page(after: shown)
            }
            #expect(found == expected, "line \(line)")
        }
        try await expect(table.order(by: \.address.city)) { $0.address.city < $1.address.city }
        try await expect(table.order(by: \.address.city, .descending).order(by: \.address.street.name)) {
            ($1.address.city, $0.address.street.name) < ($0.address.city, $1.address.street.name)
        }
        try await expect(table.order(by: \.address.zip)) { $0.address.zip ?? "" < $1.address.zip ?? "" }
        try await expect(table.order(by: \.other?.city)) { $0.other?.city ?? "" < $1.other?.city ?? "" }
        try await expect(table.order(by: \.other?.street.number)) {
            $0.other?.street.number ?? -1 < $1.other?.street.number ?? -1
        }
        #expect(try await table.order(by: \.address.isMain).first()?.address.isMain == false)
    }

    @Test func `a live list by a nested property follows its changes`() async throws {
        let (table, _) = try await people()
        let query = table.where { $0.address.city == "Bonn" }.order(by: \.address.street.name, .descending).limit(3)
        var lists = try query.observe().makeAsyncIterator()
        #expect(try await lists.next()?.map(\.id) == query.get().map(\.id))
        try await table.update(id: "p10") { $0.address.street.name = "z" }
        #expect(try await lists.next()?.first?.id == "p10")
        try await table.update(id: "p10") { $0.address.city = "Ulm" }
        let last = try await lists.next()
        #expect(try await last?.map(\.id) == query.get().map(\.id) && last?.first?.id != "p10")
    }

    @Test func `a server gets the path of the nested property`() async throws {
        let server = SimulatedServer()
        for (id, city) in [("a", "Bonn"), ("b", "Ulm"), ("c", "Bonn")] {
            let home: Value = ["town": .string(city), "street": ["name": "s"], "main": false]
            server.upsert([.item(id, ["name": .string(id), "home": home, "tags": []])], in: "person")
        }
        var configuration = SyncConfiguration.test()
        configuration.transport = SimulatedNetwork(server)
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await database.table(Person.self).pull { $0.address.city == "Bonn" }
        #expect(try await database.table(Person.self).all().map(\.id) == ["a", "c"])
    }
}
