// Finds the columns of a model. Its decoder runs on made-up values: once to learn all coding keys, then once for each
// key with another value for that key alone. A stored property belongs to the column whose value it shows in all of
// these models. So no macro is needed, and the coding keys can have any names.

import SynclineCore
import SynclineGround

struct ModelColumns<Model: Codable & Sendable>: Sendable {
    /// A model that was made up with another value for one column.
    private struct Variation: Sendable {
        var column: String
        var model: Model
        /// The other value as the model encodes it; nil if that does not differ.
        var value: Value?
    }

    /// For each type of coding keys that the model uses, whether it has a name.
    private let keys: [@Sendable (String) -> Bool]
    /// The names of the columns seen.
    let names: Set<String>
    /// The types of the columns that have one, by name.
    let types: [TypedColumn]
    /// Whether all columns are known, because the model could be made up.
    let isWhole: Bool
    private let first: (model: Model, values: [String: Value])?
    private let variations: [Variation]

    init() {
        let notes = ProbeNotes()
        let model = try? Model(from: Probe(notes: notes))
        keys = notes.keys
        guard let model, let values = ModelColumns.values(of: model) else {
            (names, types, isWhole, first, variations) = (notes.names, notes.columns, false, nil, [])
            return
        }
        names = notes.names.union(values.keys)
        isWhole = true
        first = (model, values)
        variations = names.sorted().compactMap { name in
            guard let varied = try? Model(from: Probe(varying: [name], notes: notes)) else { return nil }
            let value = ModelColumns.values(of: varied)?[name]
            return Variation(column: name, model: varied, value: value == values[name] ?? .null ? nil : value)
        }
        types = notes.columns
    }

    private static func values(of model: Model) -> [String: Value]? {
        guard case .object(let members)? = try? ValueEncoder.encode(model) else { return nil }
        return Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    }

    // MARK: Names

    /// Returns the column of a property.
    func name(of property: KeyPath<Model, some Encodable>) -> Result<String, SyncError> {
        let path = StoredPath<AnyKeyPath>(property)
        if let known = knownProperties.withLock({ $0[path] }) { return known }
        let name = find(property)
        knownProperties.withLock { $0[path] = name }
        return name
    }

    /// Returns the member that a property of a nested value has in its object.
    func member(_ property: KeyPath<Model, some Encodable>) -> Result<String, SyncError> {
        // A value that is not an object has no members.
        first == nil ? .failure(ModelColumns.unknown(property)) : name(of: property)
    }

    private func find(_ property: KeyPath<Model, some Encodable>) -> Result<String, SyncError> {
        let printed = printedPath(of: property)
        // The code of a computed property is not run: made-up values may not suit it, and it may show the value of a
        // column only sometimes. Only stored properties have an offset or print their name.
        let isStored = MemoryLayout<Model>.offset(of: property) != nil || printed != nil
        if isStored, let name = shownColumn(of: property) { return .success(name) }
        if isStored, let path = shownMember(of: property) { return .success(path.joined(separator: "/")) }
        if let printed, printed.count == 1, isUnprobed(printed[0]) { return .success(printed[0]) }
        return .failure(ModelColumns.unknown(property))
    }

    private static func unknown(_ property: AnyKeyPath) -> SyncError {
        SyncError(
            .unsupportedPredicate, "no column was found for \(property)",
            hint: "Use a coded property that is stored, without a wrapper or observers, and make enums "
                + "CaseIterable; or name the column: `$0.named(\"name\")`.")
    }

    /// Returns the column whose value a property shows in all made-up models.
    private func shownColumn(of property: KeyPath<Model, some Encodable>) -> String? {
        guard let first else { return nil }
        let value = ModelColumns.encoded(first.model[keyPath: property])
        let changes = variations.filter { ModelColumns.encoded($0.model[keyPath: property]) != value }
        guard changes.count == 1, let change = changes.first, let other = change.value,
            value == first.values[change.column] ?? .null,
            ModelColumns.encoded(change.model[keyPath: property]) == other
        else { return nil }
        return change.column
    }

    /// Returns the member of a nested value that a property shows, with its column.
    private func shownMember(of property: KeyPath<Model, some Encodable>) -> [String]? {
        guard let first else { return nil }
        let value = ModelColumns.encoded(first.model[keyPath: property])
        let changes = variations.filter { ModelColumns.encoded($0.model[keyPath: property]) != value }
        guard changes.count == 1, let change = changes.first else { return nil }
        return shownMember(of: property, below: [change.column], change.value)
    }

    /// - Parameter varied: The value at the path if all of it is varied.
    private func shownMember(
        of property: KeyPath<Model, some Encodable>, below path: [String], _ varied: Value?
    ) -> [String]? {
        // The path to no member, so that an optional value is there.
        guard case .object(let members)? = varied, path.count < 8, let plain = ModelColumns.made(varying: path + [""])
        else { return nil }
        let value = ModelColumns.encoded(plain[keyPath: property])
        var found: (path: [String], model: Model, member: Value)?
        for member in members {
            let path = path + [member.name]
            guard let model = ModelColumns.made(varying: path),
                ModelColumns.encoded(model[keyPath: property]) != value
            else { continue }
            if found != nil { return nil }
            found = (path, model, member.value)
        }
        guard let found, case .object(let columns)? = try? ValueEncoder.encode(found.model) else { return nil }
        let shown = found.path.reduce(Value.object(columns)) { $0[member: $1] ?? .null }
        if ModelColumns.encoded(found.model[keyPath: property]) == shown { return found.path }
        return shownMember(of: property, below: found.path, found.member)
    }

    private static func made(varying path: [String]) -> Model? {
        try? Model(from: Probe(varying: path, notes: ProbeNotes()))
    }

    private static func encoded(_ value: some Encodable) -> Value? { try? ValueEncoder.encode(value) }

    /// Returns the names of a stored property and of those that it is nested in, which their coding keys have too unless
    /// the model says otherwise.
    private func printedPath(of property: AnyKeyPath) -> [String]? {
        let (text, prefix) = ("\(property)", "\\\(Model.self).")
        guard text.hasPrefix(prefix) else { return nil }
        let names = text.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
            .map { $0.last == "?" ? $0.dropLast() : $0 }
        let isName = { (name: Substring) in
            !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        return names.allSatisfy(isName) ? names.map { String($0) } : nil
    }

    /// Whether a column has this name of which the made-up models show nothing.
    private func isUnprobed(_ name: String) -> Bool {
        !variations.contains { $0.column == name && $0.value != nil } && has(name)
    }

    private func has(_ name: String) -> Bool { names.contains(name) || keys.contains { $0(name) } }

    /// Returns a name, or the error that the model has no such column.
    func checked(_ name: String) -> Result<String, SyncError> {
        let column = name.prefix { $0 != "/" }
        if !isWhole || has(String(column)) || column == "id" || Item.systemColumns.contains(String(column)) {
            return .success(name)
        }
        let all = names.union(Item.systemColumns).union(["id"]).sorted().joined(separator: ", ")
        return .failure(
            SyncError(.unsupportedPredicate, "\(Model.self) has no column \"\(column)\"", hint: "It has: \(all)."))
    }

    // MARK: Cached columns

    /// The columns of the model, which are found once in a process.
    static var shared: ModelColumns {
        if let known = knownModels.withLock({ $0[ObjectIdentifier(Model.self)] }) as? ModelColumns { return known }
        let columns = ModelColumns()
        knownModels.withLock { $0[ObjectIdentifier(Model.self)] = columns }
        return columns
    }
}

private let knownModels = Mutex<[ObjectIdentifier: any Sendable]>([:])
private let knownProperties = Mutex<[StoredPath<AnyKeyPath>: Result<String, SyncError>]>([:])

/// A path of which only stored properties are used, so that it captures nothing. In the language mode of Swift 5 a path does
/// not say that it can be sent.
struct StoredPath<Path: AnyKeyPath>: Hashable, @unchecked Sendable {
    let path: Path

    init(_ path: Path) { self.path = path }
}

extension ProbeNotes {
    /// The columns of the app whose type is known.
    fileprivate var columns: [TypedColumn] {
        types.filter { $0.value != .any && $0.key != "id" && !Item.systemColumns.contains($0.key) }
            .sorted { $0.key < $1.key }.map { TypedColumn($0.key, $0.value) }
    }
}
