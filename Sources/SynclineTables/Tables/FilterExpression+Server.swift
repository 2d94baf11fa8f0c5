// How a server reads a filter about a table.

package import SynclineCore

extension FilterExpression {
    /// The filter as a server reads it about a table. A UUID in quotation marks beside a column that the configuration does
    /// not declare is one in either case, as clients spell them differently.
    package func asServerReads(_ schema: ServedTable) -> FilterExpression {
        asServersRead.readingUUIDs(schema)
    }

    private func readingUUIDs(_ schema: ServedTable) -> FilterExpression {
        switch self {
        case .compare(let comparison, let left, let right):
            .compare(
                comparison, left.asUUID(beside: right, comparison, schema),
                right.asUUID(beside: left, comparison, schema))
        case .oneOf(let value, let choices):
            .oneOf(value, choices.map { $0.asUUID(beside: value, .equal, schema) })
        default: mapParts { $0.readingUUIDs(schema) }
        }
    }

    private func asUUID(
        beside other: FilterExpression, _ comparison: Comparison, _ schema: ServedTable
    ) -> FilterExpression {
        guard case .literal(.string(let text), let form) = self, case .column(let path) = other, path.count == 1 else {
            return self
        }
        guard let place = schema.place(ofAnyCase: path[0]) else {
            // Ids are compared exactly.
            let isSystem = SystemColumn(anyCase: path[0]) != nil
            return isSystem && form == .guid ? .literal(.string(text)) : self
        }
        let column = schema.columns[place]
        guard comparison == .equal || comparison == .notEqual, column.type == .string,
            schema.isInferred(column.name), ColumnType.uuid.fits(.string(text))
        else { return self }
        return .literal(.string(text), form: .guid)
    }
}
