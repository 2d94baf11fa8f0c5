// The buckets that a caller sees now, which tell the caller's rows among all as they are read.

import SynclineCore
import SynclineGround
import SynclineTables

struct SeenBuckets {
    /// A bucket by its names. It is an object, because copies of its parts would take most of the time.
    private final class Seen {
        /// The place of the column that names the bucket; nil for everybody's.
        let column: Int?
        let conditions: [(place: Int, condition: RuleCondition)]
        let names: [ExactString: Stamp]
        /// The same in columns of strings, if they are few.
        let few: FewTexts?
        let begins: [Stamp]

        init(
            _ column: Int?, _ conditions: [(place: Int, condition: RuleCondition)], _ names: [ExactString: Stamp],
            isText: Bool
        ) {
            (self.column, self.conditions, self.names) = (column, conditions, names)
            few = isText && names.count <= 8 ? FewTexts(names.keys.map(\.text)) : nil
            begins = Array(names.values)
        }
    }

    private let types: [ColumnType]
    private let buckets: [Seen]

    init(_ known: KnownRights, _ schema: ServedTable) {
        let types = schema.columns.map(\.type)
        self.types = types
        func place(_ column: String) -> Int? { schema.columns.firstIndex { $0.name.hasSameBytes(as: column) } }
        buckets = known.open.compactMap { bucket, names in
            let conditions = bucket.conditions.compactMap { one in place(one.column).map { ($0, one) } }
            let column = bucket.column.flatMap(place)
            // No row has a value in a column that is not there yet.
            if conditions.count < bucket.conditions.count || bucket.column != nil && column == nil { return nil }
            return Seen(column, conditions, names, isText: column.map { types[$0].form == .string } ?? false)
        }
    }

    /// When the caller's right to a row began; nil if he has none.
    func since(_ row: any SQLRow) -> Stamp? {
        if row.value(5).integer != 0 { return nil }
        var first: Stamp?
        next: for bucket in buckets {
            for (place, condition) in bucket.conditions where !condition.holds(value(place, row)) { continue next }
            guard let begin = begin(bucket, row) else { continue }
            if first.map({ begin.change < $0.change }) ?? true { first = begin }
        }
        return first
    }

    private func begin(_ bucket: Seen, _ row: any SQLRow) -> Stamp? {
        guard let column = bucket.column else { return bucket.names[ExactString(RuleBucket.everybody)] }
        if let few = bucket.few {
            return row.place(of: column + TableSQL.firstColumn, among: few).map { bucket.begins[$0] }
        }
        return value(column, row).ruleText.flatMap { bucket.names[ExactString($0)] }
    }

    private func value(_ place: Int, _ row: any SQLRow) -> Value {
        types[place].value(row.value(place + TableSQL.firstColumn))
    }
}
