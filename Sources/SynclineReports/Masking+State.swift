// Masks a state, which a report begins with if the earlier history is missing. Indexes are rebuilt, because their
// keys contain values.

package import SynclineCore
import SynclineGround

extension Masking {
    /// Returns the state with everything masked, in a store of its own.
    package func mask(_ projector: Projector) throws(SyncError) -> Projector {
        let masked = StateStore()
        let numbers = projector.shapes.all.enumerated().map { number, shape in (mask(shape), number) }
        let shapes = MaskedShapes(numbers: Dictionary(numbers) { $1 })
        let comparison = projector.state.ids
        var count = 0
        try projector.store.snapshot.forEach(from: []) { key, value throws(SyncError) in
            let entry: (key: [UInt8], value: [UInt8])?
            do throws(MalformedBytes) {
                entry = try self.entry(key, value, projector.shapes, shapes, comparison)
            } catch {
                throw .malformed("the state")
            }
            if let entry {
                entry.key.withBytes { key in entry.value.withBytes { masked.put(key, $0, old: nil) } }
            }
            count += 1
            if count % 1000 == 0 {
                masked.endCommit()
                try masked.settle(above: 16 << 20)
            }
            return true
        }
        masked.endCommit()
        let result = try Projector(store: masked, through: projector.through, totals: projector.totals)
        for (table, index) in projector.state.indexes.all {
            try IndexFold(state: result.state).fill(mask(table: table), index.mapping { mask(column: $0) })
        }
        masked.endCommit()
        return result
    }

    /// Masks an entry of the state; returns nil if it is rebuilt instead.
    private func entry(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ shapes: ShapeTable, _ masked: MaskedShapes,
        _ comparison: IDComparison
    ) throws(MalformedBytes) -> (key: [UInt8], value: [UInt8])? {
        var reader = ByteReader(value)
        var writer = ByteWriter()
        switch key.first {
        case Keyspace.shapes:
            return ([UInt8](key), mask(try RowShape(encodedNames: value)).encodedNames)
        case Keyspace.cursors:
            guard let (table, queryID) = key[1...].names else { throw MalformedBytes() }
            writer.append(cursor: mask(try reader.cursor(), table))
            var name = ByteWriter()
            name.append(cursorKey: mask(table: table), mask(queryID: queryID))
            return (name.bytes, writer.bytes)
        case Keyspace.rows:
            let row = try RowKey(key)
            writer.append(entry: mask(try reader.entry(shapes), row.table), masked)
            return (mask(row, comparison), writer.bytes)
        case Keyspace.settings: return try setting(key, &reader)
        case Keyspace.indexes: return nil
        case Keyspace.failing:
            let row = try RowKey(UnsafeRawBufferPointer(rebasing: key[1...]))
            return ([Keyspace.failing] + mask(row, comparison), [UInt8](value))
        case Keyspace.unreadable: return try unreadable(key, &reader, comparison)
        case Keyspace.undone: return ([UInt8](key), [UInt8](value))
        case Keyspace.journal:
            // An event's changes are followed by an entry that applies to all of them.
            if key.suffix(4).allSatisfy({ $0 == 0xff }) { return ([UInt8](key), [UInt8](value)) }
            var change = try JournalEntry(&reader, shapes)
            let row = try change.rowKey.withBytes { bytes throws(MalformedBytes) in try RowKey(bytes) }
            change.rowKey = mask(row, comparison)
            change.content = change.content.map { mask($0, row.table) }
            change.localBefore = change.localBefore.map { mask($0, row.table) }
            change.encode(into: &writer, masked)
            return ([UInt8](key), writer.bytes)
        default: throw MalformedBytes()
        }
    }

    private func unreadable(
        _ key: UnsafeRawBufferPointer, _ reader: inout ByteReader, _ comparison: IDComparison
    ) throws(MalformedBytes) -> (key: [UInt8], value: [UInt8]) {
        let row = mask(try UnreadableRow(key, &reader))
        var writer = ByteWriter()
        writer.append(unreadable: row)
        return (row.key(comparison), writer.bytes)
    }

    private func mask(_ shape: RowShape) -> RowShape { RowShape(shape.names.map { mask(column: $0) }) }

    private func mask(_ row: RowKey, _ comparison: IDComparison) -> [UInt8] {
        RowKey.bytes(mask(table: row.table), mask(id: row.id), comparison)
    }

    private func mask(_ entry: RowEntry, _ table: String) -> RowEntry {
        var entry = entry
        entry.spelling = entry.spelling.map { mask(id: $0) }
        entry.base = entry.base.map { mask($0, table) }
        entry.local = entry.local.map { mask($0, table) }
        if var pending = entry.pending {
            pending.overlay = mask(pending.overlay, table)
            pending.frozen = pending.frozen.map { mask($0, table) }
            entry.pending = pending
        }
        return entry
    }

    private func setting(
        _ key: UnsafeRawBufferPointer, _ reader: inout ByteReader
    ) throws(MalformedBytes) -> (key: [UInt8], value: [UInt8]) {
        var name = String(decoding: key[1...], as: UTF8.self)
        var value = try reader.value()
        if name.hasPrefix(SettingName.indexes) {
            guard let (table, number) = key[(1 + SettingName.indexes.utf8.count)...].names,
                let index = UInt8(number).flatMap({ TableIndex($0, value) })?.mapping({ mask(column: $0) })
            else { throw MalformedBytes() }
            name = SettingName.index(mask(table: table), index)
            value = index.value
        } else if name.hasPrefix(SettingName.types) {
            guard let types = TableTypes(value) else { throw MalformedBytes() }
            let table = String(name.dropFirst(SettingName.types.count))
            for column in types.columns { note(column.type, of: table, column.name) }
            var masked = TableTypes(types.columns.map { TypedColumn(mask(column: $0.name), $0.type) })
            masked.isLocal = types.isLocal
            name = SettingName.types + mask(table: table)
            value = masked.value ?? .null
        } else if name == SettingName.schema {
            do throws(SyncError) { value = mask(try Declaration(value)).value } catch { throw MalformedBytes() }
        } else {
            value = mask(value, setting: name)
            name = mask(setting: name)
        }
        var writer = ByteWriter()
        writer.append(value: value)
        return (StateReader.settingKey(name), writer.bytes)
    }
}

/// Masked shapes, by their numbers in the state.
private struct MaskedShapes: ShapeNumbering {
    let numbers: [RowShape: Int]

    func number(of shape: RowShape) -> Int { numbers[shape] ?? 0 }
}
