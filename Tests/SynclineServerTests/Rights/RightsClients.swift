// Clients of three kinds that keep a copy of what a user may see. Each is interrupted between pages, and continues later.

import SynclineCore
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

struct RightsClient {
    enum Kind: CaseIterable {
        /// By the server's cursor.
        case feed
        /// By time: later than the newest time that was read completely; the next page is the server's link.
        case later
        /// By time, from the newest millisecond on; a page within one millisecond is continued by id.
        case windows
    }

    let kind: Kind
    let user: String
    let table: String
    /// The largest `n` that is wanted; nil for all rows.
    let most: Int?
    /// The rows, as text.
    private(set) var rows: [String: String] = [:]
    private(set) var answers = 0

    private var cursor = ""
    private var next: String?
    private var newest = "2000-01-01T00:00:00.000Z"
    private var reached = "2000-01-01T00:00:00.000Z"
    private var drained: String?

    init(_ kind: Kind, _ user: String, _ table: String, most: Int?) {
        (self.kind, self.user, self.table, self.most) = (kind, user, table, most)
    }

    private var own: [String] { most.map { ["n le \($0)"] } ?? [] }

    private func target(_ size: Int) -> String {
        switch kind {
        case .feed:
            let filter = own.isEmpty ? "" : "&$filter=\(own[0].encoded)"
            return "/tables/\(table)/changes?since=\(cursor.encoded)&$top=\(size)\(filter)"
        case .later:
            if let next { return "/tables/\(table)?\(next)" }
            let filter = (own + ["updatedAt gt datetimeoffset'\(newest)'"]).joined(separator: " and ")
            return "/tables/\(table)?$filter=\(filter.encoded)&$orderby=updatedAt&__includeDeleted=true"
        case .windows:
            var parts = own + ["updatedAt ge datetimeoffset'\(newest)'"]
            var order = "updatedAt,id"
            if let drained {
                parts += ["updatedAt lt datetimeoffset'\(RightsClient.after(newest))'", "id gt '\(drained)'"]
                order = "id"
            }
            let filter = parts.joined(separator: " and ")
            return "/tables/\(table)?$filter=\(filter.encoded)&$orderby=\(order)&$top=\(size)&__includeDeleted=true"
        }
    }

    private static func after(_ time: String) -> String {
        Timestamp.text(milliseconds: (Timestamp(time)?.instant.milliseconds ?? 0) + 1)
    }

    /// Reads a page; returns whether everything has been read.
    mutating func read(_ world: inout RightsWorld) throws -> Bool {
        let size = world.chance.pick([3, 7, 20])
        let target = target(size)
        let answer = try world.desk.ask(
            "GET", target, nil, world.headers(user).merging(["X-ZUMO-Options": "nextlink=path"]) { $1 })
        #expect(answer.status == 200, "\(answer.text)")
        answers += 1
        world.check(answer, user)
        world.checkIDs(answer.ids, user)
        if world.chance.once(in: 20) {
            try world.compareHidden(user, [RightsRequest("GET", target, options: "nextlink=path")])
        }
        let all: Value? = if case .array = answer.json { answer.json } else { answer.json["items"] }
        guard case .array(let items)? = all else { return true }
        for item in items { apply(item) }
        return kind == .feed ? advance(answer) : advance(items, answer, size)
    }

    /// Reads until everything has been read.
    mutating func finish(_ world: inout RightsWorld) throws {
        for _ in 0..<500 where try read(&world) { return }
        Issue.record("a pull of \(kind) does not end")
    }

    private mutating func apply(_ item: Value) {
        guard let id = item["id"]?.string else { return }
        let isGone = item["deleted"] == .bool(true) || item["left"] != nil
        rows[id] = isGone ? nil : item["text"]?.string ?? ""
        if let time = item["updatedAt"]?.string, time > reached { reached = time }
    }

    private mutating func advance(_ answer: HTTPResponse) -> Bool {
        cursor = answer.json["cursor"]?.string ?? ""
        return answer.json["hasMore"] != .bool(true)
    }

    private mutating func advance(_ items: [Value], _ answer: HTTPResponse, _ size: Int) -> Bool {
        if kind == .later {
            next = answer.headers.value("Link").flatMap { link in
                link.split(separator: "?", maxSplits: 1).last?.split(separator: ";").first.map(String.init)
            }
            if next == nil { newest = reached }
            return next == nil
        }
        let last = items.last
        let isWhole = items.count < min(size, 7)
        if drained != nil {
            drained = isWhole ? nil : last?["id"]?.string
            if isWhole { newest = RightsClient.after(newest) }
            return false
        }
        guard let time = last?["updatedAt"]?.string else { return true }
        if isWhole {
            newest = time
            return true
        }
        if time > newest { newest = time } else { drained = last?["id"]?.string }
        return false
    }

    /// Compares the copy with what the user may see now.
    func compare(_ world: RightsWorld, _ seed: UInt64) {
        let visible = world.visible(user, table)
        let wanted = visible.filter { row in most.map { (world.number(of: row.key, table) ?? 0) <= $0 } ?? true }
        // A list by time does not tell of rows that have left its filter.
        let found =
            kind == .feed || most == nil ? rows : rows.filter { wanted[$0.key] != nil || visible[$0.key] == nil }
        let place = "seed \(seed), step \(world.steps): \(kind) of \(user), \(table), \(most ?? -1)"
        #expect(Set(found.keys) == Set(wanted.keys), "\(place)")
        for (id, text) in found where wanted[id] != nil {
            #expect(text == wanted[id]?["text"], "\(place): \(id)")
        }
    }
}
