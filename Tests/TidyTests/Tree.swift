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

    /// The files below some folders that end with a name's end, sorted.
    static func files(in folders: [String], ending: String) throws -> [TreeFile] {
        var files: [TreeFile] = []
        for folder in folders {
            let walker = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let name = walker?.nextObject() as? String {
                guard name.hasSuffix(ending), !name.contains(".build/") else { continue }
                let path = "\(folder)/\(name)"
                files.append(
                    TreeFile(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8)))
            }
        }
        return files.sorted { $0.path < $1.path }
    }

    /// The documents in the root.
    static func documents() throws -> [TreeFile] {
        try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".md") }.sorted()
            .map { TreeFile(path: $0, text: try String(contentsOf: root.appending(path: $0), encoding: .utf8)) }
    }
}
