// The demo runs its stories to the end with the programs of this build, and leaves nothing running.

import ChildProcesses
import Foundation
import Testing

@Suite struct DemoTests {
    private let demo = Document.root.appending(path: "tools/demo").path

    /// Runs a story, which must print some lines.
    private func tell(_ words: [String], lines: [String]) throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let variables = ["SYNCLINE_BIN": try ChildProcess.builds.path, "TMPDIR": scratch.url.path]
        let run = try ChildProcess.run(demo, words + ["--fast"], in: scratch.url, adding: variables)
        if run.output.hasPrefix("PostgreSQL is not installed") { try Test.cancel("\(run.output)") }
        #expect(run.exit == 0, "\(run.output)")
        for line in lines + ["Try next:"] {
            #expect(run.output.split(separator: "\n").contains(Substring(line)), "no \"\(line)\" in:\n\(run.output)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == [])
    }

    @Test func `the demo ends as described`() throws {
        let lines = [
            "insert todoitem/milk: pending (offline)",  // no server listens
            "~3       insert  pending  todoitem/eggs   complete, text     48",  // the killed writer's row
            "push complete", "20003", #"{"id":"bread","text":"tablet: bread","complete":false}"#,
            #"{"id":"eggs","text":"a dozen eggs","complete":true}"#,
            #"{"id":"milk","text":"phone: milk","complete":false}"#,
            #"    text: "tablet: bread" → "phone: bread""#,  // what another policy would have done
        ]
        try tell([], lines: lines)
    }

    @Test func `the PostgreSQL story ends as described, if PostgreSQL is installed`() throws {
        let lines = [
            "todoitem: 1 received, 1 changed, 0 deleted, 0 conflicts",  // through another server
            "5001|5001",  // sent through two servers, each row once
            "todoitem/milk  update  conflict  412     conflict", "nothing differs", "milk|buy oat milk|t",
        ]
        try tell(["--postgres"], lines: lines)
    }

    @Test func `the demo accepts no other arguments`() throws {
        #expect(try ChildProcess.run(demo, ["--slow"], in: Document.root).exit == 2)
    }
}
