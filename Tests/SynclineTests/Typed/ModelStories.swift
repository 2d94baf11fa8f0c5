// Models as apps write them: enums, identifiers, money, nested types, ids with other names, and rows that a model
// can't decode.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import Testing

@testable import Syncline

private enum Severity: String, Codable {
    case minor, major
}

private enum Grade: Int, Codable, Sendable {
    case second = 2
    case third = 3
}

private enum Colour: String, Codable, CaseIterable, Sendable {
    case red, green
}

private struct Place: Codable, Equatable, Sendable {
    var street: String
    var number: Int
}

private struct Measures: Codable, Equatable, Sendable {
    var values: [String: Int]
}

private struct Finding: SyncModel {
    var id = UUID().uuidString
    var colour = Colour.red
    var photo = UUID()
    var price: Decimal = 0
    var link: URL?
    var page = URL(filePath: "/x")
    var thumbnail = Data([1, 2])
    var seen = Date(timeIntervalSince1970: 1)
    var place = Place(street: "Elm", number: 3)
    var places: [Place] = []
    var grade = Grade.third
    var severity = Severity.minor
    var text = ""
}

/// Columns from two types, after an enum whose cases can't be made up.
private struct Inspection: SyncModel {
    var id: String
    var severity: Severity
    var place: Place

    init(id: String, severity: Severity, place: Place) {
        (self.id, self.severity, self.place) = (id, severity, place)
    }

    private enum Keys: CodingKey {
        case id, severity
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        id = try container.decode(String.self, forKey: .id)
        severity = try container.decode(Severity.self, forKey: .severity)
        place = try Place(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(id, forKey: .id)
        try container.encode(severity, forKey: .severity)
        try place.encode(to: encoder)
    }
}

private struct Stamped: SyncModel {
    var id: String
    var text: String
    var createdAt = Date()
}

private struct Keyed: SyncModel {
    var id: String
    var text: String

    enum CodingKeys: String, CodingKey {
        case id = "uuid"
        case text
    }
}

@Suite struct ModelStories {
    private func database() async throws -> SyncDatabase {
        try await SyncDatabase.open(MemoryStorage(), .test())
    }

    @Test(arguments: [0, 1, 32, 33, 500])
    func `an object of any size decodes, and of two members with one name the last counts`(count: Int) throws {
        var members = (0..<count).map { Value.Member("k\($0)", .integer(Int64($0))) }
        if count > 1 { members.insert(.init("k\(count - 1)", .string("not this one")), at: 0) }
        let object = Value.object([.init("values", .object(members))])
        let expected = Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", $0) })
        #expect(try ValueDecoder.decode(Measures.self, from: object).values == expected)
        #expect(throws: SyncError.self) { try ValueDecoder.decode(Measures.self, from: .object(members)) }
    }

    @Test func `every property of a model is a column, whatever its type`() async throws {
        let findings = try await database().table(Finding.self)
        let item = Finding(price: Decimal(string: "19.99") ?? 0, severity: .major, text: "crack")
        let stored = try await findings.insert(item)
        #expect(stored.price == item.price && stored.photo == item.photo && stored.place == item.place)
        #expect(try await findings.where { $0.text == "crack" && $0.price > 19 }.get().map(\.id) == [item.id])
        #expect(try await findings.order(by: \.severity).order(by: \.text).get().count == 1)
        var live = try findings.where { $0.severity == Severity.major }.observe().makeAsyncIterator()
        #expect(try await live.next()?.count == 1)
        for column in ["colour", "photo", "price", "link", "page", "thumbnail", "seen", "place", "places", "grade"] {
            #expect(try await findings.where { $0.named(column, as: String.self) != nil }.count() <= 1)
        }
    }

    @Test func `columns that a model takes from another type are named`() async throws {
        let table = try await database().table(Inspection.self)
        try await table.insert(Inspection(id: "a", severity: .minor, place: Place(street: "Elm", number: 3)))
        #expect(try await table.where { $0.named("street") == "Elm" && $0.named("number") > 2 }.get().count == 1)
        #expect(try await table.where { $0.severity == .minor }.count() == 1)
        let error = await #expect(throws: SyncError.self) { try await table.where { $0.place != nil }.get() }
        #expect(error?.code == .unsupportedPredicate)
    }

    @Test func `a decimal keeps its digits or is refused`() async throws {
        struct Sum: SyncModel, Equatable {
            var id: String
            var amount: Decimal
        }
        let table = try await database().table(Sum.self)
        for text in ["0", "-7", "19.99", "0.1", "123456789.012345", "1e-7", "9007199254740993"] {
            let sum = Sum(id: "n\(text)", amount: try #require(Decimal(string: text)))
            #expect(try await table.insert(sum) == sum)
            #expect(try await table.where { $0.amount == sum.amount }.get() == [sum])
        }
        // More digits than a double has are kept, too.
        let third = Sum(id: "third", amount: Decimal(1) / 3)
        #expect(try await table.insert(third) == third)
        let error = await #expect(throws: SyncError.self) { try await table.insert(Sum(id: "x", amount: .nan)) }
        #expect(error?.code == .invalidItem && error?.message.hasPrefix("amount: ") == true)
    }

    @Test func `an insert whose row does not fit the model stores nothing`() async throws {
        let database = try await database()
        let table = try database.table(Stamped.self)
        let error = await #expect(throws: SyncError.self) { try await table.insert(Stamped(id: "a", text: "x")) }
        #expect(error?.code == .invalidItem && error?.address == "stamped/a")
        #expect(error?.message.contains("createdAt") == true)
        #expect(try await table.untyped.get(id: "a") == nil)
        #expect(try await database.pending().isEmpty)
        #expect(try await table.all().isEmpty)
    }

    @Test func `an update whose row does not fit the model stores nothing`() async throws {
        let database = try await database()
        let table = try database.table(Stamped.self)
        try await table.untyped.insert(["id": "a", "text": "x"])
        await #expect(throws: SyncError.self) { try await table.overwrite(Stamped(id: "a", text: "y")) }
        #expect(try await table.untyped.get(id: "a")?.columns["text"] == "x")
    }

    @Test func `a transaction with a row that does not fit its model is refused, even if it continues`() async throws {
        let database = try await database()
        let table = try database.table(Stamped.self)
        let error = await #expect(throws: SyncError.self) {
            try await database.transaction { transaction in
                try transaction.insert("other", ["id": "b"])
                _ = try? transaction.insert(Stamped(id: "a", text: "x"), in: table)
            }
        }
        #expect(error?.code == .invalidItem && error?.address == "stamped/a")
        #expect(try await table.untyped.count() == 0)
        #expect(try await database.pending().isEmpty)
    }

    @Test func `a transaction is limited to its table`() async throws {
        let database = try await database()
        let findings = try database.table(Finding.self, named: "inspectionresults")
        try await database.transaction { transaction in
            var finding = try transaction.insert(Finding(id: "a"), in: findings)
            finding.text = "crack"
            try transaction.overwrite(finding, in: findings)
            #expect(try transaction.get(id: "a", in: findings)?.text == "crack")
            try transaction.insert(Finding(id: "b"), in: findings)
            try transaction.delete(Finding(id: "b"), in: findings)
            try transaction.insert(Finding(id: "c"), in: findings)
            try transaction.delete(id: "c", in: findings)
        }
        #expect(try await database.tables() == ["inspectionresults"])
        #expect(try await findings.all().map(\.text) == ["crack"])
    }

    @Test func `an error about a row names it and the column`() async throws {
        let findings = try await database().table(Finding.self)
        try await findings.insert(Finding(id: "b"))
        try await findings.untyped.insert(["id": "c", "severity": "catastrophic"])
        try await findings.untyped.update(["id": "b", "severity": "catastrophic"])
        let error = await #expect(throws: SyncError.self) { try await findings.get(id: "b") }
        #expect(error?.address == "finding/b")
        #expect(error?.message.hasPrefix("severity: ") == true)
        let list = await #expect(throws: SyncError.self) { try await findings.all() }
        #expect(list?.address == "finding/b")
    }

    @Test func `a live list continues after a row that the model can't decode`() async throws {
        let findings = try await database().table(Finding.self)
        try await findings.insert(Finding(id: "a"))
        var live = try findings.observe().makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == ["a"])
        try await findings.untyped.update(["id": "a", "severity": "catastrophic"])
        let error = await #expect(throws: SyncError.self) { try await live.next() }
        #expect(error?.address == "finding/a")
        try await findings.untyped.update(["id": "a", "severity": "minor"])
        #expect(try await live.next()?.map(\.id) == ["a"], "the same list as before the error")
    }

    @Test func `errors as values do not end a live list, and an error is reported once`() async throws {
        let findings = try await database().table(Finding.self)
        var live = try findings.observe().outcomes.makeAsyncIterator()
        #expect(try await live.next()?.get().isEmpty == true)
        try await findings.untyped.insert(["id": "c", "severity": "catastrophic"])
        await #expect(throws: SyncError.self) { try await live.next()?.get() }
        try await findings.untyped.delete(id: "c")
        #expect(try await live.next()?.get().isEmpty == true)
    }

    @Test func `rows that can't be decoded are left out and reported if the app asks for that`() async throws {
        let reported = Mutex<[String?]>([])
        let findings = try await database().table(Finding.self)
            .skippingUndecodable { error in reported.withLock { $0.append(error.address) } }
        try await findings.insert(Finding(id: "a"))
        var live = try findings.observe().makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == ["a"])
        try await findings.untyped.insert(["id": "c", "severity": "catastrophic"])
        #expect(try await live.next()?.map(\.id) == ["a"])
        #expect(reported.withLock { $0 } == ["finding/c"])
        #expect(try await findings.where { $0.text == "" }.get().map(\.id) == ["a"])
        #expect(try await findings.all().map(\.id) == ["a"])
        #expect(try await findings.count() == 2)
        await #expect(throws: SyncError.self) { try await findings.get(id: "c") }
    }

    /// The same table, whose app has a case for values that it does not know.
    private struct TolerantFinding: SyncModel {
        enum Severity: String, Codable, Sendable {
            case minor, major, unknown

            init(from decoder: any Decoder) throws {
                self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
            }
        }
        static let table = "finding"
        var id: String
        var severity = Severity.minor
    }

    @Test func `the error for a case of a newer app names what helps, and it does`() async throws {
        let database = try await database()
        let findings = try database.table(Finding.self)
        try await findings.insert(Finding(id: "a"))
        try await findings.untyped.update(["id": "a", "severity": "catastrophic"])
        let unknown = await #expect(throws: SyncError.self) { try await findings.get(id: "a") }
        #expect(unknown?.message.contains("severity") == true)
        let hint = try #require(unknown?.hint)
        #expect(
            hint.contains("skippingUndecodable") && hint.contains("default") && !hint.contains("optional"), "\(hint)")
        #expect(try await findings.skippingUndecodable { _ in }.all().isEmpty)
        #expect(try await database.table(TolerantFinding.self).get(id: "a")?.severity == .unknown)
        // Where an optional property helps, the hint says so.
        try await findings.untyped.update(["id": "a", "severity": .null])
        let null = await #expect(throws: SyncError.self) { try await findings.get(id: "a") }
        #expect(null?.hint?.contains("optional") == true)
    }

    @Test func `a model's id is the row's, whatever its coding key`() async throws {
        let table = try await database().table(Keyed.self)
        #expect(try await table.insert(Keyed(id: "a", text: "x")).id == "a")
        #expect(try await table.untyped.get(id: "a") != nil)
        try await table.overwrite(Keyed(id: "a", text: "y"))
        #expect(try await table.get(id: "a")?.text == "y")
        try await table.delete(Keyed(id: "a", text: "y"))
        #expect(try await table.untyped.count() == 0)
    }
}
