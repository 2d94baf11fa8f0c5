// The sample app, used as its user does: the story of the retired client's tutorial, and what follows it.

import Foundation
import Testing

@Suite struct TodoTests {
    @Test func `items added without a server survive a kill and are sent when there is one`() throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let wrong = try Session("todo", ["phone", "http://127.0.0.1:9"], in: scratch.url)
        try wrong.line(with: "Nothing to do.")
        try wrong.type("add milk")
        try wrong.line(with: "1. [ ] milk")
        try wrong.type("refresh")
        try wrong.line(with: "Your changes are kept.")
        wrong.kill()

        let server = try TableServer(in: scratch.url)
        defer { server.stop() }
        let phone = try Session("todo", ["phone", server.url], in: scratch.url)
        try phone.line(with: "1. [ ] milk")
        try phone.type("refresh")
        try phone.line(with: "sent 1 of 1")

        let tablet = try Session("todo", ["tablet", server.url], in: scratch.url)
        try tablet.line(with: "Nothing to do.")
        try tablet.type("refresh")
        try tablet.line(with: "1. [ ] milk")
        try tablet.type("quit")
        #expect(tablet.end() == 0)
    }

    @Test(arguments: [("mine", "oat milk"), ("theirs", "goat milk")])
    func `a conflict is decided by its user`(word: String, text: String) throws {
        let scratch = try ScratchDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let server = try TableServer(in: scratch.url)
        defer { server.stop() }
        let phone = try Session("todo", ["phone", server.url], in: scratch.url)
        try phone.type("add milk")
        try phone.line(with: "1. [ ] milk")
        try phone.type("refresh")
        try phone.line(with: "received")
        let tablet = try Session("todo", ["tablet", server.url], in: scratch.url)
        try tablet.type("refresh")
        try tablet.line(with: "1. [ ] milk")
        try tablet.type("rename 1 goat milk")
        try tablet.line(with: "goat milk")
        try tablet.type("refresh")
        try tablet.line(with: "received")

        try phone.type("rename 1 oat milk")
        try phone.line(with: "oat milk")
        try phone.type("refresh")
        try phone.line(with: "You have:       oat milk")
        try phone.line(with: "The server has: goat milk")
        try phone.type(word)
        try phone.type("refresh")
        try phone.line(with: "received")
        try phone.type("add end")
        try phone.line(with: "1. [ ] end")
        try phone.line(with: "2. [ ] \(text)")
    }
}
