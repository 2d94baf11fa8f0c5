// The documents of the repository, and their code blocks.

import Foundation

/// A document, by its path from the root of the repository.
struct Document: Sendable {
    /// A fenced block.
    struct Block: Sendable {
        /// The language after the fence; empty if there is none.
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

    /// All documents: those at the top, llms.txt, those in `docs`, and the pages of the libraries.
    static func all() throws -> [Document] {
        let top = try FileManager.default.contentsOfDirectory(atPath: root.path).filter {
            $0.hasSuffix(".md") || $0 == "llms.txt"
        }
        return try (top + files(in: ["docs", "Sources", "Benchmarks"], ending: ".md")).sorted().map(Document.init)
    }

    /// Returns the paths of the files below some folders that have a suffix.
    static func files(in folders: [String], ending: String) -> [String] {
        folders.flatMap { folder in
            let walker = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            var paths: [String] = []
            while let name = walker?.nextObject() as? String {
                if name.hasSuffix(ending), !name.contains(".build/") { paths.append("\(folder)/\(name)") }
            }
            return paths
        }
    }

    var blocks: [Block] { parts.blocks }

    /// The lines outside of blocks.
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
