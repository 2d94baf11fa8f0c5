// What a release needs: the version in one place, and a package whose files the programs accept. tools/release --check
// installs it.

import ChildProcesses
import Foundation
import Testing

@Suite struct ReleaseTests {
    private var version: String {
        get throws {
            let text = try Document("Sources/SynclineGround/Version.swift").text
            return String(try #require(text.firstMatch(of: /synclineVersion = "(\d+\.\d+\.\d+)"/)).1)
        }
    }

    @Test func `the programs print the version, which is written in one place`() throws {
        let version = try version
        for program in ["syncline", "syncline-server"] {
            let path = try ChildProcess.builds.appending(path: program).path
            let run = try ChildProcess.run(path, ["--version"], in: Document.root)
            #expect(run.exit == 0 && run.output.hasPrefix("\(program) \(version)"), "\(run.output)")
        }
        let code = Document.files(in: ["Sources", "tools"], ending: "")
        let number = "(?<![\\d.])\(version.replacing(".", with: "\\."))(?![\\d.])"
        for path in code where path != "Sources/SynclineGround/Version.swift" {
            guard let document = try? Document(path) else { continue }
            let place = document.text.range(of: number, options: .regularExpression)
            #expect(place == nil, "\(path) contains the version")
        }
    }

    @Test func `the changelog begins with this version`() throws {
        let first = try Document("CHANGELOG.md").prose.first { $0.hasPrefix("## ") }
        #expect(first == "## \(try version)")
    }

    @Test func `the server accepts the configurations in its package`() throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let key = scratch.url.appending(path: "token-key").path
        try String(repeating: "k", count: 32).write(toFile: key, atomically: true, encoding: .utf8)
        let paths = Document.files(in: ["tools/packaging"], ending: ".json").filter { !$0.contains("/grafana/") }
        #expect(paths.count > 2)
        for path in paths {
            let file = scratch.url.appending(path: "server.json").path
            try Document(path).text.replacing("/etc/syncline/token-key", with: key)
                .write(toFile: file, atomically: true, encoding: .utf8)
            let program = try ChildProcess.builds.appending(path: "syncline-server").path
            let run = try ChildProcess.run(program, ["--config", file, "--print-config"], in: scratch.url)
            #expect(run.exit == 0, "\(path): \(run.output)")
        }
    }

    @Test func `the units start the server with the configuration of their name, and make private files`() throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let script = Document.root.appending(path: "tools/packaging/units").path
        #expect(try ChildProcess.run(script, [scratch.url.path], in: scratch.url).exit == 0)
        for (name, configuration) in [("syncline-server", "server"), ("syncline-server@", "%i")] {
            let file = scratch.url.appending(path: "\(name).service")
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in [
                "ExecStart=/usr/bin/syncline-server --config /etc/syncline/\(configuration).json", "User=syncline",
                "UMask=0077", "StateDirectory=syncline", "NoNewPrivileges=true", "ProtectSystem=strict",
            ] { #expect(text.split(separator: "\n").contains(Substring(line)), "\(name): \(line) is missing") }
            // systemd wants the program to be there.
            let program = try ChildProcess.builds.appending(path: "syncline-server").path
            try text.replacing("/usr/bin/syncline-server", with: program)
                .write(to: file, atomically: true, encoding: .utf8)
        }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze") else { return }
        for unit in ["syncline-server.service", "syncline-server@one.service"] {
            let words = ["verify", "--man=no", scratch.url.appending(path: unit).path]
            let said = try ChildProcess.run("/usr/bin/systemd-analyze", words, in: scratch.url).output
            let faults = said.split(separator: "\n").filter { $0.contains("syncline-server") }
            #expect(faults.isEmpty, "\(said)")
        }
    }
}
