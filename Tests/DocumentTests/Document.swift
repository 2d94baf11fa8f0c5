// The documents of the tree, and what stands in their blocks.

import Foundation

/// A document, by its path from the root of the tree.
struct Document: Sendable {
    /// A fenced block.
    struct Block: Sendable {
        /// The word behind the fence; empty where there is none.
        var language: String
        var lines: [String]
        /// The line of the document it begins at, from 1.
        var line: Int
    }

    let path: String
    let text: String

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: Document.root.appending(path: path), encoding: .utf8)
    }

    /// All of them: those at the top, those in `docs`, and the pages of the libraries.
    static func all() throws -> [Document] {
        let files = FileManager.default
        var paths = try files.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".md") }
        for folder in ["docs", "Sources", "Benchmarks"] {
            let walker = files.enumerator(atPath: root.appending(path: folder).path)
            while let name = walker?.nextObject() as? String {
                if name.hasSuffix(".md"), !name.contains(".build/") { paths.append("\(folder)/\(name)") }
            }
        }
        return try paths.sorted().map(Document.init)
    }

    var blocks: [Block] { parts.blocks }

    /// The lines that stand in no block.
    var prose: [String] { parts.prose }

    private var parts: (blocks: [Block], prose: [String]) {
        var parts: (blocks: [Block], prose: [String]) = ([], [])
        var open: Block?
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    parts.blocks.append(block)
                    open = nil
                } else {
                    open = Block(language: String(line.dropFirst(3)), lines: [], line: index + 1)
                }
            } else if open != nil {
                open?.lines.append(line)
            } else {
                parts.prose.append(line)
            }
        }
        return parts
    }
}
