// Names in SQL, which ignores the case of letters. A store does not.

import SynclineCore
import SynclineGround

package enum SQLName {
    /// A name in double quotes.
    package static func quoted(_ text: String) -> String {
        text.quoted(by: "\"")
    }

    /// The names, with underscores added to those that are taken already or that differ from an earlier one only in case.
    package static func unambiguous(_ names: [String], besides taken: some Sequence<String>) -> [String] {
        var known = Set(taken.map { $0.lowercased() })
        return names.map { name in
            var name = name
            while !known.insert(name.lowercased()).inserted { name += "_" }
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
