// The rows of both tables.

import Syncline

/// A row of the larger table, which follows from its number.
struct SQLItem: SyncModel, Hashable {
    static let table = "item"
    /// The list that it belongs to.
    static let listed = Relation(\SQLItem.list, to: SQLList.self)
    /// The list that it was in at first.
    static let origins = Relation(\SQLItem.origin, to: SQLList.self)

    var id: String
    var list: String
    var due: Int64
    var done: Int64
    var title: String
    var origin: String

    init(_ number: Int, _ lists: Int) {
        var random = SplitMix64(seed: UInt64(number))
        id = "\(String(random.next(), radix: 16))-\(number)"
        list = SQLList(Int(random.below(UInt64(lists)))).id
        due = Int64(random.below(1_000_000_000))
        done = Int64(random.below(2))
        title = "w\(random.below(1000)) w\(random.below(1000)) \(number)"
        origin = SQLList(Int(random.below(UInt64(lists)))).id
    }

    var texts: [String] { [id, list, "\(due)", "\(done)", title, origin] }
}

/// A row of the smaller table.
struct SQLList: SyncModel, Hashable {
    static let table = "list"

    var id: String
    var name: String
    var kind: Int64

    init(_ number: Int) {
        id = "l\(number)"
        name = "list \(number)"
        kind = Int64(number % 7)
    }

    var texts: [String] { [id, name, "\(kind)"] }

    static func texts(_ list: SQLList?) -> [String] { list?.texts ?? ["null", "null", "null"] }
}
