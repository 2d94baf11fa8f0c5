// An app and two processes that follow its store, on one simulated disk, from a seed. They are killed at any call, take steps in
// the middle of each other's work, and the disk loses power. A change that is lost, made twice or out of order shows in the log,
// because each process counts. Edits of rows in common say what their process saw: one that meets something else is a conflict of
// all its rows, and no edit is lost. Meanwhile a server changes rows, conflicts are decided, and the app's schema changes.

import Dispatch
import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

struct SharedWorld {
    private var chance: Chance
    private var disk = MemoryStorage(granularity: .sector)
    private var app: (storage: ProcessStorage, database: SyncDatabase)?
    private var widgets: [Widget] = []
    private let ledger = Ledger()
    private let seed: UInt64
    /// How many processes there were.
    private var count = 0
    /// Whether history is removed.
    private let hasRetention: Bool

    init(seed: UInt64) {
        self.seed = seed
        chance = Chance(seed: seed)
        hasRetention = chance.once(in: 3)
    }

    mutating func run() async throws {
        await openApp(isMortal: false)
        for _ in 0..<30 + chance.below(40) {
            await step()
            widgets.removeAll { $0.storage.isKilled }
            if app?.storage.isKilled == true { app = nil }
            try check()
        }
        try await finish()
    }

    private func check() throws {
        let failures = ledger.failures
        try #require(failures == [], "seed \(seed)")
    }

    private mutating func step() async {
        switch chance.below(20) {
        case 0:
            endAll()
            disk = disk.crash(using: &chance)
        case 1: app?.storage.kill()
        case 2: widgets.randomElement(using: &chance)?.storage.kill()
        case 3...4 where widgets.count < 2: await openWidget()
        case 3...10:
            if widgets.isEmpty { await openWidget() }
            let widget = widgets.randomElement(using: &chance)
            if chance.once(in: 3) { widget?.write() } else { widget?.edit(&chance) }
        case 11...12:
            guard let widget = widgets.randomElement(using: &chance) else { return }
            await look(widget)
        default: await useApp()
        }
    }

    /// The calls after which a process is killed, if it is.
    private mutating func lifetime() -> Int? { chance.once(in: 3) ? 1 + chance.below(150) : nil }

    private mutating func endAll() {
        app?.storage.kill()
        app = nil
        for widget in widgets { widget.storage.kill() }
        widgets = []
    }

    private mutating func openWidget() async {
        count += 1
        let storage = ProcessStorage(disk, killedAfter: lifetime())
        do {
            widgets.append(try await Widget("widget\(count)", storage, ledger))
        } catch {
            if !storage.isKilled { ledger.fail("a widget opens: \(error)") }
        }
    }

    /// Refreshes a process. Before some of its calls, the app may take in changes, or the other process may write.
    private mutating func look(_ widget: Widget) async {
        let others = widgets.filter { $0 !== widget }
        if let app, chance.once(in: 2) {
            await look(widget, app.database)
        } else if let other = others.first, chance.once(in: 2) {
            let countdown = Countdown(chance.below(12))
            widget.storage.beforeEachCall { if countdown.isZeroNow { other.write() } }
            widget.look()
            widget.storage.beforeEachCall(nil)
        } else {
            widget.look()
        }
    }

    /// Refreshes a process while the app takes in its changes. It has a thread of its own, so that it may wait.
    private mutating func look(_ widget: Widget, _ app: SyncDatabase) async {
        let countdown = Countdown(chance.below(12))
        widget.storage.beforeEachCall {
            guard countdown.isZeroNow else { return }
            let isDone = DispatchSemaphore(value: 0)
            Task {
                try? await app.refresh()
                isDone.signal()
            }
            isDone.wait()
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                widget.look()
                continuation.resume()
            }
        }
        widget.storage.beforeEachCall(nil)
    }

    // MARK: The app

    private mutating func openApp(isMortal: Bool) async {
        count += 1
        let storage = ProcessStorage(disk, killedAfter: isMortal ? lifetime() : nil)
        var configuration = SyncConfiguration.process("app\(count)")
        configuration.isShared = true
        if chance.once(in: 8) { ledger.raiseVersion() }
        configuration.schema = CommonRows.schema(ledger.version)
        do {
            app = (storage, try await SyncDatabase.open(storage, configuration))
        } catch {
            if !storage.isKilled { ledger.fail("the app opens: \(error)") }
        }
    }

    private mutating func useApp() async {
        guard let (storage, database) = app else { return await openApp(isMortal: true) }
        // A process that follows may do something at any call of the app.
        if chance.once(in: 2), let widget = widgets.randomElement(using: &chance) {
            let first = chance.below(25)
            let (writes, looks, again) = (Countdown(first), Countdown(first + 2), Countdown(first + 4))
            storage.beforeEachCall {
                if writes.isZeroNow { widget.write() }
                if looks.isZeroNow { widget.look() }
                if again.isZeroNow { widget.write() }
            }
        }
        do {
            try await use(database)
        } catch let error as SyncError where error.code == .pendingChanges || error.code == .rowDeleted {
            // A change waits until a conflict is decided, or meets one.
        } catch {
            if !storage.isKilled { ledger.fail("the app: \(error)") }
        }
        storage.beforeEachCall(nil)
    }

    private mutating func use(_ database: SyncDatabase) async throws {
        switch chance.below(16) {
        case 0: try await database.checkpoint()
        case 1 where hasRetention:
            try await database.set(retention: .events(chance.below(20)))
            _ = try await database.compact()
        case 2:
            try await database.suspend()
            try await database.resume()
        case 3:
            try await database.close()
            app = nil
        case 4...6:
            let number = ledger.next("app")
            try await database.rows(of: SharedRows.table).update(.item("app", ["n": .integer(number)]))
            ledger.noteStored("app", number)
        case 7...8: try await editCommonRows(database)
        case 9...10: try await hearFromServer(database)
        case 11: try await decide(database, all: false)
        default: try await database.refresh()
        }
    }

    private mutating func editCommonRows(_ database: SyncDatabase) async throws {
        let mark = "app-e\(ledger.next("app-e"))"
        let (choice, version) = (chance, ledger.version)
        _ = chance.below(1 << 20)
        try await database.perform { engine throws(SyncError) in
            let reader = engine.reader
            _ = try engine.local(TransactionHeading(isGrouped: true)) { transaction throws(SyncError) in
                var chance = choice
                if try transaction.writer.edit(mark, reader, version, &chance) == nil {
                    transaction.refuse(SyncError(.rowDeleted, "an edit that can't be made"))
                }
            }
        }
    }

    /// Stores a page with a row that another device changed or deleted.
    private mutating func hearFromServer(_ database: SyncDatabase) async throws {
        let number = ledger.next("server")
        let id = CommonRows.ids[chance.below(3)]
        var members = [Value.Member("version", .string("v\(number)"))]
        for letter: Character in ["x", "y"] where chance.once(in: 2) {
            members.append(.init(CommonRows.name(letter, ledger.version), .string("server\(number)")))
        }
        let row = chance.once(in: 5) ? nil : Row(members)
        let page = PulledPage(
            table: CommonRows.table, queryID: nil, rows: [PulledRow(id: id, row: row)], cursor: nil)
        try await database.perform { engine throws(SyncError) in _ = try engine.record(page: page) }
    }

    private mutating func decide(_ database: SyncDatabase, all: Bool) async throws {
        for conflict in try await database.conflicts() where all || chance.once(in: 2) {
            let decision: ConflictDecision = [.takeServer, .keepMine, .merge][chance.below(all ? 2 : 3)]
            do {
                try await database.resolve(table: conflict.table, id: conflict.id, decision)
            } catch {
                if error.code != .mergeConflict { throw error }
            }
        }
    }

    // MARK: The end

    private mutating func finish() async throws {
        endAll()
        await openApp(isMortal: false)
        let database = try #require(app?.database, "seed \(seed)")
        try? await database.refresh()
        // What waits is taken in when the conflicts that it waits for are decided.
        for _ in 0..<200 where try !Tributaries.all(disk).isEmpty {
            try await decide(database, all: true)
            try? await database.refresh()
        }
        try check()
        let waiting = try Tributaries.all(disk)
        try #require(waiting == [], "seed \(seed)")
        let found = try SharedRows.numbers(database.reader)
        for (name, number) in ledger.stored {
            try #require(found[name] ?? 0 >= number, "seed \(seed): \(name) stored \(number)")
        }
        try checkLog()
        if !hasRetention { try CommonLog(ledger.edits, "seed \(seed)").check(disk) }
        endAll()
    }

    /// In the log, the numbers of each process rise, and no file was taken in twice.
    private func checkLog() throws {
        var last: [String: Int64] = [:]
        var takenIn: Set<Substring> = []
        var newest = ""
        try EventWalk(disk).forEach { _, event in
            switch event.body {
            // A compaction says it again.
            case .configured(SettingName.takenIn, .string(let names)?) where names != newest:
                newest = names
                for name in names.split(separator: " ") {
                    try #require(takenIn.insert(name).inserted, "seed \(seed): \(name) was taken in twice")
                }
            case .local(let transaction):
                for change in transaction.changes {
                    guard case .integer(let number)? = change.columns["n"] else { continue }
                    let before = last[change.id] ?? 0
                    try #require(number > before, "seed \(seed): \(change.id) has \(number) after \(before)")
                    last[change.id] = number
                }
            default: break
            }
            return true
        }
        for (name, number) in last { try #require(number <= ledger.tried[name] ?? 0, "seed \(seed): \(name)") }
    }
}
