// Checks rules of the source tree that no compiler checks: which module may import which, which calls have a
// replacement here, that files say what they are for and stay small, and that one thing has one word.

import Foundation
import Testing

@Suite struct TidyTests {
    /// What each module may import, besides the standard library's own modules.
    private static let mayImport: [String: Set<String>] = [
        "SynclineGround": ["Synchronization"],
        "SegmentLog": ["SynclineGround", "CChecksum", "CLZ4", "Compression"],
        "SynclineCore": ["SynclineGround"],
        "SynclineWire": ["SynclineCore", "SynclineGround", "CCurl", "FoundationNetworking"],
        "Syncline": ["SegmentLog", "SynclineCore", "SynclineGround", "SynclineWire"],
        "SynclineInspect": ["SegmentLog", "SynclineCore", "SynclineGround"],
        "SynclineServer": [
            "SynclineCore", "SynclineGround", "SynclineWire", "CMicroHTTPD", "CZlib", "CSQLite", "CPostgres", "CCrypto",
            "CMalloc",
        ],
        "SynclineTesting": ["SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineWire"],
    ]
    /// Modules that come with the toolchain, where they are allowed at all.
    private static let system: Set<String> = ["Dispatch", "Darwin", "Glibc", "Musl", "Foundation"]
    /// The pure part uses the system only for comparing bytes.
    private static let pure: Set<String> = ["SynclineCore"]
    private static let impure = ["ByteOrder.swift"]

    @Test func `modules import what the architecture lets them`() throws {
        for (module, allowed) in Self.mayImport {
            for file in try Tree.files(in: ["Sources/\(module)"], ending: ".swift") {
                for line in file.lines {
                    let words = line.split(separator: " ")
                    guard let place = words.firstIndex(of: "import"), place < 3, words.count == place + 2 else {
                        continue
                    }
                    let name = String(words[place + 1])
                    let isPure = Self.pure.contains(module) && !Self.impure.contains { file.path.hasSuffix($0) }
                    let isSystem = !isPure && Self.system.contains(name)
                    #expect(isSystem || allowed.contains(name), "\(file.path) imports \(name)")
                }
            }
        }
    }

    /// A call, its replacement, and the files that may use it.
    private static let banned: [(call: String, instead: String, doors: [String])] = [
        ("Date()", "Surroundings.now()", []),
        ("UUID()", "Surroundings.newID()", []),
        (".random(", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        ("Task.sleep", "Surroundings.sleep", ["Syncline/Surroundings.swift"]),
        ("clock_gettime", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        ("SystemRandomNumberGenerator", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        (
            "SystemSource.", "LogClock or Surroundings",
            ["SegmentLog/Storage/LogClock.swift", "SynclineServer/Surroundings.swift", "Syncline/Surroundings.swift"]
        ),
        ("try!", "an error that says what went wrong", []),
        ("as!", "a guard", []),
        ("fatalError(", "preconditionFailure with a sentence", []),
        ("NSLock", "Mutex", []),
    ]

    @Test func `calls that have a door go through it`() throws {
        for file in try Tree.files(in: ["Sources"], ending: ".swift") {
            for rule in Self.banned where !rule.doors.contains(where: { file.path.hasSuffix($0) }) {
                for (number, line) in file.lines.enumerated() where line.contains(rule.call) {
                    let isComment = line.drop { $0 == " " }.hasPrefix("//")
                    #expect(isComment, "\(file.path):\(number + 1) calls \(rule.call): use \(rule.instead)")
                }
            }
        }
    }

    @Test func `every file says what it is for, and none has grown without end`() throws {
        for file in try Tree.files(in: ["Sources", "tools", "Tests"], ending: ".swift") {
            #expect(file.text.hasPrefix("// "), "\(file.path) does not say what it is for")
            let limit = file.path.hasPrefix("Tests") ? 600 : 450
            #expect(file.lines.count <= limit, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test func `a file that declares one type for others is named after it`() throws {
        for file in try Tree.files(in: ["Sources", "tools"], ending: ".swift") {
            let name = file.path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
            let types = SourceWords(file.text).declared
            // A file named with a plus says which type it extends, and what for.
            guard types.count == 1, let type = types.first, !name.contains("+") else { continue }
            // A second name for a type is not what a file is for.
            if file.text.contains("typealias \(type) ") { continue }
            #expect(name == type, "\(file.path) declares \(type)")
        }
    }

    @Test func `every breakage has its place in the sources, which know nothing of it`() throws {
        let check = Process()
        check.executableURL = Tree.root.appending(path: "tools/breakages")
        check.arguments = ["--check"]
        let output = Pipe()
        (check.standardOutput, check.standardError) = (output, output)
        try check.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        check.waitUntilExit()
        #expect(check.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
        for file in try Tree.files(in: ["Sources"], ending: ".swift") {
            #expect(!file.text.contains("Breakage"), "\(file.path) has a switch for tests")
        }
    }

    /// Words of the glossary's last column that have other meanings, too.
    private static let common: Set<String> = [
        "entry", "message", "row", "offset", "offset (alone)", "index", "pointer", "write", "group", "batch", "block",
        "chunk", "page", "close", "rotate", "saved", "safe", "gap", "fix", "repair", "recover", "backup", "trash",
        "compact", "prune", "truncate", "claim", "manifest", "generation", "term", "action", "apply", "reduce",
        "remote", "original", "queue", "mutation", "edit", "request", "merge", "squash", "locked", "log", "schema",
        "checksum", "upload", "fetch", "refresh", "failed", "poison", "stale", "database", "committed", "persisted",
        "corrupt", "snapshot", "collision", "finalise", "full backup",
    ]

    @Test func `one thing has one word`() throws {
        let glossary = try String(contentsOf: Tree.root.appending(path: "docs/GLOSSARY.md"), encoding: .utf8)
        var rejected: Set<String> = []
        for line in glossary.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 5, !cells[1].contains("word") else { continue }
            for word in cells[3].split(separator: ",") {
                let word = word.trimmingCharacters(in: .whitespaces)
                if !word.isEmpty, !word.contains("(in prose)"), !Self.common.contains(word) { rejected.insert(word) }
            }
        }
        #expect(!rejected.isEmpty)
        for file in try Tree.files(in: ["Sources", "tools"], ending: ".swift") {
            for word in rejected {
                #expect(!file.text.contains(word), "\(file.path) says \"\(word)\"")
            }
        }
    }
}
