// Values replaced by others of the same type and length, so that a log can be handed to somebody who must not read it and
// still behaves as it did: the same value becomes the same mask, another becomes another. Names of tables and columns, ids
// and the columns that belong to the server stay, because addresses, requests and versions are made of them.
//
// A mask keeps casual eyes out. It is no encryption: whoever knows some of the values may guess others.

package struct Masking: Sendable {
    private let key: UInt64

    /// - Parameter key: Masks made with one key fit each other.
    package init(key: UInt64) {
        self.key = key
    }

    // MARK: Values

    package func mask(_ value: Value) -> Value {
        switch value {
        case .null, .bool: value
        case .integer(let number): .integer(mask(number))
        case .double(let number): .double(mask(number))
        case .string(let text): .string(mask(text))
        case .date(let date):
            .date(Timestamp(.init(milliseconds: date.instant.milliseconds), decimals: date.decimals, zone: date.zone))
        case .bytes(let bytes): .bytes(stream(bytes.withBytes { hash64($0, seed: key) }, bytes.count))
        case .array(let elements): .array(elements.map { mask($0) })
        case .object(let members): .object(members.map { .init($0.name, mask($0.value)) })
        }
    }

    /// A row, but for its id and the columns that belong to the server.
    package func mask(_ row: Row) -> Row {
        Row(
            row.members.map { member in
                Masking.isPlain(member.name) ? member : .init(member.name, mask(member.value))
            })
    }

    /// Whether a column is not masked.
    package static func isPlain(_ name: String) -> Bool { name == "id" || Item.systemColumns.contains(name) }

    /// As many characters; letters for letters, digits for digits, and what is neither stays.
    package func mask(_ text: String) -> String {
        var text = text
        let seed = text.withUTF8 { hash64(Bytes($0), seed: key) }
        let noise = stream(seed, text.unicodeScalars.count)
        var masked = String.UnicodeScalarView()
        for (scalar, byte) in zip(text.unicodeScalars, noise) {
            switch scalar {
            case "0"..."9": masked.append(Unicode.Scalar(0x30 + byte % 10))
            case "A"..."Z": masked.append(Unicode.Scalar(0x41 + byte % 26))
            case " ", "-", "_", ".", ",", ":", "/", "@": masked.append(scalar)
            default: masked.append(Unicode.Scalar(0x61 + byte % 26))
            }
        }
        return String(masked)
    }

    /// As many digits, and another for another.
    private func mask(_ number: Int64) -> Int64 {
        let size = number.magnitude
        var low: UInt64 = 0
        var high: UInt64 = 10
        while size >= high {
            let (next, overflow) = high.multipliedReportingOverflow(by: 10)
            low = high
            high = overflow || next > UInt64(Int64.max) ? UInt64(Int64.max) : next
            if high == UInt64(Int64.max) { break }
        }
        guard size < high else { return number }
        // A factor that shares no divisor with ten makes the turn one to one.
        let range = high - low
        let product = (size - low).multipliedFullWidth(by: 7 + 30 * (key % 1000))
        let turned = range.dividingFullWidth((product.high % range, product.low)).remainder
        let masked = Int64(low + (turned + key % range) % range)
        return number < 0 ? -masked : masked
    }

    /// The same sign and magnitude.
    private func mask(_ number: Double) -> Double {
        guard number.isFinite, number != 0 else { return number }
        let fraction: UInt64 = (1 << 52) - 1
        return Double(bitPattern: number.bitPattern & ~fraction | (number.bitPattern ^ mix(key)) & fraction)
    }

    // MARK: Texts

    /// A filter's text with the literals in quotes masked; those that are dates stay, for cursors are made of them.
    package func mask(quoted text: String) -> String {
        var parts = text.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        for index in parts.indices where index % 2 == 1 && Timestamp(parts[index]) == nil {
            parts[index] = mask(parts[index])
        }
        return parts.joined(separator: "'")
    }

    // MARK: Noise

    private func mix(_ number: UInt64) -> UInt64 {
        var number = number &+ 0x9e37_79b9_7f4a_7c15
        number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        return number ^ number >> 31
    }

    private func stream(_ seed: UInt64, _ count: Int) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = mix(state)
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }
}

// MARK: Events

extension Masking {
    /// Settings that say nothing of an app's data.
    private static let plainSettings: Set<String> = [
        SettingName.device, SettingName.place, "protocol", SettingName.ids, SettingName.retention,
    ]

    package func mask(_ event: Event) -> Event {
        var event = event
        switch event.body {
        case .opened, .undone, .purged, .indexed, .cursorReset, .sent, .discarded, .serverWorked: break
        case .declared(let declaration, let steps):
            event.body = .declared(mask(declaration), steps: steps.map { mask($0) })
        case .configured(let name, let value):
            if !Masking.plainSettings.contains(name) {
                event.body = .configured(name: name, value: value.map { mask($0) })
            }
        case .local(var transaction):
            for index in transaction.changes.indices {
                transaction.changes[index].columns = mask(transaction.changes[index].columns)
            }
            event.body = .local(transaction)
        case .page(var page):
            for index in page.rows.indices { page.rows[index].row = page.rows[index].row.map { mask($0) } }
            if let query = page.cursor?.query { page.cursor?.query = mask(quoted: query) }
            event.body = .page(page)
        case .answered(var answer):
            switch answer.outcome {
            case .done(var row):
                row.row = row.row.map { mask($0) }
                answer.outcome = .done(row)
            case .conflict(let server, let code):
                answer.outcome = .conflict(server: server.map { mask($0) }, code: code)
            case .tombstone(let row): answer.outcome = .tombstone(row.map { mask($0) })
            case .revived(var row):
                row.row = row.row.map { mask($0) }
                answer.outcome = .revived(row)
            case .parked, .notReceived, .failing, .interrupted: break
            }
            answer.message = answer.message.map { mask($0) }
            event.body = .answered(answer)
        case .resolved(var resolution):
            if let columns = resolution.change?.columns { resolution.change?.columns = mask(columns) }
            event.body = .resolved(resolution)
        case .carried(let last, let rows): event.body = .carried(through: last, rows.map { mask($0) })
        }
        return event
    }

    private func mask(_ declaration: Declaration) -> Declaration {
        let tables = declaration.tables.map { table in
            var table = table
            for index in table.columns.indices {
                table.columns[index].defaultValue = table.columns[index].defaultValue.map { mask($0) }
            }
            return table
        }
        return Declaration(version: declaration.version, isStrict: declaration.isStrict, tables: tables)
    }

    private func mask(_ step: SchemaStep) -> SchemaStep {
        guard case .changeValues(let table, let column, let changes) = step else { return step }
        let masked = changes.map { ValueChange(mask($0.old), mask($0.new)) }
        return .changeValues(table: table, column: column, masked)
    }

    private func mask(_ row: CarriedRow) -> CarriedRow {
        var row = row
        for index in row.changes.indices { row.changes[index].columns = mask(row.changes[index].columns) }
        guard var frozen = row.frozen else { return row }
        frozen.columns = mask(frozen.columns)
        frozen.ancestor = frozen.ancestor.map { mask($0) }
        frozen.server = frozen.server.map { mask($0) }
        frozen.message = frozen.message.map { mask($0) }
        row.frozen = frozen
        return row
    }
}
