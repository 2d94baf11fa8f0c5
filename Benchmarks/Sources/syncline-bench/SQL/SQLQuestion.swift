// What is asked with SQL, and with typed queries that say the same.

import Syncline
import SynclineCore

/// A statement. Its rows have one order, so that answers can be compared.
struct SQLQuestion {
    let name: String
    let text: String

    static let all = [
        SQLQuestion(
            name: "join and group",
            text: "select l.name, count(*) c, sum(i.due) from item i join list l on l.id = i.list "
                + "group by l.id order by l.id"),
        SQLQuestion(
            name: "join of one list",
            text: "select i.id, i.title, l.name from list l join item i on i.list = l.id "
                + "where l.id = 'l7' order by i.id"),
        SQLQuestion(
            name: "join of a kind",
            text: "select l.id, max(i.due) from list l join item i on i.list = l.id "
                + "where l.kind = 3 and i.done = 1 group by l.id order by l.id"),
        SQLQuestion(name: "group", text: "select done, count(*), min(due), max(due) from item group by done"),
        SQLQuestion(name: "group of many", text: "select list, count(*) from item group by list order by list"),
        SQLQuestion(name: "count", text: "select count(*) from item where done = 1"),
        SQLQuestion(name: "order, all", text: "select id, due from item order by due, id"),
        SQLQuestion(name: "order, first 50", text: "select id, title from item order by title limit 50"),
        SQLQuestion(
            name: "order by an index, first 50", text: "select due, title from item order by due desc limit 50"),
        SQLQuestion(
            name: "range of an index",
            text: "select id, due from item where due between 5000000 and 6000000 order by id"),
        SQLQuestion(
            name: "window",
            text: "select list, id, rank() over (partition by list order by due, id) r from item "
                + "order by list, r limit 1000"),
        SQLQuestion(name: "id", text: "select name from list where id = 'l9'"),
    ]
}

/// A typed query, and the SQL that says the same. Its statements are prepared once.
struct TypedQuestion: Sendable {
    let name: String
    let text: String
    /// Asks it, and returns a function that makes strings of the answer.
    let answer: @Sendable (SyncDatabase) async throws -> () -> [[String]]

    static let all = [
        TypedQuestion(
            name: "page of 50, typed", text: "select * from item order by due desc, id limit 50"
        ) { database in
            let page = try await database.table(SQLItem.self).order(by: \.due, .descending).limit(50).page()
            return { page.models.map(\.texts) }
        },
        TypedQuestion(name: "all lists, typed", text: "select * from list order by id") { database in
            let lists = try await database.table(SQLList.self).all()
            return { lists.map(\.texts) }
        },
        TypedQuestion(
            name: "relation, 50 items with lists",
            text: "select i.*, l.* from item i left join list l on l.id = i.list order by i.due desc, i.id limit 50"
        ) { database in
            let pairs = try await database.table(SQLItem.self).order(by: \.due, .descending).limit(50)
                .with(SQLItem.listed).get()
            return { pairs.map { $0.texts + SQLList.texts($1) } }
        },
        TypedQuestion(
            name: "page of 50, two relations",
            text: "select i.*, l.*, k.* from item i left join list l on l.id = i.list "
                + "left join list k on k.id = i.origin order by i.due desc, i.id limit 50"
        ) { database in
            let page = try await database.table(SQLItem.self).order(by: \.due, .descending).limit(50)
                .with(SQLItem.listed).with(SQLItem.origins).page()
            return { page.elements.map { $0.texts + SQLList.texts($1.0) + SQLList.texts($1.1) } }
        },
        TypedQuestion(
            name: "relation, 20 lists with items",
            text: "select l.id, i.id from (select id, name from list order by name limit 20) l "
                + "join item i on i.list = l.id order by l.name, i.due, i.id"
        ) { database in
            let items = try database.table(SQLItem.self).order(by: \.due)
            let lists = try await database.table(SQLList.self).order(by: \.name).limit(20)
                .with(all: SQLItem.listed, from: items).get()
            return { lists.flatMap { list, items in items.map { [list.id, $0.id] } } }
        },
        TypedQuestion(
            name: "grouped by list, typed",
            text: "select list, count(*), sum(due) from item group by list order by list"
        ) { database in
            let groups = try await database.table(SQLItem.self).grouped(by: \.list).compute(.count, .sum(\.due))
            return { groups.map { [$0.key, "\($0.value.0)", "\($0.value.1)"] }.sorted { $0[0] < $1[0] } }
        },
        TypedQuestion(
            name: "count, sum and max, typed", text: "select count(*), sum(due), max(due) from item where done = 1"
        ) { database in
            let (count, sum, latest) = try await database.table(SQLItem.self).where { $0.done == 1 }
                .compute(.count, .sum(\.due), .max(\.due))
            return { [["\(count)", "\(sum)", latest.map { "\($0)" } ?? "null"]] }
        },
    ]
}
