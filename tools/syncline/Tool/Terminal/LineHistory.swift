// The lines a person typed in earlier sessions, in a file that nobody else may read. Lines with a secret are not kept, nor
// those that begin with a space. A history that can't be read or written is none: it is no reason to stop.

import SegmentLog

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct LineHistory {
    private let folder: String?
    private let name: String
    /// As many as the line editor keeps.
    static let limit = LineEditor.historyLimit

    /// - Parameter name: Whose lines they are: a prompt's own.
    init(_ name: String, _ environment: Environment) {
        self.name = name
        let state = environment["XDG_STATE_HOME"] ?? environment["HOME"].map { $0 + "/.local/state" }
        folder = state.map { $0 + "/syncline" }
    }

    private var file: String? { folder.map { $0 + "/" + name } }

    /// The newest lines, oldest first. A file that has grown to twice as many is written anew with those.
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

    /// Keeps a line.
    func add(_ line: String) {
        guard let folder, let file, LineHistory.keeps(line) else { return }
        // Each folder above it that is not there yet.
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
        // Also of a file that was there with other rights.
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
