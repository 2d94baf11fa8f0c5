// SQLite's own tables with the rows and the indexes of the store, in one of four shapes.

struct NativeTables {
    /// Rows in the order of their ids or of their insertion, with the default cache or one that holds everything.
    struct Shape {
        var name: String
        var clustered: Bool
        var tuned: Bool
    }

    static let shapes = [
        Shape(name: "rowid", clustered: false, tuned: false),
        Shape(name: "rowid-tuned", clustered: false, tuned: true),
        Shape(name: "without-rowid", clustered: true, tuned: false),
        Shape(name: "without-rowid-tuned", clustered: true, tuned: true),
    ]

    private let shape: Shape
    private let connection: SQLiteConnection

    var name: String { shape.name }
    /// A full-text index names rows by their numbers.
    var hasWords: Bool { !shape.clustered }

    init(_ shape: Shape, _ directory: String, rows: Int, lists: Int) throws {
        self.shape = shape
        connection = try SQLiteConnection("\(directory)/\(shape.name).sqlite")
        if shape.tuned { try connection.run("PRAGMA cache_size=-262144") }
        let kind = shape.clustered ? " without rowid" : ""
        try connection.run(
            """
            create table item
            (id text primary key not null, list text, due integer, done integer, title text, origin text)\(kind);
            create table list (id text primary key not null, name text, kind integer)\(kind);
            create index lists on item (list); create index dues on item (due);
            create virtual table words using fts5 (title, content = '', tokenize = 'unicode61 remove_diacritics 2');
            begin
            """)
        let addItem = try connection.insertion("insert into item values (?1, ?2, ?3, ?4, ?5, ?6)")
        let addWords = try connection.insertion("insert into words (rowid, title) values (last_insert_rowid(), ?1)")
        for number in 0..<rows {
            let item = SQLItem(number, lists)
            try addItem([
                .text(item.id), .text(item.list), .integer(item.due), .integer(item.done), .text(item.title),
                .text(item.origin),
            ])
            if hasWords { try addWords([.text(item.title)]) }
        }
        let addList = try connection.insertion("insert into list values (?1, ?2, ?3)")
        for number in 0..<lists {
            let list = SQLList(number)
            try addList([.text(list.id), .text(list.name), .integer(list.kind)])
        }
        try connection.run("commit; analyze")
    }

    func rows(_ statement: String, isKept: Bool) throws -> [[String]] { try connection.rows(statement, isKept: isKept) }

    func close() { connection.close() }
}
