// The public interface is recorded in `docs/interface`, so that no change of it is unnoticed. After an intended
// change: SYNCLINE_UPDATE_DOCS=1 swift test --filter PublicInterfaceTests

import ChildProcesses
import Foundation
import Testing

/// The part of a symbol graph that lists public declarations.
private struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Fragment: Decodable { var spelling: String }
        struct Comment: Decodable {}

        var pathComponents: [String]
        var declarationFragments: [Fragment]
        var docComment: Comment?

        /// Its owner, and its declaration on one line.
        var line: String {
            let declaration = declarationFragments.map(\.spelling).joined()
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
                // Whether a type's own name is qualified within it depends on how the module was built.
                .replacing(/\b(\w+)\.\1\b/) { $0.1 }
            return (pathComponents.dropLast() + [declaration]).joined(separator: ": ")
        }
    }

    var symbols: [Symbol]
}

@Suite struct PublicInterfaceTests {
    private let libraries = ["SegmentLog", "Syncline", "SynclineSQL", "SynclineTesting"]

    private func symbols() throws -> [String: [SymbolGraph.Symbol]] {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let script = Document.root.appending(path: "tools/symbols").path
        let extraction = try ChildProcess.run(
            script, [try ChildProcess.builds.path, scratch.url.path], in: Document.root)
        try #require(extraction.exit == 0, "\(extraction.output)")
        var symbols: [String: [SymbolGraph.Symbol]] = [:]
        for library in libraries {
            let folder = scratch.url.appending(path: library)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let graph = try Data(contentsOf: folder.appending(path: name))
                symbols[library, default: []] += try JSONDecoder().decode(SymbolGraph.self, from: graph).symbols
            }
        }
        return symbols
    }

    @Test func `the public interface is recorded, and every part of it is documented`() throws {
        let symbols = try symbols()
        for library in libraries {
            let page = Document.root.appending(path: "docs/interface/\(library).txt")
            let offered = symbols[library, default: []]
            #expect(offered.count > 50, "\(library) offers next to nothing")
            for symbol in offered where symbol.docComment == nil {
                Issue.record("\(library) does not explain \(symbol.line)")
            }
            let text = offered.map(\.line).sorted().joined(separator: "\n") + "\n"
            if ProcessInfo.processInfo.environment["SYNCLINE_UPDATE_DOCS"] != nil {
                try text.write(to: page, atomically: true, encoding: .utf8)
            }
            let known = Set(try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n"))
            let present = Set(text.components(separatedBy: "\n"))
            #expect(present.subtracting(known).sorted() == [], "\(library) offers more")
            #expect(known.subtracting(present).sorted() == [], "\(library) offers less")
        }
    }
}
