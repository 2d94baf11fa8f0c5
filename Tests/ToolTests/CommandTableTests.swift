// One table produces the help, the manual page, the completions and the reference page; these tests compare them.

import ChildProcesses
import Foundation
import SynclineServer
import Testing

@testable import SynclineTool

@Suite struct CommandTableTests {
    private let table = CommandTable.all

    @Test func `every command is explained in full`() async {
        for command in table.commands {
            #expect(!command.summary.isEmpty && !command.summary.hasSuffix("."), "\(command.name)")
            #expect(!command.examples.isEmpty, "\(command.name) has no example")
            for example in command.examples {
                #expect(example.line.contains("syncline \(command.name)"), "\(example.line)")
            }
            let names = (command.options + CommandTable.common).map(\.name)
            #expect(Set(names).count == names.count, "\(command.name) declares an option twice")
            let letters = (command.options + CommandTable.common).compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(command.name) declares a letter twice")
        }
        #expect(Set(table.commands.map(\.name)).count == table.commands.count)
    }

    @Test func `every beginning of commands has a meaning`() {
        for command in table.commands { #expect(!table.summary(of: command.path[0]).isEmpty, "\(command.path[0])") }
    }

    @Test func `help names every word, option, example and exit code`() async {
        for command in table.commands {
            let help = await Call.tool(
                "help", command.name.split(separator: " ").map(String.init)[0], command.path.last ?? "")
            let direct = await Call.callHelp(command)
            #expect(direct.exit == .done)
            if command.path.count == 2 { #expect(help.output == direct.output) }
            for option in command.options + CommandTable.common { #expect(direct.output.contains(option.usage)) }
            for operand in command.operands { #expect(direct.output.contains(operand.name)) }
            for example in command.examples { #expect(direct.output.contains(example.line)) }
            for exit in command.exits { #expect(direct.output.contains(exit.meaning)) }
        }
    }

    @Test func `the overview lists every command`() async {
        let overview = await Call.tool()
        #expect(overview.exit == .done)
        for command in table.commands { #expect(overview.output.contains("  \(command.name) ")) }
    }

    @Test func `the help and the documents name every section`() async {
        let overview = await Call.tool()
        let (page, manual) = (ReferencePage(table: table).text, ManPage(program: .syncline(table)).text)
        for section in table.sections {
            let title = section.title.prefix(1).uppercased() + section.title.dropFirst()
            #expect(overview.output.contains("\n\(section.title):\n"))
            #expect(page.contains("\n## \(title)\n"))
            #expect(manual.contains("\n.SH COMMANDS TO \(section.title.uppercased())\n"))
        }
    }

    private static let programs = [Program.syncline(.all), .server]

    @Test(arguments: programs)
    func `the manual page names every command, option and exit code`(program: Program) {
        let page = ManPage(program: program).text
        func written(_ text: String) -> String { text.replacingOccurrences(of: "-", with: "\\-") }
        for command in program.table.commands {
            #expect(page.contains(".SS \"\(written(program.name)) \(written(command.name)) "))
            for option in command.options { #expect(page.contains(written("--" + option.name))) }
        }
        for option in program.options { #expect(page.contains("\\fB" + written(option.usage) + "\\fP\n")) }
        for exit in program.exits { #expect(page.contains("\\fB\(exit.code.rawValue)\\fP\n")) }
        for line in page.split(separator: "\n") {
            #expect(!line.hasPrefix("'"))
            #expect(line.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    @Test(arguments: programs)
    func `the completions know every word, option and choice`(program: Program) {
        let scripts = [
            BashCompletion(program: program).text, ZshCompletion(program: program).text,
            FishCompletion(program: program).text,
        ]
        for script in scripts {
            for command in program.table.commands {
                for word in command.path { #expect(script.contains(word)) }
                for option in command.options + program.options {
                    #expect(script.contains("--\(option.name)") || script.contains("-l \(option.name)"))
                    for choice in option.choices { #expect(script.contains(choice)) }
                }
            }
        }
    }

    @Test func `the server's page and completions have every flag of its help`() async throws {
        let flags = ServerArguments.help.matches(of: /\n  --([a-z-]+)/).map { String($0.1) }
        let own = Program.server.table.commands.flatMap(\.options)
        #expect(flags.count > 10 && flags == (Program.server.options + own).map(\.name))
        #expect(ServerArguments.help.contains("syncline-server check "))
        let page = await Call.tool("man", "syncline-server")
        #expect(page.output == ManPage(program: .server).text)
        #expect(await Call.tool("man", "syncline").output == ManPage(program: .syncline(.all)).text)
        #expect(await Call.tool("man", "todo").exit == .usage)
    }

    @Test(arguments: ["bash", "zsh", "fish"], programs.map(\.name))
    func `the shells installed here accept their completions`(shell: String, program: String) async throws {
        let paths = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + shell }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else { return }
        let folder = try TemporaryFolder()
        let script = folder.path + "/script"
        let text = await Call.tool("completions", shell, program).output
        try text.write(toFile: script, atomically: true, encoding: .utf8)
        let child = try ChildProcess(path, ["-n", script], variables: [:], errors: .kept)
        #expect(child.wait() == 0)
        #expect(child.errors == "")
    }

    @Test(arguments: [
        ("syncline ver", ["verify", "version"]), ("syncline inspect fr", ["frame", "frames"]),
        ("syncline init --protocol ", ["datasync3", "zumo2"]), ("syncline mirror scr", ["script"]),
        ("syncline completions fish syncline-s", ["syncline-server"]), ("syncline-server che", ["check"]),
        ("syncline-server check --log j", ["json"]), ("syncline-server load --ta", ["--table"]),
        ("syncline-server --config scr", ["script"]),
    ])
    func `bash completes a line`(line: String, expected: [String]) async throws {
        var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let program = words[0]
        var script = await Call.tool("completions", "bash", program).output
        words = words.map { "'\($0)'" }
        script += "COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)\n"
        script += "\(Completion.function(program == "syncline" ? .syncline(.all) : .server))\n"
        script += "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
        let folder = try TemporaryFolder()
        try script.write(toFile: folder.path + "/script", atomically: true, encoding: .utf8)
        let child = try ChildProcess.run("/bin/bash", [folder.path + "/script"], directory: folder.path)
        #expect(child.output.split(separator: "\n").map(String.init).sorted() == expected)
    }

    @Test func `the reference page is the table`() throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../docs/CLI.md")
        let page = ReferencePage(table: table).text
        if ProcessInfo.processInfo.environment["SYNCLINE_UPDATE_DOCS"] == "1" {
            try page.write(to: url, atomically: true, encoding: .utf8)
        }
        let written = try String(contentsOf: url, encoding: .utf8)
        #expect(written == page, "docs/CLI.md is not what the table says; SYNCLINE_UPDATE_DOCS=1 writes it again")
    }
}

extension Call {
    /// `--help` of a command.
    static func callHelp(_ command: Command) async -> Call {
        let output = MemorySink()
        let errors = MemorySink()
        let host = Host(environment: Environment(), output: output, errors: errors, input: MemoryLines())
        let exit = await Tool(host).run(command.path + ["--help"])
        return Call(exit: exit, output: output.text, errors: errors.text)
    }
}
