// Reads the async functions of public types from `docs/interface`.

import Foundation

enum AsyncInterface {
    /// Returns the functions as `SyncTable.update(_:from:)`.
    static func functions(of types: [String]) throws -> Set<String> {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/interface/Syncline.txt"), encoding: .utf8)
        var functions: Set<String> = []
        for line in page.split(separator: "\n") {
            guard let match = line.wholeMatch(of: /(\w+): (?:@?\w+ )*func (\w+)(?:<[^>]+>)?\((.*)\) async .*/) else {
                continue
            }
            let (type, name) = (String(match.1), String(match.2))
            guard types.contains(type) else { continue }
            functions.insert("\(type).\(name)(\(labels(of: match.3)))")
        }
        return functions
    }

    /// Returns the argument labels of a list of parameters.
    private static func labels(of parameters: Substring) -> String {
        var names = parameters.replacing("->", with: "")
        while let nested = names.firstMatch(of: /[(\[{<][^()\[\]{}<>]*[)\]}>]/) { names.removeSubrange(nested.range) }
        return names.split(separator: ",").compactMap { parameter in
            parameter.split(separator: " ").first.map { $0.hasSuffix(":") ? String($0) : $0 + ":" }
        }.joined()
    }
}
