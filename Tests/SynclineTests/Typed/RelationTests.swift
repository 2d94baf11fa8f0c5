// Relations between models, followed in both directions for a whole page at once.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

private struct ZoneID: RawRepresentable, RowIdentifier {
    var rawValue: UUID
}

private struct Zone: SyncModel {
    var id: ZoneID
    var name: String
}

private struct Site: SyncModel {
    static let zone = Relation(\Site.zoneID, to: Zone.self)

    var id: UUID
    var name: String
    var zoneID: ZoneID?
}

private struct Inspector: SyncModel {
    var id: Int
    var name: String
}

private struct Finding: SyncModel {
    static let site = Relation(\Finding.siteID, to: Site.self)
    static let cause = Relation(\Finding.causeID, to: Finding.self)
    static let inspector = Relation(\Finding.inspector, to: Inspector.self)

    var id: String
    var text: String
    var siteID: UUID?
    var causeID: String = ""
    var inspector: Int?
}

@Suite(.timeLimit(.minutes(10))) struct RelationTests {
    private static let sites = ["Mill", "Pier"].map { Site(id: UUID(), name: $0) }

    private func database() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        for site in Self.sites { try await database.table(Site.self).insert(site) }
        let findings = try database.table(Finding.self)
        try await findings.insert(Finding(id: "a", text: "crack", siteID: Self.sites[0].id))
        try await findings.insert(Finding(id: "b", text: "rust", siteID: Self.sites[1].id, causeID: "a"))
        try await findings.insert(Finding(id: "c", text: "dust", siteID: Self.sites[0].id))
        try await findings.insert(Finding(id: "d", text: "moss"))
        return database
    }

    // MARK: Orders

    @Test func `an order by what the referenced models have, in pages, live and past`() async throws {
        let database = try await database()
        let (findings, sites) = (try database.table(Finding.self), try database.table(Site.self))
        let query = findings.order(by: Finding.site, \.name, .descending)
        #expect(try await query.get().map(\.id) == ["b", "a", "c", "d"])
        #expect(
            try await findings.order(by: Finding.site, \.name).order(by: \.id, .descending).get().map(\.id)
                == ["d", "c", "a", "b"])
        var (page, found) = (try await query.limit(1).page() as SyncQuery<Finding>.Page?, [String]())
        while let shown = page {
            found += shown.models.map(\.id)
            page = try await query.limit(1).page(after: shown)
        }
        #expect(found == ["b", "a", "c", "d"])
        // An index on the reference does not have this order, also if a condition makes it the one to use.
        try await findings.declareIndex(\.siteID)
        #expect(try await query.limit(2).get().map(\.id) == ["b", "a"])

        let before = database.lastEvent
        var lists = try query.limit(2).observe().makeAsyncIterator()
        #expect(try await lists.next()?.map(\.id) == ["b", "a"])
        // A row of both lists changes in the same transaction, so there is one list, also if the order were wrong.
        try await database.transaction { transaction in
            _ = try transaction.update(id: Self.sites[0].id, in: sites) { $0.name = "Zoo" }
            _ = try transaction.update(id: "a", in: findings) { $0.text = "gap" }
        }
        try #require(try await lists.next()?.map(\.id) == ["a", "c"])
        try await findings.update(id: "d") { $0.siteID = Self.sites[0].id }
        try await findings.delete(id: "c")
        #expect(try await lists.next()?.map(\.id) == ["a", "d"])
        #expect(
            try await database.history(at: before).table(Finding.self).order(by: Finding.site, \.name).get().count == 4)
    }

    @Test func `a reference may be a number or in another case, and of several sort keys`() async throws {
        let database = try await database()
        let findings = try database.table(Finding.self)
        for (id, name) in [(1, "Zoe"), (12, "Abel")] {
            try await database.table(Inspector.self).insert(Inspector(id: id, name: name))
        }
        try await findings.update(id: "a") { $0.inspector = 1 }
        try await findings.update(id: "b") { $0.inspector = 12 }
        try await findings.update(id: "c") { $0.inspector = 7 }
        #expect(
            try await findings.order(by: Finding.inspector, \.name, .descending).get().map(\.id) == [
                "a", "b", "c", "d",
            ])
        try await database.rows(of: "finding").update(
            ["id": "d", "siteID": .string(Self.sites[1].id.uuidString.lowercased())])
        let query = findings.order(by: Finding.site, \.name).order(by: Finding.inspector, \.name)
        #expect(try await query.get().map(\.id) == ["c", "a", "d", "b"])
        let online = try Backend(url: "http://127.0.0.1:1").table(Finding.self)
        await #expect(throws: SyncError.self) { try await online.order(by: Finding.site, \.name).get() }
    }

    // MARK: Asked once

    @Test func `each model comes with the one it refers to`() async throws {
        let findings = try await database().table(Finding.self)
        let found = try await findings.with(Finding.site).get()
        #expect(found.map(\.model.id) == ["a", "b", "c", "d"])
        #expect(found.map(\.related?.name) == ["Mill", "Pier", "Mill", nil])
        let page = try await findings.order(by: \.text, .descending).limit(2).with(Finding.cause).get()
        #expect(page.map(\.model.text) == ["rust", "moss"] && page.map(\.related?.text) == ["crack", nil])
    }

    @Test func `each model comes with all that refer to it`() async throws {
        let database = try await database()
        let (sites, findings) = try (database.table(Site.self), database.table(Finding.self))
        // A server may spell the same UUID in lower case.
        try await findings.untyped.update(["id": "c", "siteID": .string(Self.sites[0].id.uuidString.lowercased())])
        let found = try await sites.order(by: \.name).with(all: Finding.site, from: findings.order(by: \.text)).get()
        #expect(found.map(\.model.name) == ["Mill", "Pier"])
        #expect(found.map { $0.related.map(\.text) } == [["crack", "dust"], ["rust"]])
        let some = findings.where { $0.text != "rust" }.limit(1)
        let rest = try await sites.where { $0.name == "Pier" }.with(all: Finding.site, from: some).get()
        #expect(rest.map(\.related.count) == [0])
        let last = findings.order(by: \.text, .descending).limit(2)
        let newest = try await sites.order(by: \.name).with(all: Finding.site, from: last.offset(1).limit(2)).get()
        #expect(newest.map { $0.related.map(\.text) } == [["dust"], []], "the window is that of the query")
        #expect(
            try await findings.with(Finding.site, from: sites.order(by: \.name).limit(1)).get().compactMap(
                \.related?.name) == ["Mill", "Mill"])
        let first = try await sites.order(by: \.name).with(all: Finding.site, from: findings.order(by: \.text), each: 1)
            .get()
        #expect(first.map { $0.related.map(\.text) } == [["crack"], ["rust"]])
        #expect(try await sites.where { $0.name == "none" }.with(all: Finding.site).get().isEmpty)
    }

    @Test func `pages together are the list, each with what is related to it`() async throws {
        let findings = try await database().table(Finding.self)
        let list = findings.order(by: \.text, .descending)
        for size in [1, 2, 3, 4, 9] {
            let query = list.limit(size).with(Finding.site)
            var (found, sizes): ([String], [Int]) = ([], [])
            var page: RelatedQuery<Finding, Site?>.Page? = try await query.page()
            while let current = page {
                found += current.elements.map { "\($0.model.text) \($0.related?.name ?? "")" }
                sizes.append(current.elements.count)
                page = try await query.page(after: current)
            }
            #expect(found == ["rust Pier", "moss ", "dust Mill", "crack Mill"], "\(size)")
            #expect(sizes.dropLast().allSatisfy { $0 == size } && sizes.last != 0, "\(size)")
        }
        let rest = try await list.offset(1).limit(2).with(Finding.site).page()
        #expect(rest.elements.map(\.model.text) == ["moss", "dust"])
        let none = findings.where { $0.text == "none" }.with(Finding.site)
        let empty = try await none.page()
        let next = try await none.page(after: empty)
        #expect(empty.elements.isEmpty && next == nil)
    }

    @Test func `a reference may name a row that is not there`() async throws {
        let findings = try await database().table(Finding.self)
        try await findings.update(id: "a") { $0.siteID = UUID() }
        #expect(try await findings.with(Finding.site).get().map(\.related?.name) == [nil, "Pier", "Mill", nil])
        let elsewhere = try findings.untyped.database.table(Site.self).where { $0.name == "Mill" }
        let found = try await findings.with(Finding.site, from: elsewhere).get()
        #expect(found.map(\.related?.name) == [nil, nil, "Mill", nil])
    }

    @Test func `ids of every type are followed in both directions`() async throws {
        let database = try await database()
        let (zones, sites) = try (database.table(Zone.self), database.table(Site.self))
        let (inspectors, findings) = try (database.table(Inspector.self), database.table(Finding.self))
        let zone = try await zones.insert(Zone(id: ZoneID(rawValue: UUID()), name: "North"))
        try await sites.update(id: Self.sites[0].id) { $0.zoneID = zone.id }
        try await sites.untyped.update([
            "id": .string(Self.sites[1].id.uuidString), "zoneID": .string(zone.id.rawValue.uuidString.lowercased()),
        ])
        #expect(try await sites.with(Site.zone).get().map(\.related?.name) == ["North", "North"])
        #expect(try await zones.with(all: Site.zone).get().map(\.related.count) == [2])
        try await inspectors.insert(Inspector(id: 7, name: "Ann"))
        try await findings.update(id: "b") { $0.inspector = 7 }
        #expect(try await findings.with(Finding.inspector).get().map(\.related?.name) == [nil, "Ann", nil, nil])
        #expect(try await inspectors.with(all: Finding.inspector).get().map { $0.related.map(\.id) } == [["b"]])
    }

    @Test func `two rows may have one UUID in both cases`() async throws {
        let database = try await database()
        let (sites, findings) = try (database.table(Site.self), database.table(Finding.self))
        let lower = Self.sites[0].id.uuidString.lowercased()
        try await sites.untyped.insert(["id": .string(lower), "name": "Moor"])
        for (direction, name) in [(SortDirection.ascending, "Mill"), (.descending, "Moor")] {
            let found = try await findings.with(Finding.site, from: sites.order(by: \.name, direction)).get()
            #expect(found.map(\.related?.name) == [name, "Pier", name, nil])
        }
        let found = try await sites.order(by: \.name).with(all: Finding.site).get()
        #expect(found.map { $0.related.map(\.id) } == [["a", "c"], ["a", "c"], ["b"]])
    }

    @Test func `ids that differ only in their Unicode form are different ids`() async throws {
        let findings = try await database().table(Finding.self)
        for (id, cause) in [("caf\u{e9}", ""), ("cafe\u{301}", ""), ("x", "caf\u{e9}"), ("y", "cafe\u{301}")] {
            try await findings.insert(Finding(id: id, text: "", causeID: cause))
        }
        let causes = try await findings.where { $0.id.isOne(of: ["x", "y"]) }.with(Finding.cause).get()
        #expect(causes.map { $0.related.map { Array($0.id.unicodeScalars) }?.count } == [4, 5])
        let effects = try await findings.where { $0.id.hasPrefix("caf") }.with(all: Finding.cause).get()
        #expect(effects.map { $0.related.map(\.id) } == [["y"], ["x"]])
    }

    // MARK: Errors

    @Test func `a row that its model can't decode is an error, or is left out`() async throws {
        let database = try await database()
        let findings = try database.table(Finding.self)
        try await database.pull(text: 5, id: "e", of: "finding")
        let error = await #expect(throws: SyncError.self) { _ = try await findings.with(Finding.site).get() }
        #expect(error?.address == "finding/e")
        let some = findings.skippingUndecodable { #expect($0.address == "finding/e") }
        // The row that is left out comes first.
        let list = some.order(by: \.text)
        #expect(try await list.with(Finding.site).get().map(\.related?.name) == ["Mill", "Mill", nil, "Pier"])
        let sites = try database.table(Site.self)
        try await findings.untyped.update(["id": "e", "siteID": .string(Self.sites[0].id.uuidString)])
        await #expect(throws: SyncError.self) { _ = try await sites.with(all: Finding.site).get() }
        #expect(try await sites.with(all: Finding.site, from: some.query).get().map(\.related.count).max() == 2)
        try await sites.untyped.insert(["id": .string(UUID().uuidString)])
        let named = sites.skippingUndecodable { _ in }.order(by: \.name)
        #expect(
            try await list.with(Finding.site, from: named).get().map(\.related?.name) == ["Mill", "Mill", nil, "Pier"])
        #expect(
            try await named.with(all: Finding.site, from: list).get().map { $0.related.map(\.id) } == [
                ["a", "c"], ["b"],
            ])
    }

    @Test func `models of another store, or of a table that is not declared, are an error`() async throws {
        let (database, other) = (try await database(), try await database())
        let query = try database.table(Finding.self).with(Finding.site, from: other.table(Site.self).query)
        let error = await #expect(throws: SyncError.self) { _ = try await query.get() }
        #expect(error?.code == .invalidQuery)
        var live = try query.observe().makeAsyncIterator()
        await #expect(throws: SyncError.self) { _ = try await live.next() }
        var configuration = SyncConfiguration.test()
        configuration.schema = SyncSchema(version: 1, tables: [TableSchema("finding")], isStrict: true)
        let strict = try await SyncDatabase.open(MemoryStorage(), configuration)
        let unknown = await #expect(throws: SyncError.self) {
            _ = try await strict.table(Finding.self).with(Finding.site).get()
        }
        #expect(unknown?.code == .unknownTable)
    }

    // MARK: Live

    private typealias Pages = LiveResults<[(model: Site, related: [Finding])], SyncError>

    /// Returns the next page as text.
    private func next(_ pages: inout Pages.Iterator) async throws -> [String]? {
        try await pages.next()?.map { "\($0.model.name): \($0.related.map(\.text).joined(separator: ", "))" }
    }

    @Test func `a live page follows both tables`() async throws {
        let database = try await database()
        let (sites, findings) = try (database.table(Site.self), database.table(Finding.self))
        var live = try sites.order(by: \.name).limit(1).with(all: Finding.site).observe().makeAsyncIterator()
        #expect(try await next(&live) == ["Mill: crack, dust"])
        try await findings.update(id: "a") { $0.text = "gap" }
        #expect(try await next(&live) == ["Mill: gap, dust"])
        // Nothing of the page changes.
        try await findings.update(id: "b") { $0.text = "rot" }
        try await sites.update(id: Self.sites[1].id) { $0.name = "Port" }
        try await database.transaction { transaction in
            try transaction.update(id: Self.sites[0].id, in: sites) { $0.name = "Tower" }
            try transaction.update(id: "d", in: findings) { $0.siteID = Self.sites[0].id }
        }
        #expect(try await next(&live) == ["Port: rot"])
        // Now another site is followed, and the first one is not.
        try await findings.delete(id: "c")
        try await findings.delete(id: "b")
        #expect(try await next(&live) == ["Port: "])
        try await sites.delete(id: Self.sites[1].id)
        #expect(try await next(&live) == ["Tower: gap, moss"])
        try await database.close()
        #expect(try await live.next() == nil)
    }

    @Test func `a live page without references is no longer observed`() async throws {
        let database = try await database()
        let observers = database.writer.observers
        for try await _ in try database.table(Site.self).with(all: Finding.site).observe() {
            #expect(observers.followsRows)
            break
        }
        #expect(!observers.followsRows)
    }

    @Test func `a live page continues after an error`() async throws {
        let database = try await database()
        let findings = try database.table(Finding.self)
        let outcomes = try findings.with(Finding.site).observe().outcomes
        var live = outcomes.makeAsyncIterator()
        #expect(try await #require(live.next()).get().count == 4)
        try await database.pull(text: 5, id: "e", of: "finding")
        let error = await #expect(throws: SyncError.self) { _ = try await #require(live.next()).get() }
        #expect(error?.address == "finding/e")
        try await findings.untyped.update(["id": "e", "text": "leak", "siteID": .string(Self.sites[1].id.uuidString)])
        #expect(try await #require(live.next()).get().last?.related?.name == "Pier")
    }

    private static let seeds = Seeds.some(10)

    @Test(arguments: seeds)
    func `a live page is the page asked for again after every commit`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let database = try await database()
        let (sites, findings) = try (database.table(Site.self), database.table(Finding.self))
        let (own, each) = (sites.order(by: \.name).limit(1 + chance.below(2)), chance.below(4))
        let source = findings.order(by: \.text, .descending)
        let query = own.with(all: Finding.site, from: source, each: each > 0 ? each : nil)
        func text(_ page: [(model: Site, related: [Finding])]) -> [String] {
            page.map { "\($0.model.name) \($0.related.map { $0.id + $0.text })" }
        }
        var live = try query.observe().makeAsyncIterator()
        var shown = text(try #require(try await live.next()))
        for step in 0..<40 {
            let (id, site) = ("\(chance.below(6))", chance.pick(Self.sites))
            try await database.transaction { transaction in
                if step % 2 == 0 { try transaction.overwrite(Site(id: site.id, name: id), in: sites) }
                let finding = Finding(id: id, text: "\(step / 4)", siteID: site.id)
                if try transaction.get(id: id, in: findings) == nil {
                    try transaction.insert(finding, in: findings)
                } else if step % 3 > 0 {
                    try transaction.overwrite(finding, in: findings)
                } else {
                    try transaction.delete(id: id, in: findings)
                }
            }
            let all = try await source.get()
            let expected = text(
                try await own.get().map { site in
                    let related = all.filter { $0.siteID == site.id }
                    return (site, each > 0 ? Array(related.prefix(each)) : related)
                })
            try #require(text(try await query.get()) == expected, "seed \(seed), step \(step)")
            // A change of what the limit hides may have been told before.
            while shown != expected { shown = text(try #require(try await live.next())) }
        }
    }

    // MARK: Several relations

    /// The same with a zone for the first site, and inspectors.
    private func wide() async throws -> SyncDatabase {
        let database = try await database()
        let zone = Zone(id: ZoneID(rawValue: UUID()), name: "North")
        try await database.table(Zone.self).insert(zone)
        try await database.table(Site.self).update(id: Self.sites[0].id) { $0.zoneID = zone.id }
        try await database.table(Inspector.self).insert(Inspector(id: 7, name: "Ann"))
        try await database.table(Finding.self).update(id: "b") { $0.inspector = 7 }
        return database
    }

    @Test func `each model comes with what several relations find`() async throws {
        let database = try await wide()
        let (findings, sites) = try (database.table(Finding.self), database.table(Site.self))
        let query = findings.with(Finding.site).with(Finding.inspector).with(all: Finding.cause)
        let found = try await query.get().map { finding, related in
            let ((site, inspector), effects) = related
            return "\(finding.id) \(site?.name ?? "-") \(inspector?.name ?? "-") \(effects.map(\.id))"
        }
        #expect(found == ["a Mill - [\"b\"]", "b Pier Ann []", "c Mill - []", "d - - []"])
        let page = try await sites.order(by: \.name).with(Site.zone).with(all: Finding.site, each: 1).page()
        #expect(
            page.elements.map { "\($0.related.0?.name ?? "-") \($0.related.1.map(\.id))" } == [
                "North [\"a\"]", "- [\"b\"]",
            ])
    }

    @Test func `relations are followed from what a relation finds`() async throws {
        let database = try await wide()
        let (findings, sites, zones) = try (
            database.table(Finding.self), database.table(Site.self), database.table(Zone.self)
        )
        let up = try await findings.with(Finding.site, from: sites.with(Site.zone)).get()
        #expect(up.map { $0.related?.model.name } == ["Mill", "Pier", "Mill", nil])
        #expect(up.map { $0.related?.related?.name } == ["North", nil, "North", nil])
        let down = try await zones.with(
            all: Site.zone, from: sites.with(all: Finding.site, from: findings.order(by: \.text), each: 1)
        ).get()
        #expect(down.map { $0.related.map { $0.related.map(\.text) } } == [[["crack"]]])
        let both = findings.with(Finding.inspector).with(Finding.site, from: sites.with(Site.zone))
        #expect(try await both.get().map { $0.related.1?.related?.name } == ["North", nil, "North", nil])
        let far = try await findings.with(Finding.cause, from: findings.with(Finding.site, from: sites.with(Site.zone)))
            .get()
        #expect(far.map { $0.related?.related?.related?.name } == [nil, "North", nil, nil])
    }

    // MARK: Conditions

    @Test func `a condition asks related models, in both directions and from there on`() async throws {
        let database = try await wide()
        let (findings, sites, zones) = try (
            database.table(Finding.self), database.table(Site.self), database.table(Zone.self)
        )
        #expect(
            try await findings.where { $0.related(Finding.site) { $0.name == "Mill" } }.get().map(\.id) == ["a", "c"])
        let northern = Filter<Finding> { $0.related(Finding.site) { $0.related(Site.zone) { $0.name == "North" } } }
        #expect(try await findings.where(northern).order(by: \.text, .descending).get().map(\.id) == ["c", "a"])
        let others = findings.where { !northern && $0.siteID != nil || $0.text == "dust" }
        #expect(try await others.get().map(\.id) == ["b", "c"])
        #expect(
            try await sites.where { $0.related(any: Finding.site) { $0.text == "rust" } }.get().map(\.name) == ["Pier"])
        #expect(try await sites.where { $0.related(any: Finding.site) { $0.text == "moss" } }.get().isEmpty)
        #expect(try await zones.where { $0.related(any: Site.zone) { $0.name == "Mill" } }.count() == 1)
        #expect(
            try await findings.where { $0.related(Finding.inspector) { $0.name == "Ann" } }.get().map(\.id) == ["b"])
        let inspectors = try database.table(Inspector.self)
        #expect(
            try await inspectors.where { $0.related(any: Finding.inspector) { $0.id == "b" } }.get().map(\.id) == [7])
        #expect(try await findings.where(northern).with(Finding.site).get().map(\.related?.name) == ["Mill", "Mill"])
        #expect(try await findings.where(northern).update { $0.text += "!" } == 2)
        #expect(try await findings.where(northern).get().map(\.text) == ["crack!", "dust!"])
        #expect(try await database.present.table(Finding.self).where(northern).get().count == 2)
    }

    @Test func `no server is asked for related models`() async throws {
        let pair = try await SyncPair()
        let filter = try Filter<Finding> { $0.related(Finding.site) { $0.name == "Mill" } }.expression
        let requests = pair.network.requestCount
        let error = await #expect(throws: SyncError.self) { try await pair.pull { $0.filter = filter } }
        #expect(error?.code == .unsupportedPredicate && pair.network.requestCount == requests)
        #expect(error?.message.contains("related rows of site") == true)
    }

    @Test(arguments: seeds)
    func `live conditions and chains are what is asked for again after every commit`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let database = try await wide()
        let (sites, findings, zones) = try (
            database.table(Site.self), database.table(Finding.self), database.table(Zone.self)
        )
        let zone = try #require(try await zones.limit(1).get().first)
        let northern = Filter<Finding> {
            $0.related(Finding.site) { $0.related(Site.zone) { $0.name == "North" } && $0.name != "x" }
        }
        let query = findings.where(northern).order(by: \.text)
            .with(Finding.site, from: sites.with(Site.zone)).with(all: Finding.cause)
        func text(_ page: [(model: Finding, related: (RelatedQuery<Site, Zone?>.Element?, [Finding]))]) -> [String] {
            page.map { model, related in
                let (site, effects) = related
                let name = "\(site?.model.name ?? "-") \(site?.related?.name ?? "-")"
                return "\(model.id) \(model.text) \(name) \(effects.map(\.text))"
            }
        }
        var live = try query.observe().makeAsyncIterator()
        var counts = try findings.where(northern).observe(computing: .count).makeAsyncIterator()
        var shown = text(try #require(try await live.next()))
        var count = try #require(try await counts.next())
        for step in 0..<40 {
            let (id, site) = ("\(chance.below(6))", chance.pick(Self.sites))
            let (zoneName, siteName) = (chance.pick(["North", "South"]), chance.pick(["x", "y", "z"]))
            let (zoneID, cause) = (chance.once(in: 3) ? nil : zone.id, chance.pick(["a", "1", "2", "3"]))
            try await database.transaction { transaction in
                if step % 5 == 0 { try transaction.overwrite(Zone(id: zone.id, name: zoneName), in: zones) }
                if step % 2 == 0 {
                    try transaction.overwrite(Site(id: site.id, name: siteName, zoneID: zoneID), in: sites)
                }
                let finding = Finding(id: id, text: "\(step / 4)", siteID: site.id, causeID: cause)
                if try transaction.get(id: id, in: findings) == nil {
                    try transaction.insert(finding, in: findings)
                } else if step % 3 > 0 {
                    try transaction.overwrite(finding, in: findings)
                } else {
                    try transaction.delete(id: id, in: findings)
                }
            }
            let expected = text(try await query.get())
            while shown != expected { shown = text(try #require(try await live.next())) }
            #expect(shown == expected, "seed \(seed), step \(step)")
            let expectedCount = try await findings.where(northern).count()
            while count != expectedCount { count = try #require(try await counts.next()) }
            #expect(count == expectedCount)
        }
    }
}
