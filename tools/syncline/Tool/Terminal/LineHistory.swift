// The lines that the user typed in earlier sessions, in a file that only the user can read. Lines with a secret and
// lines that begin with a space are not kept. It is not an error if the history can't be read or written.

import CLibrary
import SegmentLog

struct LineHistory {
    private let folder: String?
    private let name: String
    /// The same number as in the line editor.
    static let limit = LineEditor.historyLimit

    /// - Parameter name: The name of the history: one for each prompt.
    init(_ name: String, _ environment: Environment) {
        self.name = name
        let state = environment["XDG_STATE_HOME"] ?? environment["HOME"].map { $0 + "/.local/state" }
        folder = state.map { $0 + "/syncline" }
    }

    private var file: String? { folder.map { $0 + "/" + name } }

    /// The newest lines, oldest first. A file with twice as many is rewritten with only these.
    func read() -> [String] {
        guard let folder, let file,
            let bytes = try? WholeFile(name, in: POSIXStorage(directory: folder)).read()
        else { return [] }
        let all = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let newest = Array(all.suffix(LineHistory.limit))
        if all.count > 2 * LineHistory.limit {
            let draft = file + ".new"
            if write(newest, to: draft, O_TRUNC) { rename(draft, file) }
        }
        return newest
    }

    /// Adds a line.
    func add(_ line: String) {
        guard let folder, let file, LineHistory.keeps(line) else { return }
        // Creates each missing folder above it.
        for end in folder.indices where end > folder.startIndex && folder[end] == "/" {
            mkdir(String(folder[..<end]), 0o700)
        }
        mkdir(folder, 0o700)
        _ = write([line], to: file, O_APPEND)
    }

    static func keeps(_ line: String) -> Bool {
        guard let first = line.first, first != " ", !line.contains("\n") else { return false }
        let words = ShellWords.split(line)
        return !(words.contains("config") && words.contains(where: Setting.secrets.contains))
    }

    private func write(_ lines: [String], to file: String, _ mode: Int32) -> Bool {
        let descriptor = open(file, O_WRONLY | O_CREAT | mode, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Also for a file that existed with other permissions.
        guard fchmod(descriptor, 0o600) == 0 else { return false }
        let sink = DescriptorSink(descriptor)
        do {
            try sink.write(lines.map { $0 + "\n" }.joined())
            try sink.flush()
        } catch {
            return false
        }
        return true
    }
}
