// Names in SQL, which ignores the case of letters. A store does not.

import SynclineGround

package enum SQLName {
    /// How many columns SQLite gives a table at most, with the id.
    static let columnLimit = 2000

    /// A name in double quotes.
    package static func quoted(_ text: String) -> String {
        text.quoted(by: "\"")
    }

    /// What tables are called in SQL. SQLite keeps names that begin with `sqlite_` for itself, so these get a `_` before
    /// them. Tables that can keep their names come first, if two would have the same name.
    package static func tables(_ names: [String], besides taken: some Sequence<String>) -> [String] {
        let kept = names.filter { !isReserved($0) }
        let changed = names.filter { isReserved($0) }
        var keptNames = unambiguous(kept, besides: taken)[...]
        var changedNames = unambiguous(changed.map { "_" + $0 }, besides: Array(taken) + keptNames)[...]
        return names.compactMap { isReserved($0) ? changedNames.popFirst() : keptNames.popFirst() }
    }

    /// What one more table is called in SQL.
    /// - Parameter taken: The names of the others, in lower case.
    static func table(_ stored: String, besides taken: Set<ExactString>) -> String {
        var name = isReserved(stored) ? "_" + stored : stored
        while taken.contains(name.lowercased()) { name += "_" }
        return name
    }

    /// Whether SQLite keeps a table's name for itself.
    static func isReserved(_ table: String) -> Bool { table.lowercased().utf8.starts(with: "sqlite_".utf8) }

    /// The names, with underscores added to those that are taken already or that differ from an earlier one only in case.
    package static func unambiguous(_ names: [String], besides taken: some Sequence<String>) -> [String] {
        var known = taken.map { $0.lowercased() }.exact
        return names.map { name in
            var name = name
            while !known.insert(ExactString(name.lowercased())).inserted { name += "_" }
            return name
        }
    }

    /// The names of the columns of a result, in which each name is there once. The second column with the name `n` is
    /// `n:2`, or has the next number that is free.
    static func distinct(_ names: [String]) -> [String] {
        var taken = Set(names.map(ExactString.init))
        var last: [ExactString: Int] = [:]
        return names.map { name in
            guard var number = last[ExactString(name)] else {
                last[ExactString(name)] = 1
                return name
            }
            repeat { number += 1 } while !taken.insert(ExactString("\(name):\(number)")).inserted
            last[ExactString(name)] = number
            return "\(name):\(number)"
        }
    }
}
