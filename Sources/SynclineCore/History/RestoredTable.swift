// A table whose rows are put back: its past rows under the present schema, and the change that each present row needs.

import SynclineGround

struct RestoredTable {
    let name: String
    let present: StateReader
    let types: TableTypes
    /// The values that rows show for missing columns.
    private let defaults: Row
    fileprivate let names: WireNames?

    init(_ name: String, _ present: StateReader) throws(SyncError) {
        try Item.check(table: name)
        let declaration = try present.declaration
        try declaration.check(name)
        self.name = name
        self.present = present
        types = try present.types(of: name)
        defaults = declaration?.defaults(of: name) ?? .empty
        names = declaration?.wireNames(of: name)
    }

    /// A row as an app would see it.
    func filled(_ row: Row) -> Row { defaults.merged(with: row) }

    /// What makes the present row with an id the past one; nil if it is the same.
    /// - Parameter past: Nil if there was none.
    func part(_ id: String, to past: Row?) throws(SyncError) -> Restoration.Part? {
        let entry = try present.entry(name, id)
        let (id, now) = (entry?.spelling ?? id, entry?.visible?.own)
        guard let past = past?.own else {
            return now.map { change(id, from: $0, to: nil, .empty) }
        }
        guard let now else {
            // A default that is not hidden by the server's value shows by itself, and is not sent.
            let hidden = entry?.expected ?? .empty
            let wanted = filled(past).filter { past[$0.name] != nil || hidden[$0.name] != nil }
            let columns = try types.stored(wanted, over: nil, "\(name)/\(id)")
            return change(id, from: nil, to: filled(columns), columns)
        }
        let wanted = filled(past)
        if wanted == now { return nil }
        let changed = wanted.replacing(now).filter { member in
            guard let current = now[member.name] else { return !member.value.isNull }
            return !types[member.name].keeps(current, under: member.value)
        }
        if changed.isEmpty { return nil }
        let columns = try types.stored(changed, over: now, "\(name)/\(id)")
        let part = change(id, from: now, to: now.merged(with: columns), columns)
        return part.difference.isEmpty ? nil : part
    }

    /// What takes back the change of a row from `before` to `after`; nil if nothing of it is left.
    func part(_ id: String, undoing before: Row?, to after: Row?) throws(SyncError) -> Restoration.Part? {
        let now = try present.row(name, id)?.columns.own
        switch (before?.own, after?.own) {
        case (nil, _): return try part(id, to: nil)
        case (let before?, nil): return now == nil ? try part(id, to: before) : nil
        case (let before?, let after?):
            guard let now else { return nil }
            let changed = before.columns.exact.union(after.columns.exact).filter {
                !types[$0.text].areSame(before[$0.text] ?? .null, after[$0.text] ?? .null)
            }
            return try part(id, to: now.without(changed).merged(with: before.only(changed)))
        }
    }

    private func change(_ id: String, from before: Row?, to after: Row?, _ columns: Row) -> Restoration.Part {
        let difference = RowDifference(table: name, id: id, before: before, after: after, types)
        return Restoration.Part(difference: difference, columns: columns)
    }
}

/// The rows of a table as of a past state, with the columns that they would have today.
struct PastRows {
    let past: StateReader
    private let table: String
    /// The columns that were local. Among the others that the server did not know are defaults of that time.
    private let local: Set<ExactString>
    private let conversions: [(Row) -> Row]
    private let names: WireNames?

    init(of table: RestoredTable, in past: StateReader, since steps: [SchemaStep]) throws(SyncError) {
        self.past = past
        self.table = table.name
        names = table.names
        local = try past.declaration?.localColumns(of: table.name) ?? []
        let steps = steps.filter { $0.table.isSpelled(as: table.name) }
        if steps.contains(where: \.isDropOfTable) {
            throw SyncError(
                .unknownTable, "the app's schema dropped the table \"\(table.name)\" after that moment",
                hint: "Read its rows from the past state.")
        }
        conversions = steps.compactMap(\.conversion)
    }

    func row(_ id: String) throws(SyncError) -> Row? { row(try past.entry(table, id)) }

    /// What the app saw of an entry, without defaults and columns that no longer exist.
    func row(_ entry: RowEntry?) -> Row? {
        guard let entry, let shared = entry.shared else { return nil }
        let seen = entry.local.map { shared.merged(with: $0.only(local)) } ?? shared
        let row = conversions.reduce(seen) { $1($0) }
        return row.filter { !$0.name.hasPrefix("__") && names?.owner(of: $0.name) == nil }
    }
}

extension SchemaStep {
    fileprivate var isDropOfTable: Bool { if case .dropTable = self { true } else { false } }

    /// What it did to each row; nil if nothing.
    fileprivate var conversion: ((Row) -> Row)? {
        switch self {
        case .renameColumn(_, let from, let to): { $0.renaming(from, to: to) }
        case .dropColumn(_, let column): { $0.without([ExactString(column)]) }
        case .changeValues(_, let column, let changes):
            { [values = changes.byOldValue] row in row.changing(column, values) }
        case .setType, .dropTable: nil
        }
    }
}
