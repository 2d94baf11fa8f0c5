// The order of a module's folders, as it is drawn: a folder names types and members of folders on lower lines only. So no
// folders need each other in a circle, and a reader can begin at the bottom.

/// A drawn order, and what breaks it.
struct FolderOrder {
    typealias File = (folder: String, name: String, words: SourceWords)

    /// Members of the standard library, of which a module may have namesakes in one of its folders.
    private static let common: Set<String> = [
        "allocate", "hasPrefix", "hasSuffix", "indices", "joined", "max", "min", "split",
    ]

    /// From the highest line to the lowest; the folders of a line do not know each other.
    let lines: [[String]]

    /// Reads a picture: folders stand at the beginning of a line with a dot between them, and two spaces end them.
    init(picture: some Sequence<some StringProtocol>) {
        lines = picture.map { line in
            let drawn = line.split(separator: "  ", maxSplits: 1, omittingEmptySubsequences: false)[0]
            return drawn.split(separator: " · ").map { String($0) }
        }
    }

    /// The picture that a document draws under a heading; nil if it draws none.
    init?(under heading: String, in document: String) {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        guard let place = lines.firstIndex(of: Substring(heading)) else { return nil }
        let section = lines[(place + 1)...].prefix { !$0.hasPrefix("#") }
        guard let start = section.firstIndex(of: "```"), let end = section[(start + 1)...].firstIndex(of: "```") else {
            return nil
        }
        self.init(picture: section[(start + 1)..<end])
    }

    /// What is wrong, in sentences. Members that have a name of `elsewhere` may be those of other modules.
    func faults(of files: [File], elsewhere: Set<String> = []) -> [String] {
        let drawn = Set(lines.joined())
        let folders = Set(files.map(\.folder))
        var faults = folders.subtracting(drawn).map { "the picture lacks \($0)" }
        faults += drawn.subtracting(folders).map { "the picture shows \($0), which is not there" }
        return (faults + typeFaults(files) + memberFaults(files, elsewhere)).sorted()
    }

    private func typeFaults(_ files: [File]) -> [String] {
        var home: [String: String] = [:]
        for file in files {
            for type in file.words.declared { home[type] = file.folder }
        }
        return files.flatMap { file -> [String] in
            let others = file.words.used.subtracting(file.words.own).subtracting(file.words.declared)
            return others.compactMap { type -> String? in
                guard let other = home[type], !reaches(other, file.folder) else { return nil }
                return "\(file.folder)/\(file.name) names \(type) of \(other), which is not below \(file.folder)"
            }
        }
    }

    /// A member is known by its name only, so it is fine if any folder that may be used has one of that name.
    private func memberFaults(_ files: [File], _ elsewhere: Set<String>) -> [String] {
        var homes: [String: Set<String>] = [:]
        for file in files {
            for name in file.words.members.declared.union(file.words.members.others) {
                homes[name, default: []].insert(file.folder)
            }
        }
        let known = files.reduce(into: Set<String>()) { $0.formUnion($1.words.members.declared) }
            .subtracting(elsewhere).subtracting(FolderOrder.common)
        return files.flatMap { file -> [String] in
            file.words.members.used.intersection(known).compactMap { name -> String? in
                guard let others = homes[name], !others.contains(where: { reaches($0, file.folder) }) else {
                    return nil
                }
                let home = others.sorted().joined(separator: " or ")
                return "\(file.folder)/\(file.name) uses \(name) of \(home), which is not below \(file.folder)"
            }
        }
    }

    /// Whether a folder may use what another has.
    private func reaches(_ other: String, _ folder: String) -> Bool { other == folder || isBelow(other, folder) }

    func isBelow(_ lower: String, _ upper: String) -> Bool {
        guard let low = lines.firstIndex(where: { $0.contains(lower) }),
            let high = lines.firstIndex(where: { $0.contains(upper) })
        else { return true }
        return low > high
    }
}
