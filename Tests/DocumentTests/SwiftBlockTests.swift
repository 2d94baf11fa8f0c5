// Every Swift block of a document is compiled code: each of its paragraphs is found unchanged in the snippets, in
// the sample app, or in the consumer package. The snippets that need only a directory are also run.

import ChildProcesses
import Foundation
import Testing

@Suite struct SwiftBlockTests {
    /// The lines of all code that documents may quote.
    private func sources() throws -> [[String]] {
        try lines(in: ["Tests/Snippets", "tools/todo", "tools/field", "Tests/FieldAppTests", "Tests/Consumer"])
    }

    private func lines(in folders: [String]) throws -> [[String]] {
        try Document.files(in: folders, ending: ".swift").map { try Document($0).text.components(separatedBy: "\n") }
    }

    /// Returns whether lines follow each other in a file, all with the same extra indentation.
    private func stands(_ lines: ArraySlice<String>, in source: [String]) -> Bool {
        guard let first = lines.first, source.count >= lines.count else { return false }
        for start in 0...(source.count - lines.count) where source[start].hasSuffix(first) {
            let margin = source[start].dropLast(first.count)
            guard margin.allSatisfy({ $0 == " " }) else { continue }
            if zip(lines, source[start...]).allSatisfy({ margin + $0 == $1 }) { return true }
        }
        return false
    }

    @Test func `every Swift block is code that is compiled`() throws {
        let sources = try sources()
        var count = 0
        for document in try Document.all() {
            for block in document.blocks where block.language == "swift" {
                for paragraph in block.lines.split(separator: "") {
                    count += 1
                    let isThere = sources.contains { stands(paragraph, in: $0) }
                    let text = paragraph.joined(separator: "\n")
                    #expect(isThere, "\(document.path):\(block.line) shows what is not compiled:\n\(text)")
                }
            }
        }
        #expect(count > 20)
    }

    @Test func `the tutorial shows each file of its app, and nothing but the app and its tests`() throws {
        let (app, tests) = (try lines(in: ["tools/field"]), try lines(in: ["Tests/FieldAppTests"]))
        let pages = try Document.all().filter { $0.path.contains("/Field-app-") }
        #expect(pages.count == 8)
        var shown: Set<Int> = []
        for page in pages {
            for block in page.blocks where block.language == "swift" {
                for paragraph in block.lines.split(separator: "") {
                    let files = app.indices.filter { stands(paragraph, in: app[$0]) }
                    let isThere = !files.isEmpty || tests.contains { stands(paragraph, in: $0) }
                    let text = paragraph.joined(separator: "\n")
                    #expect(isThere, "\(page.path):\(block.line) is not the app's code:\n\(text)")
                    shown.formUnion(files)
                }
            }
        }
        for index in app.indices where !shown.contains(index) { Issue.record("not shown: \(app[index][0])") }
    }

    @Test func `snippets do what their pages say`() throws {
        let program = try ChildProcess.builds.appending(path: "snippets").path
        let list = try ChildProcess.run(program, in: Document.root)
        let names = list.output.split(separator: "\n").map(String.init)
        #expect(names.count > 5)
        for name in names {
            let scratch = try ScratchDirectory()
            defer { withExtendedLifetime(scratch) {} }
            let run = try ChildProcess.run(program, [name], in: scratch.url, adding: ["SWIFT_BACKTRACE": "enable=no"])
            #expect(run.exit == 0, "\(name): \(run.output)")
        }
    }
}
