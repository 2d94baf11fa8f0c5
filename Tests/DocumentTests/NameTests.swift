// Files and test suites that documents name exist.

import Foundation
import Testing

@Suite struct NameTests {
    @Test func `files and suites that documents name are there`() throws {
        let files = Document.files(in: ["Sources", "tools", "Tests"], ending: ".swift")
        let suites = try Set(
            files.filter { $0.hasPrefix("Tests/") }.flatMap { path in
                try Document(path).text.matches(of: /\bstruct (\w+Tests)\b/).map { String($0.1) }
            })
        let folders = Set(files.flatMap { $0.split(separator: "/").dropLast().map(String.init) })
        var count = 0
        for path in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/TESTING.md", "docs/FORMAT.md", "docs/STABILITY.md"] {
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
