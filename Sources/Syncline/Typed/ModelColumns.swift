// Which columns a model has. Its coding keys are asked for a name, and its decoder is run on made-up values to see which
// keys it asks for. So a filter over a column that the model lacks is an error, not a filter that no row matches. A probe
// that did not get to the end is not taken for the whole: a real row completes it, and until there is one no name is refused.

import Synchronization
import SynclineCore

struct ModelColumns: Sendable {
    /// Asks each type of coding keys that the model uses for a name.
    private var keys: [@Sendable (String) -> Bool] = []
    /// Names that were seen.
    private(set) var names: Set<String> = []
    /// Whether nothing can be missing.
    private(set) var isWhole = false

    /// Runs the model's decoder on made-up values.
    init<Model: Codable>(of type: Model.Type) {
        let notes = ProbeNotes()
        let model = try? Model(from: Probe(notes: notes, depth: 0))
        keys = notes.keys
        names = notes.names
        if let model { learn(from: model) }
    }

    /// Learns the columns of a model that is there.
    mutating func learn(from model: some Encodable) {
        guard case .object(let members)? = try? ValueEncoder.encode(model) else { return }
        names.formUnion(members.map(\.name))
        isWhole = true
    }

    func has(_ name: String) -> Bool {
        names.contains(name) || keys.contains { $0(name) }
    }

    // MARK: What is known already

    private static let known = Mutex<[ObjectIdentifier: ModelColumns]>([:])

    /// The columns of a model as far as they are known; `example` gives the model of a real row if there is one.
    static func of<Model: Codable>(_ type: Model.Type, example: () -> Model?) -> ModelColumns {
        var columns = known.withLock { $0[ObjectIdentifier(type)] } ?? ModelColumns(of: type)
        if !columns.isWhole, let model = example() { columns.learn(from: model) }
        known.withLock { $0[ObjectIdentifier(type)] = columns }
        return columns
    }
}
