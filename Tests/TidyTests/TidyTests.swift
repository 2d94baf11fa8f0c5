// Checks rules of the source tree that no compiler checks: which module may import which, which calls have a
// replacement here, that files say what they are for and stay small, and that one thing has one word.

import Foundation
import Testing

@Suite struct TidyTests {
    /// What each module may import, besides the standard library's own modules.
    private static let mayImport: [String: Set<String>] = [
        "SynclineGround": ["Synchronization", "CAtomics"],
        "SegmentLog": ["SynclineGround", "CChecksum", "CLZ4", "Compression"],
        "SynclineCore": ["SynclineGround", "CAtomics"],
        "SynclineWire": ["SynclineCore", "SynclineGround", "CChecksum", "CCurl", "FoundationNetworking"],
        "Syncline": [
            "SegmentLog", "SynclineCore", "SynclineGround", "SynclineWire", "Network", "Observation", "SwiftUI", "os",
        ],
        "SynclineSQL": ["CSQLite", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineWire"],
        "SynclineReports": ["CChecksum", "SynclineCore", "SynclineGround", "SynclineWire"],
        "SynclineTables": ["SynclineCore", "SynclineGround", "SynclineWire"],
        "SynclineServer": [
            "SynclineCore", "SynclineGround", "SynclineReports", "SynclineTables", "SynclineWire", "CMicroHTTPD",
            "CZlib", "CSQLite", "CPostgres", "CCrypto", "CMalloc",
        ],
        "LogTesting": ["SegmentLog", "SynclineGround"],
        "SynclineTesting": [
            "LogTesting", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineTables", "SynclineWire",
        ],
    ]
    /// Modules that come with the toolchain, where they are allowed at all.
    private static let system: Set<String> = ["CLibrary", "Dispatch", "Foundation"]
    /// The pure parts use the system only for comparing bytes.
    private static let pure: Set<String> = ["SynclineCore", "SynclineReports", "SynclineTables"]
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

    /// A call, its replacement, and the files and folders that may use it.
    private static let banned: [(call: String, instead: String, doors: [String])] = [
        ("Date()", "SyncEnvironment.now()", []),
        ("UUID()", "SyncEnvironment.newID()", []),
        (".random(", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        // The tool waits for a person or a file, not for what a test must control.
        (
            "Task.sleep", "SyncEnvironment.wait",
            [
                "SynclineServer/System/SystemServerEnvironment.swift", "Syncline/SyncEnvironment.swift",
                "tools/syncline/",
            ]
        ),
        ("usleep(", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        ("clock_gettime", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        ("ContinuousClock.now", "SystemSource", []),
        ("DispatchTime.now", "SystemSource", []),
        ("Instant = .now", "SystemSource", []),
        ("now: .now", "SystemSource", []),
        ("to: .now", "SystemSource", []),
        ("{ .now }", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        ("base64Encoded", "Base64", []),
        ("SystemRandomNumberGenerator", "SystemSource", ["SynclineGround/SystemSource.swift"]),
        (
            "SystemSource.", "LogClock, SyncEnvironment or ServerEnvironment",
            [
                "SegmentLog/Maintenance/LogInspection.swift", "SegmentLog/Storage/LogClock.swift",
                "SynclineServer/System/SystemServerEnvironment.swift", "Syncline/SyncEnvironment.swift",
                "Syncline/SyncID.swift", "tools/syncline/",
            ]
        ),
        ("try!", "an error that says what went wrong", []),
        ("as!", "a guard", []),
        ("fatalError(", "preconditionFailure with a sentence", []),
        ("NSLock", "Mutex", []),
    ]

    @Test func `a call with a replacement is made only in the files that may use it`() throws {
        for file in try Tree.files(in: ["Sources", "tools/syncline"], ending: ".swift") {
            for rule in Self.banned
            where !rule.doors.contains(where: { $0.hasSuffix("/") ? file.path.hasPrefix($0) : file.path.hasSuffix($0) })
            {
                for (number, line) in file.lines.enumerated() where line.contains(rule.call) {
                    let isComment = line.drop { $0 == " " }.hasPrefix("//")
                    #expect(isComment, "\(file.path):\(number + 1) calls \(rule.call): use \(rule.instead)")
                }
            }
        }
    }

    @Test func `no lock holds a closure itself, which each use would wrap once more`() throws {
        for file in try Tree.files(in: ["Sources", "tools", "Tests", "Benchmarks"], ending: ".swift") {
            for (number, line) in file.lines.enumerated() {
                #expect(!line.contains(/Mutex<[^={]*->/), "\(file.path):\(number + 1): put it into a struct")
            }
        }
    }

    /// Functions that need not leave their caller's actor: one that only forwards, because a closure that is not
    /// `Sendable` can't be passed to one that leaves; those of sequences; and defaults of what an app implements.
    private static let staying = [
        "pull(id queryID: String? = nil, _ condition", "next(", "wait(for duration", "headers()", "token(insteadOf",
    ]

    @Test func `an async function that an app calls leaves the actor of its caller`() throws {
        var count = 0
        let declaration = /(?<attributes>(?:@\w+\s+)*)public (?:static )?func (?<rest>[^{]*?\)\s+async)\b/
        for file in try Tree.files(in: ["Sources/Syncline", "Sources/SynclineSQL"], ending: ".swift") {
            let text = file.text.replacing("{ _ in }", with: "")
            for match in text.matches(of: declaration) {
                let rest = match.rest.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    .replacing("( ", with: "(")
                if Self.staying.contains(where: { rest.hasPrefix($0) }) { continue }
                count += 1
                #expect(match.attributes.contains("@concurrent"), "\(file.path): \(rest) is not @concurrent")
            }
        }
        #expect(count > 60)
    }

    @Test func `what is to be inlined is public`() throws {
        // The compiler does not inline functions that are only visible in the package into other modules.
        for file in try Tree.files(in: ["Sources"], ending: ".swift") where file.text.contains("@inlinable") {
            for (number, line) in file.lines.enumerated() where line.contains("@inlinable") {
                let next = number + 1 < file.lines.count ? file.lines[number + 1] : ""
                #expect(!line.contains("package ") && !next.contains("package "), "\(file.path):\(number + 1)")
            }
        }
    }

    @Test func `every file says what it is for, and none is too long`() throws {
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

    @Test func `every breakage has its place in the sources, which have no trace of it`() throws {
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

    @Test func `a folder for breakages that looks like an option is refused`() throws {
        let script = Process()
        script.executableURL = URL(filePath: "/usr/bin/env")
        let path = Tree.root.appending(path: "Tests/Breakages/breakages.py").path
        script.arguments = ["python3", "-B", path, "--help"]
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        script.currentDirectoryURL = folder
        let output = Pipe()
        script.standardError = output
        try script.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        script.waitUntilExit()
        #expect(script.terminationStatus == 1 && String(decoding: said, as: UTF8.self).hasPrefix("usage: "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    /// Files that are not checked, with the reason.
    private static let unchecked = [
        "docs/GLOSSARY.md",  // lists the words
        "CHANGELOG.md",  // names what earlier versions called otherwise
        "docs/decisions/",  // records of their time
        "Tests/TidyTests/",  // has the words as examples
    ]

    @Test func `one thing has one word`() throws {
        let glossary = try String(contentsOf: Tree.root.appending(path: "docs/GLOSSARY.md"), encoding: .utf8)
        let rejected = try RejectedWords(glossary: glossary)
        #expect(rejected.words.count > 25)
        let files = try Tree.files(
            in: ["Sources", "Tests", "Benchmarks", "tools", "docs"],
            ending: ".swift", ".md", ".js", ".css", ".html", ".py", ".c", ".h", ".sh", scripts: true)
        #expect(files.contains { $0.path == "tools/check" })
        for file in try files + Tree.documents() where !Self.unchecked.contains(where: { file.path.hasPrefix($0) }) {
            for word in rejected.found(in: file.text) { Issue.record("\(file.path) says \"\(word)\"") }
        }
    }

    @Test func `a rejected word is found in code, comments and messages, but not within another word`() throws {
        let rejected = try RejectedWords(
            glossary: """
                | word | meaning | not |
                |---|---|---|
                | pull | to read | fetch, so many |
                | push | to send | |
                """)
        #expect(rejected.words == ["fetch", "so many"])
        #expect(rejected.found(in: "/// Fetch so many rows.") == ["fetch", "so many"])
        #expect(rejected.found(in: "let fetched = prefetch(so: many)").isEmpty)
    }

    @Test func `a rejected word may be part of a phrase with another meaning`() throws {
        let rejected = try RejectedWords(
            glossary: """
                | word | meaning | not |
                |---|---|---|
                | after | later | behind |
                | is not a | is something else | is no |
                """)
        #expect(rejected.found(in: "There is no server behind a proxy; it is no longer used.").isEmpty)
        #expect(rejected.found(in: "A number behind the comma is no string.") == ["behind", "is no"])
    }
}
