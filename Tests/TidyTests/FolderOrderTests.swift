// Folders stand in the order that ARCHITECTURE.md draws of them.

import Foundation
import Testing

@Suite struct FolderOrderTests {
    private static let modules = [
        "SegmentLog": "Sources/SegmentLog", "SynclineCore": "Sources/SynclineCore",
        "SynclineWire": "Sources/SynclineWire", "Syncline": "Sources/Syncline",
        "SynclineSQL": "Sources/SynclineSQL", "SynclineTables": "Sources/SynclineTables",
        "SynclineServer": "Sources/SynclineServer",
        "SynclineTesting": "Sources/SynclineTesting", "SynclineTool": "tools/syncline/Tool",
    ]
    private static let flat = [
        "LogTesting": "Sources/LogTesting", "SynclineGround": "Sources/SynclineGround",
        "SynclineReports": "Sources/SynclineReports",
    ]

    /// The files of every module. Files outside any folder stand under the name of the module.
    private static let files = Result {
        try modules.merging(flat) { top, _ in top }.map { module, top in
            let files = try Tree.files(in: [top], ending: ".swift").map { file in
                let parts = file.path.dropFirst(top.count + 1).split(separator: "/").map(String.init)
                let folder = parts.count == 1 ? module : parts.dropLast().joined(separator: "/")
                return (folder: folder, name: parts[parts.count - 1], words: SourceWords(file.text))
            }
            return (module: module, files: files)
        }
    }

    @Test(arguments: modules)
    func `a folder names only what is drawn below it`(module: String, top: String) throws {
        let document = try String(contentsOf: Tree.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let order = try #require(
            FolderOrder(under: "### Inside \(module)", in: document), "ARCHITECTURE.md has no picture of \(module)")
        let all = try Self.files.get()
        let elsewhere = all.filter { $0.module != module }.flatMap(\.files).reduce(into: Set<String>()) { names, file in
            names.formUnion(file.words.members.declared.union(file.words.members.others))
        }
        let files = try #require(all.first { $0.module == module }).files
        for fault in order.faults(of: files, elsewhere: elsewhere) { Issue.record("\(fault)") }
    }

    @Test func `a module depends only on what is drawn below it`() throws {
        let document = try String(contentsOf: Tree.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let order = try #require(FolderOrder(under: "## Modules", in: document))
        let drawn = Set(order.lines.joined())
        let folders = try FileManager.default.contentsOfDirectory(atPath: Tree.root.appending(path: "Sources").path)
        #expect(drawn == Set(folders.filter { !$0.hasPrefix(".") } + ["SynclineTool"]))
        let manifest = try String(contentsOf: Tree.root.appending(path: "Package.swift"), encoding: .utf8)
        // Each target begins a line of its own, with its name.
        for target in manifest.split(separator: "\n        .") {
            let names = target.matches(of: /"([-\w]+)"/).map { String($0.1) }
            guard let name = names.first, drawn.contains(name) else { continue }
            for other in drawn.intersection(names) where other != name {
                #expect(order.isBelow(other, name), "\(name) depends on \(other), which is not drawn below it")
            }
        }
    }

    private let order = FolderOrder(picture: ["Upper · Side  what is wanted", "Lower"])

    private func faults(
        lower: String = "", upper: String = "", side: String = "", elsewhere: Set<String> = []
    ) -> [String] {
        let texts = [
            ("Lower", "L.swift", "package struct Low {}\n" + lower), ("Upper", "U.swift", "struct Up {}\n" + upper),
            ("Side", "S.swift", "enum Aside {}\n" + side),
        ]
        return order.faults(of: texts.map { ($0, $1, SourceWords($2)) }, elsewhere: elsewhere)
    }

    @Test func `a name of a lower folder is fine, and so are the folder's own names`() {
        #expect(faults(upper: "extension Low { let a: Low }").isEmpty)
        #expect(faults(lower: "struct Mine<Up> { struct Aside {} }\nfunc f(_ a: Mine.Up) {}").isEmpty)
        #expect(faults(lower: "// Up\nlet a = \"Up \\(1)\", b = #\"Up\"#").isEmpty)
    }

    @Test func `a name of a higher folder is not, nor one of the same line`() {
        #expect(faults(lower: "let a: Up?") == ["Lower/L.swift names Up of Upper, which is not below Lower"])
        #expect(faults(lower: "let a = \"\\(Up())\"") == ["Lower/L.swift names Up of Upper, which is not below Lower"])
        #expect(
            faults(upper: "let a: Low, b: Aside") == ["Upper/U.swift names Aside of Side, which is not below Upper"])
        #expect(
            faults(upper: "extension Aside {}", side: "extension Up {}") == [
                "Side/S.swift names Up of Upper, which is not below Side",
                "Upper/U.swift names Aside of Side, which is not below Upper",
            ])
    }

    @Test func `a member that only a higher folder has is not, whatever type it extends`() {
        let upper = """
            extension Low {
                init(up: Int) { let inner = 1 }
                public static func rise() {}
                private(set) var height: Int { let depth = 1 }
                private func hidden() {}
            }
            extension [UInt8] { func climb() }
            func ascend() {}
            enum Way { case stairs, lift(Int) }
            """
        for (use, name) in [
            ("Low(up: 1)", "Low(up:)"), ("Low.init(up: 1)", "Low(up:)"), ("Low.rise()", "rise"), ("a.height", "height"),
            ("a.climb { }", "climb"), ("ascend()", "ascend"),
        ] {
            let found = faults(lower: "let b = \(use)", upper: upper)
            #expect(found == ["Lower/L.swift uses \(name) of Upper, which is not below Lower"], "\(use)")
            #expect(faults(upper: upper + "\nlet b = \(use)").isEmpty, "\(use)")
        }
        for use in [
            "a.inner", "a.depth", "a.hidden()", "a.stairs", "a.lift", "height", "Other(up: 1)", "func ascend() {}",
            "func f(ascend: () -> Int) { ascend() }", "a.rise\nextension Low { func rise() {} }", "a.min()",
            "let a: (rise: Int, Int)\na.rise",
        ] {
            #expect(faults(lower: use, upper: upper).isEmpty, "\(use)")
        }
        #expect(faults(lower: "a.climb()", upper: upper, elsewhere: ["climb"]).isEmpty)
    }

    @Test func `the picture shows each folder, and none that is not there`() {
        let order = FolderOrder(picture: ["Upper", "Gone"])
        #expect(
            order.faults(of: [("Upper", "U.swift", SourceWords("")), ("New", "N.swift", SourceWords(""))])
                == ["the picture lacks New", "the picture shows Gone, which is not there"])
    }
}
