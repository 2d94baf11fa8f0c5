// Random statements over the tables of a random store.

import SynclineTesting

/// Writes statements whose result does not depend on the order in which rows are read.
struct RandomSQL {
    var chance: Chance
    /// The names of tables as they are written in statements, with their columns.
    let tables: [(name: String, columns: [String])]
    /// The columns that indexes of tables are sorted by, and those that they include.
    var indexes: [(table: String, columns: [String], including: [String])] = []

    /// A statement, and whether its rows have one order.
    mutating func statement() -> (text: String, isOrdered: Bool) {
        if chance.once(in: 2), let found = indexed() { return found }
        return switch chance.below(8) {
        case 0: (text: aggregate(), isOrdered: false)
        case 1: (text: compound(), isOrdered: false)
        case 2: (text: window(), isOrdered: false)
        case 3: (text: correlated(), isOrdered: false)
        case 4, 5: (text: ordered(), isOrdered: true)
        default: (text: joined(), isOrdered: false)
        }
    }

    private mutating func source() -> (alias: String, text: String, columns: [String]) {
        let table = chance.pick(tables)
        let alias = "t\(chance.below(1000))"
        return (alias, "\"\(table.name)\" \(alias)", table.columns)
    }

    private mutating func column(_ source: (alias: String, text: String, columns: [String])) -> String {
        "\(source.alias).\"\(chance.pick(source.columns))\""
    }

    mutating func literal() -> String {
        switch chance.below(14) {
        case 11: "'\(chance.pick(RandomStore.numbers))'"
        case 12, 13: cast("'\(chance.pick(RandomStore.numbers + ["r3", ""]))'")
        case 9: "'2026-01-02'"
        case 10: "'\(chance.pick(RandomStore.long))'"
        case 0: "null"
        case 1: "'\(chance.pick(["", "a", "milk", "bread", "r3", "R1", "[1]"]))'"
        case 2: "\(chance.below(4)).5"
        case 3: "'2026-01-0\(1 + chance.below(4))T00:00:00.000Z'"
        case 4: id()
        case 5: "\(chance.below(2))"
        case 6: "x'0102'"
        default: "\(chance.below(8))"
        }
    }

    mutating func id() -> String { "'r\(chance.below(12))'" }

    /// An expression of a type, which makes SQL compare strings as numbers, or of the type that it has.
    mutating func cast(_ expression: String) -> String {
        chance.once(in: 4)
            ? expression : "cast(\(expression) as \(chance.pick(["integer", "real", "numeric", "text"])))"
    }

    private mutating func condition(_ source: (alias: String, text: String, columns: [String]), depth: Int = 0)
        -> String
    {
        let column = column(source)
        func value(_ random: inout RandomSQL) -> String {
            // Few other values are ids.
            column.hasSuffix("\"id\"") && random.chance.once(in: 2) ? random.id() : random.literal()
        }
        switch chance.below(depth > 2 ? 5 : 9) {
        case 0: return "\(column) \(chance.pick(["=", "is", "<>", "is not"])) \(value(&self))"
        case 1: return "\(column) \(chance.pick(["<", "<=", ">", ">="])) \(value(&self))"
        case 2: return "\(column) between \(value(&self)) and \(value(&self))"
        case 3: return "\(column) in (\(value(&self)), \(value(&self)), \(value(&self)))"
        case 4: return "\(column) \(chance.pick(["is null", "is not null", "like '%r%'", "= 'MILK' collate nocase"]))"
        case 5: return "not (\(condition(source, depth: depth + 1)))"
        case 6: return "(\(condition(source, depth: depth + 1)) or \(condition(source, depth: depth + 1)))"
        default: return "\(condition(source, depth: depth + 1)) and \(condition(source, depth: depth + 1))"
        }
    }

    private mutating func joined() -> String {
        let left = source()
        var text = "select \(left.alias).id, \(column(left))"
        var from = " from \(left.text)"
        var known = [left]
        for index in 0...chance.below(2) {
            var right = source()
            right.alias += "_\(index)"
            right.text = right.text.split(separator: " ").dropLast().joined(separator: " ") + " " + right.alias
            let other = chance.pick(known)
            text += ", \(column(right))"
            let kind = chance.pick(["join", "left join", "join"])
            let value = chance.once(in: 2) ? column(other) : cast(column(other))
            from += " \(kind) \(right.text) on \(column(right)) = \(value)"
            if chance.once(in: 3) { from += " and \(condition(right))" }
            known.append(right)
        }
        return text + from + (chance.once(in: 2) ? " where \(condition(left))" : "")
    }

    private mutating func aggregate() -> String {
        let left = source()
        let group = column(left)
        return """
            select \(group), count(*), count(\(column(left))), min(\(column(left))), max(\(column(left))), \
            count(distinct \(column(left))) from \(left.text)\(chance.once(in: 2) ? " where \(condition(left))" : "") \
            group by \(group)\(chance.once(in: 3) ? " having count(*) > 1" : "")
            """
    }

    private mutating func ordered() -> String {
        if chance.once(in: 3) { return first() }
        if chance.once(in: 4) { return words() }
        let left = source()
        let direction = chance.pick(["", " desc"])
        let keys = chance.once(in: 2) ? "\(column(left))\(chance.pick([" desc", ""])), " : ""
        let window = chance.once(in: 2) ? " limit \(chance.below(6)) offset \(chance.below(4))" : ""
        var filter = chance.once(in: 2) ? " where \(condition(left))" : ""
        // SQLite does not sort by a column that must equal one value, but several strings can equal one number.
        if filter.contains("cast(") { filter = "" }
        return """
            select \(left.alias).id, \(column(left)) from \(left.text)\(filter) \
            order by \(keys)\(left.alias).id\(direction)\(window)
            """
    }

    /// The first values of one column: an index may have their order.
    private mutating func first() -> String {
        let left = source()
        let keys = left.columns.filter { ["id", "n", "rank", "at", "tag", "flag"].contains($0) }
        let key = "\(left.alias).\"\(chance.pick(keys))\""
        let end = "\(key) \(chance.pick(["<", "<=", ">", ">="])) \(literal())"
        return """
            select \(key) from \(left.text)\(chance.once(in: 2) ? " where \(end)" : "") \
            order by \(key)\(chance.pick(["", " desc"])) limit \(chance.below(8)) offset \(chance.below(3))
            """
    }

    /// One column of strings and the id: the entries of an index may have all that is read.
    private mutating func words() -> String {
        let left = source()
        guard left.columns.contains("word") else { return first() }
        let word = "\(left.alias).word"
        let filter = chance.once(in: 3) ? " where \(word) \(chance.pick(["<", ">", "<>"])) \(literal())" : ""
        switch chance.below(4) {
        case 0: return "select distinct \(word) from \(left.text)\(filter) order by \(word)"
        case 1:
            return "select \(word), \(left.alias).id from \(left.text)\(filter) order by \(word), \(left.alias).id"
        case 2: return "select \(word) from \(left.text)\(filter) order by \(word) limit \(chance.below(8))"
        default:
            return """
                select \(word), count(*), max(\(left.alias).id) from \(left.text)\(filter) \
                group by \(word) order by 1
                """
        }
    }

    private mutating func compound() -> String {
        let (left, right) = (source(), source())
        let word = chance.pick(["union", "union all", "intersect", "except"])
        return "select \(column(left)) from \(left.text) \(word) select \(column(right)) from \(right.text)"
    }

    private mutating func window() -> String {
        let left = source()
        return """
            select id, n, row_number() over (partition by \(column(left)) order by \(left.alias).id) as r, \
            sum(\(left.alias).n) over (order by \(left.alias).id) from \(left.text)
            """
    }

    private mutating func correlated() -> String {
        let (left, right) = (source(), source())
        let inner = "select 1 from \(right.text) where \(column(right)) = \(cast(left.alias + ".id"))"
        if chance.once(in: 3) {
            let values = "select \(cast(column(right))) from \(right.text)"
            return "select \(left.alias).id from \(left.text) where \(column(left)) in (\(values))"
        }
        return chance.once(in: 2)
            ? "select \(left.alias).id from \(left.text) where exists (\(inner))"
            : "select id, (select count(*) from \(right.text) where \(right.alias).n = \(left.alias).n) from \(left.text)"
    }
}
