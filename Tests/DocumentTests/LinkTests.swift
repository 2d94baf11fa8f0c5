// Links in documents lead to an existing file and heading.

import Foundation
import Testing

@Suite struct LinkTests {
    /// Returns the anchor of a heading: its text in lower case without punctuation, with `-` for each space.
    private func anchors(of document: Document) -> Set<String> {
        var anchors: Set<String> = []
        for line in document.prose where line.hasPrefix("#") {
            let heading = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
            let kept = heading.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            anchors.insert(kept.replacing(" ", with: "-"))
        }
        return anchors
    }

    @Test func `links lead to files and headings that are there`() throws {
        let documents = try Document.all()
        var anchors: [String: Set<String>] = [:]
        for document in documents { anchors[document.path] = self.anchors(of: document) }
        var count = 0
        for document in documents {
            let folder = URL(filePath: "/" + document.path).deletingLastPathComponent()
            for match in document.prose.joined(separator: "\n").matches(of: /\]\(([^)#\s]*)(?:#([^)\s]*))?\)/) {
                let (target, anchor) = (String(match.1), match.2.map(String.init))
                if target.contains("://") || target.hasPrefix("mailto:") { continue }
                count += 1
                let path =
                    target.isEmpty
                    ? document.path : String(folder.appending(path: target).standardized.path.dropFirst())
                let isThere = FileManager.default.fileExists(atPath: Document.root.appending(path: path).path)
                #expect(isThere, "\(document.path) links to \(target)")
                if let anchor {
                    #expect(anchors[path]?.contains(anchor) == true, "\(document.path) links to \(target)#\(anchor)")
                }
            }
        }
        #expect(count > 100)
    }
}
