// A masked report of the store, from which questions are answered instead. It is made again when the store has changed.

import SegmentLog
import Syncline

actor MaskedStore {
    /// A report, and what is not in it.
    struct Copy: Sendable {
        var path: String
        var notes: [String]
        var reports: ReportShelf
        fileprivate var folder: ScratchFolder
    }

    private var copy: (copy: Copy, identity: LogIdentity, last: UInt64)?

    /// Returns a report of the store as it is now.
    /// - Parameter words: The words that name the store.
    func copy(with tool: QuietTool, _ words: [String]) async throws -> Copy {
        let state = try? MaskedStore.state(tool.environment, words)
        if let copy, let state, copy.identity == state.identity, copy.last == state.last { return copy.copy }
        copy = nil
        let folder = try ScratchFolder()
        let path = folder.path + "/masked.jsonl"
        let answer = await tool.run(words + ["report", "--output", path], limit: 1 << 20, keeping: 1)
        let result = answer.values.first ?? .null
        if let error = result["error"] {
            throw ToolError(
                error["code"]?.string ?? "internal", error["message"]?.string ?? "the store can't be masked",
                hint: error["hint"]?.string)
        }
        var notes: [String] = []
        if answer.exit == .no { notes.append("! the store is damaged; `verify` names the places") }
        if result["waiting"]?.isPositive == true {
            notes.append("! changes of other processes wait, and are not in this answer; `pending` lists them")
        }
        let made = Copy(path: path, notes: notes, reports: ReportShelf(), folder: folder)
        if let state, notes.isEmpty { copy = (made, state.identity, state.last) }
        return made
    }

    /// What tells that nothing was written since.
    private static func state(
        _ environment: Environment, _ words: [String]
    ) throws -> (identity: LogIdentity, last: UInt64)? {
        guard case .run(let arguments) = try ArgumentParser.parse(words + ["status"]) else { return nil }
        let storage = POSIXStorage(directory: try StoreLocation.find(arguments, environment).path)
        guard let identity = try LogCatalog(storage).head?.identity else { return nil }
        return (identity, try EventWalk(storage).last)
    }
}
