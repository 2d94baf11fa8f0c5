// The order of a query's rows as bytes: the sort keys of a row, then its id. The columns are read in the encoded row.

import SynclineGround

struct SortOrder {
    private struct Key {
        var places: ColumnPlaces
        /// Whether it is not the value of a column, but the id, a member, or what another row has.
        let isSpecial: Bool
        let isDescending: Bool
        let type: ColumnType
    }

    private var keys: [Key]
    /// Members and what other rows have, by their places.
    private let special: [Int: RowQuery.Key]
    /// The places of the first column, if it is one.
    private var first: ColumnPlaces
    private let hasFirst: Bool

    init(_ keys: [RowQuery.Key], _ types: TableTypes) {
        first = ColumnPlaces(keys.first?.column ?? "")
        self.keys = keys.map { key in
            Key(
                places: ColumnPlaces(key.column), isSpecial: key.column == "id" || key.isSpecial,
                isDescending: key.isDescending, type: key.type(types))
        }
        hasFirst = self.keys.first?.isSpecial == false
        special = Dictionary(uniqueKeysWithValues: keys.enumerated().filter(\.element.isSpecial).map { ($0, $1) })
    }

    /// Appends the sort keys of a row, without its id.
    mutating func append(_ row: EncodedRowView, to writer: inout ByteWriter) throws(SyncError) {
        for index in keys.indices {
            let start = writer.count
            if keys[index].isSpecial {
                appendSpecial(index, row, &writer)
            } else if let value = row.encoded(&keys[index].places) {
                do throws(MalformedBytes) {
                    try writer.append(sortOfEncoded: value, as: keys[index].type)
                } catch {
                    throw .malformed("a row of the state")
                }
            } else {
                writer.append(SortTag.null)
            }
            if keys[index].isDescending { writer.invert(from: start) }
        }
    }

    private func appendSpecial(_ index: Int, _ row: EncodedRowView, _ writer: inout ByteWriter) {
        guard let key = special[index] else {
            return row.withID { writer.append(sortOf: SortTag.string, $0, limit: .max) }
        }
        writer.append(sortOf: row.value(of: key), as: keys[index].type)
    }

    /// What a position of the order begins with; nil if it is not compared with encoded values.
    func edge(_ position: [UInt8]) -> OrderEdge? {
        hasFirst ? OrderEdge(position, isDescending: keys[0].isDescending, keys[0].type) : nil
    }

    /// Whether it is certain, by its first column alone, that a row comes after an edge.
    @inline(__always)
    mutating func isAfter(_ edge: OrderEdge, _ row: EncodedRowView) -> Bool {
        row.encoded(&first).map { edge.isBefore($0) } ?? false
    }

    /// The position of a place in an order.
    static func position(_ place: RowQuery.Place, _ keys: [RowQuery.Key], _ types: TableTypes) -> [UInt8] {
        var writer = ByteWriter()
        for (key, value) in zip(keys, place.values) {
            let start = writer.count
            writer.append(sortOf: value, as: key.type(types))
            if key.isDescending { writer.invert(from: start) }
        }
        return writer.bytes + Array(place.id.utf8)
    }
}

extension RowQuery.Key {
    fileprivate var isSpecial: Bool { path != nil || through != nil }
}

extension RowQuery.Place {
    /// The place of a row in an order.
    init(of row: StoredRow, in order: [RowQuery.Key]) {
        self.init(values: order.map { row.value(of: $0) }, id: row.id)
    }
}
