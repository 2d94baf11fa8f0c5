// Replays as stories: what another policy would have decided, what is left when an event is left out, and which
// event is to blame.

import Testing

@testable import SynclineCore

@Suite struct ReplayTests {
    private static func row(_ members: KeyValuePairs<String, Value>) -> Row {
        Row(members.map { .init($0.key, $0.value) })
    }

    private static func local(_ kind: OperationKind, _ columns: Row = .empty, id: String = "a") -> Event.Body {
        .local(LocalTransaction([LocalChange(kind: kind, table: "t", id: id, columns: columns)], isGrouped: false))
    }

    private static func page(_ columns: Row?) -> Event.Body {
        .page(PulledPage(table: "t", queryID: "q", rows: [PulledRow(id: "a", row: columns)], cursor: nil))
    }

    private static let served = row(["version": .string("1"), "text": .string("base"), "n": .integer(1)])
    private static let theirs = row(["version": .string("2"), "text": .string("theirs"), "n": .integer(1)])

    /// A row is pulled, changed, pushed into a conflict, and the server's side is taken.
    private static let story: [Event.Body] = [
        page(served),
        local(.update, row(["text": .string("mine")])),
        .sent([
            SentOperation(
                table: "t", id: "a", operationID: "O", position: Position(event: 2), through: Position(event: 2))
        ]),
        .answered(
            Answer(
                table: "t", id: "a", operationID: "O", status: 412, outcome: .conflict(server: theirs, code: "conflict")
            )),
        .resolved(Resolution(table: "t", id: "a", choice: .takeServer, change: nil, policy: "server-wins")),
    ]

    private func replay(_ bodies: [Event.Body], _ variation: ReplayVariation = .init()) throws -> (Replay, [ReplayStep])
    {
        var replay = Replay(from: try Projector(), variation)
        var steps: [ReplayStep] = []
        for (index, body) in bodies.enumerated() {
            steps.append(try replay.step(Event(time: Int64(index), body), number: UInt64(index) + 1))
        }
        let rest = try replay.finish()
        steps[steps.count - 1].decisions += rest
        return (replay, steps)
    }

    @Test func `the history shows the decision of the policy at the time`() throws {
        let (replay, steps) = try replay(Self.story)
        #expect(steps.allSatisfy { $0.outcome == .folded && $0.decisions.isEmpty })
        #expect(try replay.reader.row("t", "a")?.columns["text"] == .string("theirs"))
    }

    @Test func `another policy resolves differently`() throws {
        var variation = ReplayVariation()
        variation.policy = .clientWins
        let (replay, steps) = try replay(Self.story, variation)
        #expect(try replay.reader.row("t", "a")?.columns["text"] == .string("mine"))
        #expect(steps[4].outcome == .leftOut)
        #expect(steps[4].decisions.map(\.event) == [4])
        #expect(steps[4].decisions.map(\.resolution.choice) == [.keepMine])
        #expect(try PushPlan(replay.reader).operations.map(\.kind) == [.update])
    }

    /// What a push records of a conflict that a policy decides, with an event of another row in between.
    private static func decided(by policy: ConflictPolicy, _ server: Row?) throws -> [Event.Body] {
        var story = Array(story.dropLast()) + [local(.insert, row(["text": .string("other")]), id: "b")]
        let answer = Answer(
            table: "t", id: "a", operationID: "O", status: 412,
            outcome: .conflict(server: server, code: server == nil ? "row-gone" : "conflict"))
        story[3] = .answered(answer)
        let projector = try Projector()
        for (index, body) in story.enumerated() {
            try projector.apply(Event(time: Int64(index), body), number: UInt64(index) + 1)
        }
        let reader = projector.reader(of: projector.store.snapshot)
        let conflict = try #require(try reader.conflicts().first)
        let hasBase = try reader.entry("t", "a")?.base != nil
        let resolution = try? conflict.resolution(policy.decide(conflict), hasBase: hasBase, policy: policy.name)
        if let resolution = resolution ?? nil { story.append(.resolved(resolution)) }
        return story
    }

    @Test(arguments: ["fail", "server-wins", "client-wins", "merge"], [true, false])
    func `replaying the policy that was used reports and changes nothing`(name: String, isGone: Bool) throws {
        let policies: [ConflictPolicy] = [.fail, .serverWins, .clientWins, .merge]
        let policy = try #require(policies.first { $0.name == name })
        let server = isGone ? nil : Self.row(["version": .string("2"), "text": .string("base"), "n": .integer(9)])
        let story = try Self.decided(by: policy, server)
        let (happened, _) = try replay(story)
        var variation = ReplayVariation()
        variation.policy = policy
        let (varied, steps) = try replay(story, variation)
        #expect(steps.allSatisfy { $0.outcome == .folded && $0.decisions.isEmpty }, "\(steps.map(\.outcome))")
        #expect(varied.projector.store.digest == happened.projector.store.digest)
    }

    @Test func `an edit that the other policy's store would have refused is impossible`() throws {
        func change(_ kind: OperationKind, _ version: Int64? = 1) -> Event.Body {
            let change = LocalChange(
                kind: kind, table: "t", id: "a", columns: kind == .delete ? .empty : Self.row(["n": .integer(5)]),
                baseVersion: version.map { .string("\($0)") })
            return .local(LocalTransaction([change], isGrouped: false))
        }
        // The row is gone from the server, and its update stays in conflict.
        var gone = Array(Self.story.dropLast())
        gone[3] = .answered(
            Answer(
                table: "t", id: "a", operationID: "O", status: 404,
                outcome: .conflict(server: nil, code: "row-gone")))
        var variation = ReplayVariation()
        variation.policy = .serverWins
        for (later, words) in [
            (change(.update), "an update of t/a, which is not there"),
            (change(.delete), "a delete of t/a, which is not there"),
        ] {
            let (replay, steps) = try replay(gone + [later], variation)
            #expect(steps[4].outcome == .impossible(words))
            #expect(try replay.reader.row("t", "a") == nil)
            #expect(try PushPlan(replay.reader).operations.isEmpty)
        }
        // With the policy client-wins it is brought back, and inserted again by the app.
        variation.policy = .clientWins
        let (kept, steps) = try replay(gone + [change(.insert, nil)], variation)
        #expect(steps[4].outcome == .impossible("an insert of t/a, which exists"))
        #expect(try kept.reader.row("t", "a")?.columns["text"] == .string("mine"))
        // A transaction is refused as a whole.
        variation.policy = .serverWins
        let both = Event.Body.local(
            LocalTransaction(
                [
                    LocalChange(kind: .insert, table: "t", id: "b"),
                    LocalChange(
                        kind: .update, table: "t", id: "a", columns: Self.row(["n": .integer(5)]),
                        baseVersion: .string("1")),
                ], isGrouped: true))
        let (whole, wholeSteps) = try replay(gone + [both], variation)
        #expect(wholeSteps[4].outcome == .impossible("an update of t/a, which is not there"))
        #expect(try whole.reader.row("t", "b") == nil)
    }

    @Test func `an undecided conflict is decided before the next event of its row`() throws {
        var variation = ReplayVariation()
        variation.policy = .clientWins
        let other = Self.local(.insert, id: "b")
        let again = Event.Body.opened(
            Opening(device: "", engineVersion: "", projectorVersion: Projector.version, schemaVersion: 0))
        for story in [Self.story.dropLast() + [other], Self.story.dropLast() + [other, again]] {
            let (replay, steps) = try replay(Array(story), variation)
            #expect(steps.last?.decisions.map(\.event) == [4])
            #expect(try replay.reader.conflicts().isEmpty)
            #expect(replay.through == UInt64(story.count))
        }
    }

    @Test func `a policy that leaves conflicts alone leaves this one to be decided`() throws {
        var variation = ReplayVariation()
        variation.policy = .fail
        let (replay, _) = try replay(Self.story, variation)
        #expect(try replay.reader.conflicts().map(\.reason) == [.changed])
    }

    @Test func `the consequences of an event that is left out are left out, too`() throws {
        var variation = ReplayVariation()
        variation.without = [2]
        let (replay, steps) = try replay(Self.story, variation)
        #expect(steps[1].outcome == .leftOut)
        for step in steps[2...] {
            guard case .impossible = step.outcome else {
                Issue.record("@\(step.number) \(step.outcome)")
                continue
            }
        }
        #expect(try replay.reader.row("t", "a")?.columns["text"] == .string("base"))
        #expect(replay.projector.totals.made == 0)
    }

    private func blame(_ bodies: [Event.Body]) throws -> [String: Provenance] {
        var blame = try Blame(table: "t", id: "a", from: Projector())
        for (index, body) in bodies.enumerated() {
            let bytes = Event(time: Int64(index), body).bytes
            try bytes.withUnsafeBytes { _ = try blame.fold($0, number: UInt64(index) + 1) }
        }
        return Dictionary(uniqueKeysWithValues: (blame.fields ?? []).map { ($0.field, $0.provenance) })
    }

    @Test func `blame says which page, which answer, which decision and which undo`() throws {
        let other = Event.Body.page(
            PulledPage(table: "t", queryID: "q", rows: [PulledRow(id: "b", row: Self.served)], cursor: nil))
        #expect(try blame([other, Self.page(Self.served)])["n"] == .pull(queryID: "q", page: 2))
        #expect(try blame(Array(Self.story[..<2]))["text"] == .transaction(change: 1, of: 1))
        #expect(try blame(Self.story)["text"] == .resolution(choice: "take-server", policy: "server-wins"))
        #expect(try blame(Array(Self.story[..<2]) + [.undone(event: 2)])["text"] == .undo(of: 2))
        let done = Event.Body.answered(
            Answer(
                table: "t", id: "a", operationID: "O", status: 200,
                outcome: .done(
                    PulledRow(id: "a", row: Self.row(["version": .string("3"), "text": .string("normalised")])))))
        #expect(
            try blame(Array(Self.story[..<3]) + [done])["text"] == .push(operationID: "O", status: 200))
    }

    @Test func `conditions are read as they are written`() throws {
        #expect(try Condition(parsing: "t/a").focus == RowFocus(table: "t", id: "a"))
        #expect(
            try Condition(parsing: "t/a.b.n gt 3").subject
                == .row(RowFocus(table: "t", id: "a.b"), try FilterExpression(parsing: "n gt 3")))
        #expect(
            try Condition(parsing: "t/a: n gt 3").subject
                == .row(RowFocus(table: "t", id: "a"), try FilterExpression(parsing: "n gt 3")))
        for value in ["'a: b'", "'a.b gt c'"] {
            #expect(
                try Condition(parsing: "t/a.n lt \(value)").subject
                    == .row(RowFocus(table: "t", id: "a"), try FilterExpression(parsing: "n lt \(value)")))
        }
        #expect(try Condition(parsing: "t: done").subject == .count(table: "t", try FilterExpression(parsing: "done")))
        #expect(try Condition(parsing: "count(t) lt 2").holds(1))
        #expect(try !Condition(parsing: "count(t) lt 2").holds(2))
        #expect(try Condition(parsing: "not t/a").holds(0))
        #expect(try Condition(parsing: "pending eq 0").subject == .pending)
        for sign in ["eq", "=", "=="] {
            #expect(try Condition(parsing: "pending \(sign) 0").subject == .pending)
            #expect(
                try Condition(parsing: " not t/a.n \(sign) 3").subject
                    == .row(RowFocus(table: "t", id: "a"), try FilterExpression(parsing: "n eq 3")))
            #expect(
                try Condition(parsing: "count(t: n \(sign) 3 and m gt 1) \(sign) 2").subject
                    == .count(table: "t", try FilterExpression(parsing: "n eq 3 and m gt 1")))
        }
        #expect(
            try Condition(parsing: "t/a.n in (1,2)").subject
                == .row(RowFocus(table: "t", id: "a"), try FilterExpression(parsing: "n in (1,2)")))
        #expect(try Condition(parsing: "t/an id: true").focus == RowFocus(table: "t", id: "an id"))
        for wrong in ["", "t", "count(t ge 2", "count(t) ge", "pendin", "not pending", "t/a.n gt", "pending gt x"] {
            #expect(throws: FilterError.self, "\(wrong)") { try Condition(parsing: wrong) }
        }
    }

    @Test(arguments: [
        ("t/a.n was 12", 6), ("t/a changed", 4), ("t/a.n != 3", 6), ("t/a.n >= 3", 6), ("not t/a or t/b", 8),
        ("t/a eq 3", 4), ("t/a = 3", 4), ("  t/a.n =  ", 9), ("t/a.n eq 3 , 4", 11), ("t/a: n gt 3 ?", 12), ("t/", 2),
        ("t: n was 3", 5), ("pending was 3", 8), ("pending gt three", 11), ("pending gt", 10),
        ("count(t) ge 3 or more", 14), ("count(t: n < 3) ge 1", 11), ("not count(t) is 3", 13), ("a b", 0),
    ])
    func `what can't be read of a condition is refused with its place`(text: String, position: Int) {
        let error = #expect(throws: FilterError.self, "\(text)") { try Condition(parsing: text) }
        #expect(error?.position == position, "\(text): \(error?.description ?? "")")
    }
}
