// Money from one device to another through the server: amounts of up to 20 digits, and their sum, are the same to the last
// digit, whether the operator has declared the column or not.

import Foundation
import Syncline
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

private struct Entry: SyncModel, Equatable {
    static let table = "entry"
    var id: String
    var amount: Decimal
    var spent: Date
    var owner: UUID
}

@Suite struct MoneyClientTests {
    private static let definitions = [
        "{}", #"{"columns":{"amount":"decimal","spent":"date","owner":"uuid"}}"#,
        #"{"columns":{"amount":"decimal(string)"}}"#,
    ]

    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `amounts of twenty digits survive a server, and so does their sum`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        var chance = Chance(seed: 7)
        for definition in Self.definitions {
            let desk = try ClientDesk(backend, protocolVersion, tables: "{\"entry\":\(definition)}")
            var entries: [Entry] = []
            for place in 0..<60 {
                let digits = (0...chance.below(17)).map { _ in "\(chance.below(10))" }.joined()
                let text = (chance.once(in: 2) ? "-" : "") + digits + ".\(10 + chance.below(90))"
                entries.append(
                    Entry(
                        id: "e\(place)", amount: try #require(Decimal(string: text)),
                        spent: Date(timeIntervalSince1970: Double(chance.below(1 << 30)) + 0.125),
                        owner: UUID(uuidString: Spellings.uuid(&chance)) ?? UUID()))
            }
            entries.append(
                Entry(
                    id: "last", amount: try #require(Decimal(string: "12345678901234567890.12")),
                    spent: Date(timeIntervalSince1970: 0), owner: UUID()))
            let (one, other) = (try await desk.store("one"), try await desk.store("other"))
            let written = try one.table(Entry.self)
            for entry in entries { try await written.insert(entry) }
            let push = try await one.pushOnce()
            #expect(push.operations.allSatisfy { $0.rounded.isEmpty } && push.reason == nil, "\(definition)")
            #expect(try await other.pullAll("entry").reason == nil)
            let read = try other.table(Entry.self)
            let total = entries.reduce(Decimal(0)) { $0 + $1.amount }
            #expect(try await read.compute(.sum(\.amount)) == total, "\(definition)")
            #expect(try await read.order(by: \.id).get() == entries.sorted { $0.id < $1.id }, "\(definition)")
            // And back, after a change of another column.
            try await read.update(id: "last") { $0.spent = Date(timeIntervalSince1970: 60) }
            #expect(try await other.pushOnce().reason == nil)
            #expect(try await one.pullAll("entry").reason == nil)
            let last = try #require(try await written.get(id: "last"))
            #expect(last.amount == Decimal(string: "12345678901234567890.12"), "\(definition)")
            #expect(last.spent == Date(timeIntervalSince1970: 60), "\(definition)")
            try await one.close()
            try await other.close()
        }
    }
}
