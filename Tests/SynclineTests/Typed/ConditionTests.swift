// Conditions as an app writes them: every natural spelling compiles and means what it says. `tools/consumer` shows that
// nonsense does not compile.

import Foundation
import SegmentLog
import Testing

@testable import Syncline

private enum Colour: String, Codable, CaseIterable {
    case red, blue
}

private enum Severity: Int, Codable, Comparable {
    case minor = 1
    case major = 2

    static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
}

/// An enum whose raw values have another order than its cases.
private enum Size: String, Codable, CaseIterable, Comparable {
    case small, medium, large

    static func < (left: Size, right: Size) -> Bool { left.place < right.place }
    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The same, but its cases can't be listed.
private struct Mark: RawRepresentable, Codable, Comparable {
    var rawValue: String

    static func < (left: Mark, right: Mark) -> Bool { left.rawValue > right.rawValue }
}

private struct Part: SyncModel {
    static let table = "parts"

    var id: String
    var text = ""
    var done = false
    var isNew = false
    var colour = Colour.red
    var shade: Colour?
    var price = 0.0
    var cost = 0.0
    var weight: Float = 0
    var count = 0
    var amount: Decimal = 0
    var due: Date?
    var ref = UUID()
    var severity = Severity.minor
    var size = Size.small
    var mark = Mark(rawValue: "m")
    var note: String?
    var isKept: Bool?

    var isCheap: Bool { price < 3 }
}

@Suite struct ConditionTests {
    private static let day = Date(timeIntervalSince1970: 1_770_000_000)
    private static let ref = UUID()

    /// A table of four parts.
    private func parts() async throws -> SyncTable<Part> {
        let table = try await SyncDatabase.open(MemoryStorage(), .test()).table(Part.self)
        try await table.insert(
            Part(id: "a", text: "Milk", done: true, isNew: true, price: 7, cost: 5, weight: 0.1, count: 4, isKept: true)
        )
        try await table.insert(
            Part(
                id: "b", text: "bread", colour: .blue, shade: .blue, price: 2, cost: 5, count: 9, due: Self.day,
                size: .large))
        try await table.insert(
            Part(
                id: "c", text: "milk", done: true, price: 5, cost: 5, count: 5, severity: .major, size: .medium,
                note: "x"))
        try await table.insert(
            Part(id: "d", text: "salt", isNew: true, amount: Decimal(1999) / 100, ref: Self.ref, isKept: false))
        return table
    }

    private static let spellings: [(condition: Filter<Part>, ids: String)] = [
        (Filter { $0.done }, "ac"), (Filter { !$0.done }, "bd"), (Filter { $0.done && $0.isNew }, "a"),
        (Filter { $0.done || $0.isNew }, "acd"), (Filter { $0.isKept }, "a"), (Filter { !$0.isKept }, "d"),
        (Filter { $0.isKept == nil }, "bc"), (Filter { $0.colour == .red }, "acd"),
        (Filter { $0.colour == Colour.blue }, "b"), (Filter { $0.colour != .red }, "b"),
        (Filter { .red == $0.colour }, "acd"), (Filter { $0.shade == .blue }, "b"), (Filter { $0.shade == nil }, "acd"),
        (Filter { $0.shade != .red }, "abcd"), (Filter { $0.price >= $0.cost }, "acd"),
        (Filter { $0.price == $0.cost }, "cd"), (Filter { $0.price - $0.cost > 0 }, "a"),
        (Filter { 5 < $0.price }, "a"), (Filter { 5 <= $0.price && $0.price <= 5 }, "c"),
        (Filter { $0.price * 2 == $0.cost + 5 }, "c"), (Filter { -$0.price < -5 }, "a"),
        (Filter { $0.price / 2 > 3 }, "a"), (Filter { $0.count % 2 == 1 }, "bc"),
        (Filter { $0.due == nil }, "acd"), (Filter { $0.due != nil }, "b"), (Filter { $0.due == day }, "b"),
        (Filter { $0.due < .now && $0.due >= day }, "b"), (Filter { $0.due.year == 2026 }, "b"),
        (Filter { $0.ref == ref }, "d"), (Filter { $0.ref != ref }, "abc"),
        (Filter { $0.text == "milk" }, "c"), (Filter { $0.text.lowercased() == "milk" }, "ac"),
        (Filter { $0.text.uppercased() == "MILK" }, "ac"), (Filter { $0.text.contains("il") }, "ac"),
        (Filter { $0.text.hasPrefix("b") || $0.text.hasSuffix("t") }, "bd"), (Filter { $0.text.count == 5 }, "b"),
        (Filter { $0.note.hasPrefix("x") }, "c"), (Filter { $0.weight == 0.1 }, "a"), (Filter { $0.weight > 0 }, "a"),
        (Filter { $0.amount == Decimal(1999) / 100 }, "d"), (Filter { $0.severity >= .major }, "c"),
        (Filter { $0.size >= .medium }, "bc"), (Filter { .medium < $0.size }, "b"),
        (Filter { $0.size.isIn(.small ... .medium) }, "acd"), (Filter { $0.size < .small }, ""),
        (Filter { $0.text.isOne(of: []) }, ""), (Filter { !$0.text.isOne(of: []) }, "abcd"),
        (Filter { $0.count.isIn(4...5) }, "ac"), (Filter { $0.count.isIn(4..<5) }, "a"),
        (Filter { $0.count.isIn(5...) }, "bc"), (Filter { $0.count.isIn(..<5) }, "ad"),
        (Filter { $0.text.isOne(of: ["salt", "bread"]) }, "bd"), (Filter { $0.colour.isOne(of: [.blue]) }, "b"),
        (Filter { $0.id == "a" }, "a"), (Filter { $0.id > "b" }, "cd"),
        (Filter { $0.text == "Milk" && $0.done && $0.severity <= .minor && $0.due == nil }, "a"),
        (Filter { $0.named("count", as: Int.self) == 9 }, "b"),
    ]

    @Test func `every spelling of a condition means what it says`() async throws {
        let parts = try await parts()
        for (number, spelling) in Self.spellings.enumerated() {
            let found = try await parts.where(spelling.condition).get().map(\.id).joined()
            #expect(found == spelling.ids, "condition \(number)")
            #expect(try await parts.where(spelling.condition).count() == spelling.ids.count, "condition \(number)")
        }
    }

    @Test func `lists are ordered by properties, and the first of a list can be asked for`() async throws {
        let parts = try await parts()
        #expect(try await parts.order(by: \.text).get().map(\.id) == ["a", "b", "c", "d"])
        #expect(try await parts.order(by: \.done, .descending).order(by: \.price).first()?.id == "c")
        #expect(try await parts.where { $0.count > 3 }.order(by: \.count).offset(1).limit(1).get().map(\.id) == ["c"])
        #expect(try await parts.order(by: \.due, .descending).first()?.id == "b")
        #expect(try await parts.where { $0.count > 100 }.first() == nil)
        #expect(try await parts.order(byColumn: "count", .descending).first()?.id == "b")
    }

    @Test func `a filter is a value that can be kept, combined and handed on`() async throws {
        let parts = try await parts()
        let open = Filter<Part> { !$0.done }
        let dear = Filter<Part> { $0.cost > 3 }
        #expect(try await parts.where(open && dear).get().map(\.id) == ["b"])
        #expect(try await parts.where { open || $0.price > 6 }.get().map(\.id) == ["a", "b", "d"])
        #expect(try open.expression == .not(.column("done")))
    }

    @Test func `an array's elements are tested, live, and no server is asked about them`() async throws {
        struct Label: SyncModel {
            var id: String
            var tags: [String] = []
            var refs: [UUID] = []
            var days: [CalendarDay]?
            var sizes: [Size] = []
        }
        let labels = try await SyncDatabase.open(MemoryStorage(), .test()).table(Label.self)
        let (ref, day) = (UUID(), try #require(CalendarDay("2026-05-19")))
        try await labels.insert([
            Label(id: "a", tags: ["red", "blue"], refs: [ref], days: [day]),
            Label(id: "b", tags: ["Red"], sizes: [.large]), Label(id: "c"),
        ])
        try await labels.untyped.insert([
            "id": "d", "tags": ["red"], "refs": .array([.string(ref.uuidString.lowercased())]), "sizes": [],
        ])
        let tests: [(Filter<Label>, String)] = [
            (Filter { $0.tags.contains("red") }, "ad"), (Filter { !$0.tags.contains("red") }, "bc"),
            (Filter { $0.refs.contains(ref) }, "ad"), (Filter { $0.sizes.contains(.large) }, "b"),
            (Filter { $0.days.contains(day) }, "a"), (Filter { $0.tags.contains("") }, ""),
        ]
        for (number, (condition, ids)) in tests.enumerated() {
            #expect(try await labels.where(condition).get().map(\.id).joined() == ids, "condition \(number)")
        }
        var live = try labels.where { $0.tags.contains("red") }.observe().makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == ["a", "d"])
        try await labels.update(id: "c") { $0.tags.append("red") }
        #expect(try await live.next()?.map(\.id) == ["a", "c", "d"])
        let condition = try tests[0].0.expression
        for dialect in ServerProtocol.allCases {
            #expect(throws: UnsupportedPredicate.self) { try condition.text(for: dialect) }
        }
    }

    @Test func `what can't be compared is an error that says what to do`() async throws {
        let parts = try await parts()
        let infinite = await #expect(throws: SyncError.self) { try await parts.where { $0.price < .infinity }.get() }
        #expect(infinite?.code == .invalidItem)
        let computed = await #expect(throws: SyncError.self) { try await parts.where { $0.isCheap }.get() }
        #expect(computed?.code == .unsupportedPredicate)
        let sorted = await #expect(throws: SyncError.self) { try await parts.order(by: \.isCheap).get() }
        #expect(sorted?.code == .unsupportedPredicate)
        #expect(throws: SyncError.self) { try parts.where { $0.isCheap }.observe() }
        let mark = Mark(rawValue: "x")
        #expect(try await parts.where { $0.mark != mark }.count() == 4)
        let unsorted = await #expect(throws: SyncError.self) { try await parts.where { $0.mark < mark }.get() }
        #expect(unsorted?.code == .unsupportedPredicate)
    }
}
