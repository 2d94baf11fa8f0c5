// Runs every `console` block of a document: the commands of a page run one after another in one directory, and their
// output must be what the page shows. `…` stands for anything within a line, and alone for any lines.

import ChildProcesses
import Foundation
import Testing

/// The commands of a page, with the output that the page shows.
private struct Story {
    var commands: [(words: String, output: [String], line: Int)] = []

    init(_ document: Document) {
        for block in document.blocks where block.language == "console" {
            for (index, line) in block.lines.enumerated() {
                if line.hasPrefix("$ ") {
                    commands.append((String(line.dropFirst(2)), [], block.line + index + 1))
                } else if !commands.isEmpty {
                    commands[commands.count - 1].output.append(line)
                }
            }
        }
    }

    private static let mark = "\u{1}"

    /// Returns the commands as one script. A server started with `&` gets a free port in place of 8080; the script
    /// waits for its first output and ends it.
    var script: String {
        var script = "port=none; started=()\n"
        script += "trap '[ ${#started[@]} = 0 ] || { kill \"${started[@]}\"; wait; } 2>/dev/null' EXIT\n"
        for command in commands {
            script += "printf '\\n\(Story.mark)\\n'\n"
            if command.words.hasSuffix(" &") {
                script += "rm -f said\n" + command.words.dropLast(2).replacing("127.0.0.1:8080", with: "127.0.0.1:0")
                script += " >said 2>&1 & started+=($!)\n"
                script += "until [ -s said ]; do kill -0 $! || break; done\n"
                script += "port=$(sed -n 's|.*http://127.0.0.1:\\([0-9]*\\).*|\\1|p' said)\n"
            } else {
                let words = command.words.replacing("127.0.0.1:8080", with: "127.0.0.1:$port")
                script += "{ \(words)\n} >said 2>&1\n"
            }
            script += "sed \"s|127.0.0.1:$port|127.0.0.1:8080|g\" said\n"
        }
        return script
    }

    /// Returns the output, command by command.
    func outputs(of output: String) -> [[String]] {
        output.components(separatedBy: "\n\(Story.mark)\n").dropFirst()
            .map { $0.split(separator: "\n").map(String.init) }
    }
}

@Suite struct CommandBlockTests {
    /// Returns whether lines match what a page shows.
    private func agree(_ shown: ArraySlice<String>, _ said: ArraySlice<String>) -> Bool {
        guard let first = shown.first else { return said.isEmpty }
        if first == "…" {
            return (said.startIndex...said.endIndex).contains { agree(shown.dropFirst(), said[$0...]) }
        }
        guard let line = said.first, agree(first, line) else { return false }
        return agree(shown.dropFirst(), said.dropFirst())
    }

    private func agree(_ shown: String, _ said: String) -> Bool {
        let parts = shown.components(separatedBy: "…")
        if parts.count == 1 { return shown == said }
        var rest = said[...]
        for (index, part) in parts.enumerated() where !part.isEmpty {
            guard let range = rest.range(of: part), index > 0 || range.lowerBound == said.startIndex else {
                return false
            }
            rest = rest[range.upperBound...]
        }
        return parts.last?.isEmpty == true || rest.isEmpty
    }

    @Test func `commands say what the pages show`() throws {
        var count = 0
        for document in try Document.all() {
            let story = Story(document)
            if story.commands.isEmpty { continue }
            let scratch = try ScratchDirectory()
            defer { withExtendedLifetime(scratch) {} }
            let path =
                try ChildProcess.builds.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
            let run = try ChildProcess.run(
                "/bin/bash", ["-c", story.script], in: scratch.url,
                adding: ["PATH": path, "SYNCLINE_STORE": ""])
            let outputs = story.outputs(of: run.output)
            #expect(outputs.count == story.commands.count, "\(document.path): \(run.output)")
            for (command, said) in zip(story.commands, outputs) {
                count += 1
                let shown = command.output.filter { !$0.isEmpty }
                #expect(
                    agree(shown[...], said[...]),
                    "\(document.path):\(command.line) \(command.words) said:\n\(said.joined(separator: "\n"))")
            }
        }
        #expect(count > 10)
    }

    @Test func `the scenario on a page ends as described`() throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let blocks = try Document("docs/SCENARIOS.md").blocks.filter { $0.language == "json" }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let file = scratch.url.appending(path: "story.json")
            try block.lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            let run = try ChildProcess.run(
                try ChildProcess.builds.appending(path: "syncline").path, ["scenario", file.path], in: scratch.url)
            #expect(run.exit == 0 && run.output == "1 passed, 0 failed\n", "\(run.output)")
        }
    }

    /// A store with two rows, one of them in a transaction, and the files that examples read.
    private static let world = """
        syncline init --backend http://127.0.0.1:9
        for id in a b c d e f g h; do syncline insert todoitem "{\\"id\\":\\"$id\\",\\"n\\":1,\\"done\\":false}"; done
        for number in {1..40}; do echo "update todoitem '{\\"id\\":\\"h\\",\\"n\\":$number}'"; done | syncline shell >/dev/null
        echo '{"insert":{"table":"todoitem","item":{"id":"x"}}}' > changes.jsonl
        echo '{"table":"list","row":{"id":"y"}}' > rows.jsonl
        syncline export --format events > events.jsonl
        printf 'milk\\nbread\\n' > lines.txt
        mkdir conformance data
        echo '[{"name":"none","steps":[]}]' > conformance/none.json
        cp -r .syncline data
        mkdir -p .config/fish/completions usr/local/share/man/man1
        """

    /// Makes an example quick, and keeps it from writing outside its directory.
    private static let smaller = [
        " ~/": " ", " /usr": " usr", " /mnt": " mnt", "1000000": "1000", "--writers 16": "--writers 16 --records 1000",
        "bench history big": "bench history big --events 1000 --rows 10",
    ]
    /// Commands that run until they are ended.
    private static let endless = [" -f", "studio"]

    /// Returns an example as a script. An endless one is ended after its first output.
    private func script(_ example: String) -> String {
        let line = CommandBlockTests.smaller.reduce(example) { $0.replacing($1.key, with: $1.value) }
        guard CommandBlockTests.endless.contains(where: line.contains) else { return "set -o pipefail\n" + line }
        return """
            \(line) >said 2>&1 &
            until [ -s said ]; do kill -0 $! || exit 70; done
            kill $! && wait $!
            case $? in 0 | 143) ;; *) cat said; exit 70 ;; esac
            """
    }

    @Test func `every example of the tool is a command line that it takes`() throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let path = try ChildProcess.builds.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        let variables = ["PATH": path, "SYNCLINE_STORE": ""]
        let world = scratch.url.appending(path: "world")
        try FileManager.default.createDirectory(at: world, withIntermediateDirectories: true)
        let made = try ChildProcess.run("/bin/bash", ["-ec", CommandBlockTests.world], in: world, adding: variables)
        try #require(made.exit == 0, "\(made.output)")
        var count = 0
        for block in try Document("docs/CLI.md").blocks where block.language == "sh" {
            for line in block.lines where !line.hasPrefix("#") {
                count += 1
                let place = scratch.url.appending(path: "\(count)")
                try FileManager.default.copyItem(at: world, to: place)
                let run = try ChildProcess.run("/bin/bash", ["-c", script(line)], in: place, adding: variables)
                // A missing conflict or server: the command itself is right.
                #expect([0, 1, 3].contains(run.exit), "\(line): exit code \(run.exit), \(run.output)")
            }
        }
        #expect(count > 60)
    }

    /// The commands that pages show but that are not run, and why.
    private static let notPlayed = [
        "./tools/demo": "DemoTests tell its stories with the programs of this build",
        "./tools/test": "it runs these tests",
        "./tools/bench": "it builds a package of its own, and measures for minutes",
    ]

    @Test func `commands are shown in blocks that are run, except for those listed with a reason`() throws {
        var seen: Set<String> = []
        for document in try Document.all() where document.path != "docs/CLI.md" {
            for block in document.blocks where block.language != "console" {
                for line in block.lines {
                    let place = "\(document.path):\(block.line) \(line)"
                    let isCommand = ["$ ", "./", "tools/", "swift ", "syncline -"].contains(where: line.hasPrefix)
                    guard block.language == "sh" || isCommand && block.language != "swift" else { continue }
                    let name = String(line.prefix { $0 != " " })
                    #expect(CommandBlockTests.notPlayed[name] != nil, "\(place) is not played")
                    let path = Document.root.appending(path: name).path
                    #expect(FileManager.default.isExecutableFile(atPath: path), "\(place) is not there")
                    seen.insert(name)
                }
            }
        }
        #expect(seen == Set(CommandBlockTests.notPlayed.keys))
    }
}
