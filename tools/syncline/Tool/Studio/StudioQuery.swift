// The parameters of a request of the page.

import SynclineCore
import SynclineGround
import SynclineWire

struct StudioQuery {
    let request: HTTPRequest

    func text(_ name: String) -> String { request.query.first { $0.name == name }?.value ?? "" }
    func number(_ name: String) -> UInt64? { UInt64(text(name)) }
    func signed(_ name: String) -> Int64? { Int64(text(name)) }
    func count(_ name: String) -> Int? { number(name).map { Int(min($0, UInt64(Int32.max))) } }
    func given(_ name: String) -> String? { text(name).isEmpty ? nil : text(name) }

    /// How many elements of a list are wanted.
    func window(_ usual: Int) -> Int { min(500, count("top") ?? usual) }

    var row: StudioRow? {
        guard let table = given("table"), let id = given("id") else { return nil }
        return StudioRow(table: table, id: id)
    }

    /// The filter of the list of events.
    var filter: StudioFilter {
        var filter = StudioFilter()
        filter.kinds = Set(text("kinds").split(separator: ",").map(String.init))
        filter.row = row
        filter.table = row == nil ? given("table") : nil
        filter.outcome = given("outcome")
        filter.folds = text("fold") != "off"
        filter.open = Set(text("open").split(separator: ",").compactMap { UInt64($0) })
        return filter
    }

    /// The rows of a table that are wanted.
    var query: RowQuery {
        get throws(ToolError) {
            var query = RowQuery(table: text("name"))
            query.top = window(100)
            if let text = given("filter") { query.filter = try StoreQuery.filter(text) }
            if let text = given("order") { query.order = try StoreQuery.order(text) }
            if let token = given("after") {
                guard let place = RowQuery.Place(token: token), place.values.count == query.order.count else {
                    throw .usage("`after` is not a place in this order", hint: "Begin with the first page.")
                }
                query.after = place
            }
            return query
        }
    }

    /// The key at which a search continues.
    var key: [UInt8]? { Hexadecimal.bytes(text("from")) }
}

extension RowQuery.Place {
    /// The place as a word for the address of a request.
    var token: String {
        var writer = ByteWriter()
        writer.append(value: .array(values + [.string(id)]))
        return Hexadecimal.text(of: writer.bytes)
    }

    /// Nil for a word that is not the token of a place.
    init?(token: String) {
        guard let bytes = Hexadecimal.bytes(token),
            case .array(let all)? = bytes.withBytes({ (bytes: UnsafeRawBufferPointer) -> Value? in
                var reader = ByteReader(bytes)
                return try? reader.value()
            }), case .string(let id)? = all.last
        else { return nil }
        self.init(values: Array(all.dropLast()), id: id)
    }
}
