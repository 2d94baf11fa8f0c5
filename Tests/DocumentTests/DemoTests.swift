// The demo tells its story to the end, with the programs of this build, and leaves nothing behind.

import Foundation
import Testing

@Suite struct DemoTests {
    @Test func `the demo ends as it is told`() throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let demo = Document.root.appending(path: "tools/demo").path
        let variables = ["SYNCLINE_BIN": try Child.builds.path, "TMPDIR": scratch.url.path]
        let run = try Child.run(demo, ["--fast"], in: scratch.url, variables: variables)
        #expect(run.exit == 0, "\(run.output)")
        for line in [
            "insert todoitem/milk: pending (offline)",  // nobody listens
            "~3       insert  pending  todoitem/eggs   complete, text",  // the killed writer's row
            "push complete", "2003", #"{"id":"bread","text":"tablet: bread","complete":false}"#,
            #"{"id":"eggs","text":"a dozen eggs","complete":true}"#,
            #"{"id":"milk","text":"phone: milk","complete":false}"#, "Try next:",
        ] {
            #expect(run.output.split(separator: "\n").contains(Substring(line)), "no \"\(line)\" in:\n\(run.output)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == [])
    }

    @Test func `the demo takes no other words`() throws {
        let demo = Document.root.appending(path: "tools/demo").path
        #expect(try Child.run(demo, ["--slow"], in: Document.root).exit == 2)
    }
}
