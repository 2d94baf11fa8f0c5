// The compactor's table, cell by cell.

import Testing

@testable import SynclineCore

@Suite struct CompactorRuleTests {
    /// The rule for a change, or the word of the refusal.
    private static func decide(
        _ pending: OperationKind?, _ change: OperationKind, frozen: OperationKind? = nil, hasBase: Bool = false,
        isPresent: Bool? = nil, replacesBase: Bool = false
    ) -> Result<CompactorRule, ChangeRefusal> {
        var row = CompactorInput(
            pending: pending, frozen: frozen, hasBase: hasBase,
            isPresent: isPresent ?? (pending.map { $0 != .delete } ?? (hasBase && frozen != .delete)))
        row.replacesBase = replacesBase
        return Result { () throws(ChangeRefusal) in try CompactorRule.decide(change, on: row) }
    }

    @Test func `nothing is pending`() {
        #expect(Self.decide(nil, .insert) == .success(.first(.insert)))
        #expect(Self.decide(nil, .insert, hasBase: true) == .failure(.rowExists))
        #expect(Self.decide(nil, .update, hasBase: true) == .success(.first(.update)))
        #expect(Self.decide(nil, .delete, hasBase: true) == .success(.first(.delete)))
    }

    @Test func `an insert is pending`() {
        #expect(Self.decide(.insert, .insert) == .failure(.rowExists))
        #expect(Self.decide(.insert, .update) == .success(.merge(into: .insert)))
        #expect(Self.decide(.insert, .delete) == .success(.cancel))
        #expect(Self.decide(.insert, .delete, hasBase: true) == .success(.delete(insteadOf: .insert)))
        #expect(Self.decide(.insert, .delete, frozen: .delete, hasBase: true) == .success(.cancel))
    }

    @Test(arguments: [false, true]) func `an update is pending`(_ hasBase: Bool) {
        #expect(Self.decide(.update, .insert, hasBase: hasBase) == .failure(.rowExists))
        #expect(Self.decide(.update, .update, hasBase: hasBase) == .success(.merge(into: .update)))
        #expect(Self.decide(.update, .delete, hasBase: hasBase) == .success(.delete(insteadOf: .update)))
    }

    @Test func `a delete is pending`() {
        #expect(Self.decide(.delete, .insert, hasBase: true) == .success(.replace))
        #expect(Self.decide(.delete, .update, hasBase: true) == .failure(.rowDeleted))
        #expect(Self.decide(.delete, .delete, hasBase: true) == .failure(.rowDeleted))
    }

    @Test func `after a frozen delete the row can only be inserted`() {
        #expect(Self.decide(nil, .insert, frozen: .delete, hasBase: true) == .success(.first(.insert)))
        #expect(Self.decide(nil, .update, frozen: .delete, hasBase: true) == .failure(.rowDeleted))
        #expect(Self.decide(nil, .delete, frozen: .delete, hasBase: true) == .failure(.rowDeleted))
    }

    @Test(arguments: [nil, OperationKind.insert, .update, .delete])
    func `an insert after an operation that was given up replaces the row that the server has`(
        _ pending: OperationKind?
    ) {
        #expect(Self.decide(pending, .insert, hasBase: true, replacesBase: true) == .success(.replace))
    }

    /// What is recorded of a decision says again which rule it was.
    @Test func `a recorded decision is read back as the same rule`() {
        let kinds: [OperationKind?] = [nil] + OperationKind.allCases
        for pending in kinds {
            for change in OperationKind.allCases {
                for (frozen, hasBase) in [(nil, false), (nil, true), (.delete, true), (.insert, false)]
                    as [(OperationKind?, Bool)]
                {
                    guard case .success(let rule) = Self.decide(pending, change, frozen: frozen, hasBase: hasBase)
                    else { continue }
                    var recorded = JournalEntry(kind: change, rowKey: [])
                    recorded.replaces = rule == .replace
                    recorded.cancels = rule == .cancel
                    let found = CompactorRule(recorded, after: pending)
                    #expect(found == rule)
                    #expect((found.operation == nil) == (rule == .cancel))
                }
            }
        }
    }

    @Test func `only an update can be empty`() {
        for kind in OperationKind.allCases {
            #expect(CompactorRule.isEmpty(kind, hasColumns: false) == (kind == .update))
            #expect(!CompactorRule.isEmpty(kind, hasColumns: true))
        }
    }

    @Test func `a decision to delete discards the updates before the next insert or delete`() {
        #expect(CompactorRule.discarded(from: []) == 0)
        #expect(CompactorRule.discarded(from: [.update, .update]) == 2)
        #expect(CompactorRule.discarded(from: [.update, .delete, .update]) == 1)
        #expect(CompactorRule.discarded(from: [.insert, .update]) == 0)
    }

    @Test func `columns are those of the change, merged, or none`() {
        let pending = Row([.init("a", .integer(1)), .init("b", .integer(1))])
        let change = Row([.init("b", .integer(2))])
        #expect(CompactorRule.first(.insert).columns(pending, change) == change)
        #expect(CompactorRule.replace.columns(pending, change) == change)
        #expect(CompactorRule.merge(into: .insert).columns(pending, change) == pending.merged(with: change))
        #expect(CompactorRule.merge(into: .update).columns(pending, change) == pending.merged(with: change))
        #expect(CompactorRule.delete(insteadOf: .update).columns(pending, change) == .empty)
        #expect(CompactorRule.cancel.columns(pending, change) == .empty)
    }
}
