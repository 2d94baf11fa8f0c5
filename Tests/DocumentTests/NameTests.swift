// What documents call by name is there: files, and suites of tests.

import Foundation
import Testing

@Suite struct NameTests {
    /// The paths of all Swift files of the tree.
    private func files() -> [String] {
        ["Sources", "tools", "Tests"].flatMap { folder in
            let walker = FileManager.default.enumerator(atPath: Document.root.appending(path: folder).path)
            var paths: [String] = []
            while let name = walker?.nextObject() as? String {
                if name.hasSuffix(".swift") { paths.append("\(folder)/\(name)") }
            }
            return paths
        }
    }

    @Test func `files and suites that documents name are there`() throws {
        let files = files()
        let suites = try Set(
            files.filter { $0.hasPrefix("Tests/") }.flatMap { path in
                try Document(path).text.matches(of: /\bstruct (\w+Tests)\b/).map { String($0.1) }
            })
        let folders = Set(files.flatMap { $0.split(separator: "/").dropLast().map(String.init) })
        var count = 0
        for path in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/TESTING.md", "docs/FORMAT.md"] {
            let document = try Document(path)
            for match in document.text.matches(of: /`([\w\/+.-]+\.swift)`/) {
                count += 1
                let isThere = files.contains { $0 == match.1 || $0.hasSuffix("/" + match.1) }
                #expect(isThere, "\(path) names \(match.1)")
            }
            for match in document.text.matches(of: /\b([A-Z]\w+Tests)\b/) {
                count += 1
                let name = String(match.1)
                let isThere = suites.contains(name) || folders.contains(name)
                #expect(isThere, "\(path) names \(name)")
            }
        }
        #expect(count > 50)
    }
}
