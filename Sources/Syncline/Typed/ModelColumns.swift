// Finds out which columns a model has, by its coding keys and by running its decoder on made-up values. So a filter
// on a column that the model lacks is an error instead of a filter that matches no row. If the probe could not
// finish, the columns are completed from a real row; until there is one, no name is refused.

import SynclineCore
import SynclineGround

struct ModelColumns: Sendable {
    /// For each type of coding keys that the model uses, whether it has a name.
    private var keys: [@Sendable (String) -> Bool] = []
    /// The names seen so far.
    private(set) var names: Set<String> = []
    /// Whether all columns are known.
    private(set) var isWhole = false

    /// Runs the model's decoder on made-up values.
    init<Model: Codable>(of type: Model.Type) {
        let notes = ProbeNotes()
        let model = try? Model(from: Probe(notes: notes, depth: 0))
        keys = notes.keys
        names = notes.names
        if let model { learn(from: model) }
    }

    /// Adds the columns of a model value.
    mutating func learn(from model: some Encodable) {
        guard case .object(let members)? = try? ValueEncoder.encode(model) else { return }
        names.formUnion(members.map(\.name))
        isWhole = true
    }

    func has(_ name: String) -> Bool {
        names.contains(name) || keys.contains { $0(name) }
    }

    // MARK: Cached columns

    private static let known = Mutex<[ObjectIdentifier: ModelColumns]>([:])

    /// Returns the known columns of a model type; `example` returns a model of a real row, if there is one.
    static func of<Model: Codable>(_ type: Model.Type, example: () -> Model?) -> ModelColumns {
        var columns = known.withLock { $0[ObjectIdentifier(type)] } ?? ModelColumns(of: type)
        if !columns.isWhole, let model = example() { columns.learn(from: model) }
        known.withLock { $0[ObjectIdentifier(type)] = columns }
        return columns
    }
}
