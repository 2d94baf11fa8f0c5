// A table at a moment: its definition with all columns that it has by then, and their places in the database. It never
// changes; a new column makes a new schema.

package import SynclineCore
package import SynclineGround

package final class ServedTable: Sendable {
    package let definition: TableDefinition
    /// The columns that clients see, without system columns, in order.
    package let columns: [Column]
    /// The names of a row's columns, shared by all rows.
    package let shape: RowShape
    /// A row without values.
    package let emptyRow: Row
    /// The system columns that the database's table has.
    package let systemColumns: Set<SystemColumn>
    /// Whether a server created the table; adopted tables are never changed.
    package let isOwn: Bool
    /// The kind of its rows' ids.
    package let idKind: IDKind
    /// How the database's columns differ from those that a server makes.
    package let traits: ColumnTraits
    /// The decimals of a second that dates can have.
    package let decimals: UInt8
    /// Seeds for the hashes of the columns' values.
    package let nameHashes: [UInt64]
    private let places: [ExactString: Int]
    /// The same, by names in lower case.
    private let lowerPlaces: [ExactString: Int]
    /// The places of the last item's columns: the items of a batch usually have the same shape.
    private let latest = Mutex<(shape: RowShape, places: [Int?])?>(nil)

    package init(
        _ definition: TableDefinition, columns: [Column], systemColumns: Set<SystemColumn> = Set(SystemColumn.allCases),
        isOwn: Bool = true, idKind: IDKind = .text, traits: ColumnTraits = ColumnTraits(), decimals: UInt8 = 9
    ) {
        (self.isOwn, self.idKind, self.traits, self.decimals) = (isOwn, idKind, traits, decimals)
        self.definition = definition
        self.columns = columns
        self.systemColumns = systemColumns
        shape = RowShape(columns.map(\.name))
        nameHashes = columns.map { hash64(of: $0.name) }
        emptyRow = Row(shape, columns.map { _ in .null })
        places = Dictionary(columns.enumerated().map { (ExactString($1.name), $0) }) { $1 }
        lowerPlaces = Dictionary(columns.enumerated().map { (ExactString($1.name.lowercased()), $0) }) { first, _ in
            first
        }
    }

    package var name: String { definition.name }

    /// Whether a row of the table can have an id.
    package func mayHave(id: String) -> Bool { idKind.canBe(id) }

    /// The place of a column.
    package func place(of name: String) -> Int? { places[name] }

    /// The places of a shape's columns.
    package func places(of shape: RowShape) -> [Int?] {
        latest.withLock { latest in
            if let latest, latest.shape == shape { return latest.places }
            let found = shape.names.map { places[$0] }
            latest = (shape, found)
            return found
        }
    }

    /// The place of a column that an order or filter names: in its exact spelling, or in another letter case.
    package func place(ofAnyCase name: String) -> Int? {
        places[name] ?? lowerPlaces[name.lowercased()]
    }

    /// The name of a column that an order names in any letter case; the given one if there is no such column.
    package func exactName(of name: String) -> String {
        place(ofAnyCase: name).map { columns[$0].name } ?? SystemColumn(anyCase: name)?.rawValue ?? name
    }

    /// The types of its columns for checking a filter.
    package var typing: FilterTyping {
        return { [self] name in
            if let place = place(ofAnyCase: name) {
                let kind = columns[place].type.filterKind
                return kind == .text && isInferred(columns[place].name) ? .anyText : kind
            }
            switch SystemColumn(anyCase: name) {
            case .id?, .version?: return .text
            case .createdAt?, .updatedAt?: return .date
            case .deleted?: return .boolean
            case nil: return nil
            }
        }
    }

    /// The types of its columns for evaluating a filter. Strings and numbers are compared as what they are, as in a
    /// column without a type.
    package var types: TableTypes {
        TableTypes(columns.filter(\.isMeant))
    }

    /// Whether a column was created for the first value that it got.
    package func isInferred(_ column: String) -> Bool {
        isOwn && !ServedTable.declared(definition).contains { $0.name.hasSameBytes(as: column) }
    }

    /// The place of the owner column.
    package var ownerPlace: Int? { definition.perUser.flatMap { place(of: $0) } }

    /// The database's name of a column.
    package func source(of name: String) -> String { definition.map[name] ?? name }
    package func source(of column: SystemColumn) -> String { source(of: column.rawValue) }

    package func adding(_ new: [Column]) -> ServedTable {
        ServedTable(definition, columns: columns + new, systemColumns: systemColumns, isOwn: isOwn, decimals: decimals)
    }

    package func limits(of column: String) -> ColumnLimits {
        ColumnLimits(precision: traits.precision[column] ?? .decimals, decimals: decimals)
    }

    /// The columns of a definition.
    package static func declared(_ definition: TableDefinition) -> [Column] {
        guard let owner = definition.perUser, !definition.columns.contains(where: { $0.name.hasSameBytes(as: owner) })
        else {
            return definition.columns
        }
        return definition.columns + [Column(owner, .string)]
    }
}

/// How the columns of an adopted table differ from those that a server makes, by their names for clients.
package struct ColumnTraits: Hashable, Sendable {
    /// The database compares them differently from the engine.
    package var opaque: Set<ExactString> = []
    /// Only the database sets them.
    package var computed: Set<ExactString> = []
    /// System columns whose times may be more exact than the milliseconds that clients see.
    package var fine: Set<ExactString> = []
    /// The numbers that they keep, if those are not all.
    package var precision: [ExactString: NumberPrecision] = [:]
    /// The database has a type of its own for their UUIDs.
    package var native: Set<ExactString> = []
    /// Strings that the database does not order by their bytes.
    package var collated: Set<ExactString> = []
    /// Strings that the database may take for equal if their bytes differ.
    package var inexact: Set<ExactString> = []
    /// Their numbers may have decimals.
    package var decimal: Set<ExactString> = []
    /// Every row has a value for them.
    package var required: Set<ExactString> = []
    /// No two rows have the same value for them.
    package var unique: Set<ExactString> = []

    package init() {}
}

/// The string for a change number as a row's version: base64 of its eight bytes, highest byte first.
package enum RowVersion {
    package static func text(_ change: Int64) -> String {
        withUnsafeBytes(of: change.bigEndian) { Base64.encode($0) }
    }

    /// Each database starts at a different number, so that two databases hardly ever have the same version of a row.
    /// The rows of adopted tables have smaller numbers.
    package static func firstChange(of epoch: String) -> Int64 {
        ((Int64(epoch.prefix(5), radix: 16) ?? 0) + 1) * changesOfAnEpoch
    }

    /// More changes than are ever made.
    package static let changesOfAnEpoch: Int64 = 1 << 40

    package static func change(_ text: String) -> Int64? {
        guard let bytes = Base64.decode(text), bytes.count == 8 else { return nil }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension ColumnType {
    /// Nil for types without literals in filters.
    fileprivate var filterKind: FilterKind? {
        switch form {
        case .string, .uuid: .text
        case .number: .number
        case .decimal: .decimal
        case .boolean: .boolean
        case .date: .date
        case .json: nil
        }
    }
}
