// The order of a module's folders, as it is drawn: a folder names types of folders on lower lines only. So no folders need
// each other in a circle, and a reader can begin at the bottom.

/// A drawn order, and what breaks it.
struct FolderOrder {
    /// From the highest line to the lowest; the folders of a line do not know each other.
    let lines: [[String]]

    /// Reads a picture: folders stand at the beginning of a line with a dot between them, and two spaces end them.
    init(picture: some Sequence<some StringProtocol>) {
        lines = picture.map { line in
            let drawn = line.split(separator: "  ", maxSplits: 1, omittingEmptySubsequences: false)[0]
            return drawn.split(separator: " · ").map { String($0) }
        }
    }

    /// The picture that a document draws under the heading of a module; nil if it draws none.
    init?(of module: String, in document: String) {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        guard let heading = lines.firstIndex(of: "### Inside \(module)") else { return nil }
        let section = lines[(heading + 1)...].prefix { !$0.hasPrefix("#") }
        guard let start = section.firstIndex(of: "```"), let end = section[(start + 1)...].firstIndex(of: "```") else {
            return nil
        }
        self.init(picture: section[(start + 1)..<end])
    }

    /// What is wrong, in sentences. The files are given by their folder and name.
    func faults(of files: [(folder: String, name: String, text: String)]) -> [String] {
        let words = files.map { SourceWords($0.text) }
        var home: [String: String] = [:]
        for (file, words) in zip(files, words) {
            for type in words.declared { home[type] = file.folder }
        }
        let drawn = Set(lines.joined())
        let folders = Set(files.map(\.folder))
        var faults = folders.subtracting(drawn).map { "the picture lacks \($0)" }
        faults += drawn.subtracting(folders).map { "the picture shows \($0), which is not there" }
        for (file, words) in zip(files, words) {
            for type in words.used.subtracting(words.own).subtracting(words.declared) {
                guard let other = home[type], other != file.folder, !isBelow(other, file.folder) else { continue }
                let place = "\(file.folder)/\(file.name)"
                faults.append("\(place) names \(type) of \(other), which is not below \(file.folder)")
            }
        }
        return faults.sorted()
    }

    private func isBelow(_ lower: String, _ upper: String) -> Bool {
        guard let low = lines.firstIndex(where: { $0.contains(lower) }),
            let high = lines.firstIndex(where: { $0.contains(upper) })
        else { return true }
        return low > high
    }
}
