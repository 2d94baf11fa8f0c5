// Folders stand in the order that ARCHITECTURE.md draws of them.

import Foundation
import Testing

@Suite struct FolderOrderTests {
    private static let modules = [
        "SegmentLog": "Sources/SegmentLog", "SynclineCore": "Sources/SynclineCore",
        "SynclineWire": "Sources/SynclineWire", "Syncline": "Sources/Syncline",
        "SynclineSQL": "Sources/SynclineSQL", "SynclineServer": "Sources/SynclineServer",
        "SynclineTool": "tools/syncline/Tool",
    ]

    @Test(arguments: modules)
    func `a folder names only what is drawn below it`(module: String, top: String) throws {
        let document = try String(contentsOf: Tree.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let order = try #require(FolderOrder(of: module, in: document), "ARCHITECTURE.md has no picture of \(module)")
        let files = try Tree.files(in: [top], ending: ".swift").map { file in
            let parts = file.path.dropFirst(top.count + 1).split(separator: "/").map(String.init)
            // Files outside any folder stand under the name of the module.
            let folder = parts.count == 1 ? module : parts.dropLast().joined(separator: "/")
            return (folder: folder, name: parts[parts.count - 1], text: file.text)
        }
        for fault in order.faults(of: files) { Issue.record("\(fault)") }
    }

    private let order = FolderOrder(picture: ["Upper · Side  what is wanted", "Lower"])

    private func faults(lower: String = "", upper: String = "", side: String = "") -> [String] {
        order.faults(of: [
            ("Lower", "L.swift", "package struct Low {}\n" + lower), ("Upper", "U.swift", "struct Up {}\n" + upper),
            ("Side", "S.swift", "enum Aside {}\n" + side),
        ])
    }

    @Test func `a name of a lower folder is fine, and so are names of one's own`() {
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

    @Test func `the picture shows each folder, and none that is not there`() {
        let order = FolderOrder(picture: ["Upper", "Gone"])
        #expect(
            order.faults(of: [("Upper", "U.swift", ""), ("New", "N.swift", "")])
                == ["the picture lacks New", "the picture shows Gone, which is not there"])
    }
}
