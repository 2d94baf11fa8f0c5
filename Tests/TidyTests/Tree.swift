// The files of the tree, as tests of the tree itself read them.

import Foundation

/// A file of the tree, by its path from the root.
struct TreeFile {
    let path: String
    let text: String

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
}

enum Tree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The files below some folders whose names have one of these endings, sorted; with scripts, if wanted.
    static func files(in folders: [String], ending: String..., scripts: Bool = false) throws -> [TreeFile] {
        var files: [TreeFile] = []
        for folder in folders {
            let walker = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let name = walker?.nextObject() as? String {
                let path = "\(folder)/\(name)"
                guard !name.contains(".build/"),
                    ending.contains(where: { name.hasSuffix($0) }) || (scripts && isScript(path))
                else { continue }
                files.append(
                    TreeFile(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8)))
            }
        }
        return files.sorted { $0.path < $1.path }
    }

    /// Whether a file without an extension says which program runs it.
    private static func isScript(_ path: String) -> Bool {
        let url = root.appending(path: path)
        return url.pathExtension.isEmpty && (try? Data(contentsOf: url))?.starts(with: "#!".utf8) == true
    }

    /// The documents in the root.
    static func documents() throws -> [TreeFile] {
        try FileManager.default.contentsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix(".md") || $0 == "llms.txt" }.sorted()
            .map { TreeFile(path: $0, text: try String(contentsOf: root.appending(path: $0), encoding: .utf8)) }
    }
}
