// JSON patches: the examples of RFC 6902's appendix, and what must not harm a server.

import SynclineCore
import SynclineWire
import Testing

@Suite struct JSONPatchTests {
    private func apply(_ patch: String, to document: String) throws -> String {
        try JSONPatch(try Value(json: patch.utf8)).applied(to: try Value(json: document.utf8)).json
    }

    @Test(arguments: [
        (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux"}]"#, #"{"foo":"bar","baz":"qux"}"#),
        (#"{"foo":["bar","baz"]}"#, #"[{"op":"add","path":"/foo/1","value":"qux"}]"#, #"{"foo":["bar","qux","baz"]}"#),
        (#"{"baz":"qux","foo":"bar"}"#, #"[{"op":"remove","path":"/baz"}]"#, #"{"foo":"bar"}"#),
        (#"{"foo":["bar","qux","baz"]}"#, #"[{"op":"remove","path":"/foo/1"}]"#, #"{"foo":["bar","baz"]}"#),
        (
            #"{"baz":"qux","foo":"bar"}"#, #"[{"op":"replace","path":"/baz","value":"boo"}]"#,
            #"{"baz":"boo","foo":"bar"}"#
        ),
        (
            #"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
            #"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
            #"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#
        ),
        (
            #"{"foo":["all","grass","cows","eat"]}"#, #"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
            #"{"foo":["all","cows","eat","grass"]}"#
        ),
        (
            #"{"baz":"qux","foo":["a",2,"c"]}"#,
            #"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2.0}]"#,
            #"{"baz":"qux","foo":["a",2,"c"]}"#
        ),
        (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/child","value":{"g":{}}}]"#, #"{"foo":"bar","child":{"g":{}}}"#),
        (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#, #"{"foo":"bar","baz":"qux"}"#),
        (#"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":10}]"#, #"{"/":9,"~1":10}"#),
        (
            #"{"foo":["bar"]}"#, #"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
            #"{"foo":["bar",["abc","def"]]}"#
        ),
        (#"{"a":{"b":1}}"#, #"[{"op":"copy","from":"/a","path":"/c"}]"#, #"{"a":{"b":1},"c":{"b":1}}"#),
        (#"{"a":1}"#, #"[{"op":"replace","path":"","value":{"b":2}}]"#, #"{"b":2}"#),
        (#"{"a":{"x":1,"y":2}}"#, #"[{"op":"test","path":"/a","value":{"y":2,"x":1}}]"#, #"{"a":{"x":1,"y":2}}"#),
        (#"{"a":null}"#, #"[{"op":"test","path":"/a","value":null}]"#, #"{"a":null}"#),
    ])
    func `it does what the standard says`(document: String, patch: String, result: String) throws {
        #expect(try apply(patch, to: document) == result)
    }

    @Test(arguments: [
        #"[{"op":"test","path":"/baz","value":"bar"}]"#, #"[{"op":"test","path":"/n","value":"10"}]"#,
        #"[{"op":"add","path":"/none/bat","value":"qux"}]"#, #"[{"op":"replace","path":"/none","value":1}]"#,
        #"[{"op":"remove","path":"/none"}]"#, #"[{"op":"remove","path":""}]"#,
        #"[{"op":"add","path":"/list/3","value":1}]"#, #"[{"op":"add","path":"/list/01","value":1}]"#,
        #"[{"op":"add","path":"/list/-1","value":1}]"#, #"[{"op":"remove","path":"/list/-"}]"#,
        #"[{"op":"add","path":"/n/x","value":1}]"#, #"[{"op":"move","from":"/none","path":"/n"}]"#,
        #"[{"op":"add","path":"/n","value":11},{"op":"test","path":"/n","value":10}]"#,
    ])
    func `a document that does not match is reported`(patch: String) throws {
        let document = try Value(json: #"{"baz":"qux","n":10,"list":[1,2]}"#.utf8)
        let error = #expect(throws: JSONPatchError.self) {
            try JSONPatch(try Value(json: patch.utf8)).applied(to: document)
        }
        #expect(error?.isOfDocument == true && error?.message.hasPrefix("Operation ") == true)
    }

    @Test(arguments: [
        #"{}"#, #""x""#, #"[1]"#, #"[{}]"#, #"[{"op":"spam","path":"/a"}]"#, #"[{"op":"add","path":"/a"}]"#,
        #"[{"op":"add","path":"a","value":1}]"#, #"[{"op":"add","path":"/a~2","value":1}]"#,
        #"[{"op":"add","path":"/a~","value":1}]"#, #"[{"op":"copy","path":"/a"}]"#,
        #"[{"op":"add","path":1,"value":1}]"#,
        #"[{"op":"move","from":"/a","path":"/a/b"}]"#,
        "[" + [String](repeating: #"{"op":"remove","path":"/a"}"#, count: 1001).joined(separator: ",") + "]",
    ])
    func `an invalid patch is reported before any document is read`(patch: String) throws {
        let value = try Value(json: patch.utf8)
        let error = #expect(throws: JSONPatchError.self) { try JSONPatch(value) }
        #expect(error?.isOfDocument == false)
    }

    @Test func `the growth of a document is limited`() throws {
        let doubling = (0..<64).map { #"{"op":"copy","from":"","path":"/a\#($0)"}"# }.joined(separator: ",")
        let error = #expect(throws: JSONPatchError.self) { try apply("[\(doubling)]", to: #"{"text":"some words"}"#) }
        #expect(error?.message.contains("copies too much data") == true)
    }

    @Test func `the work of a patch is bounded`() throws {
        let list = Value.array((0..<100_000).map { .integer($0) })
        let document = Value.object([.init("list", list)])
        func message(_ operation: String) throws -> String? {
            let text = "[" + [String](repeating: operation, count: 1000).joined(separator: ",") + "]"
            let patch = try JSONPatch(try Value(json: text.utf8))
            do throws(JSONPatchError) {
                _ = try patch.applied(to: document)
                return nil
            } catch {
                return error.message
            }
        }
        for operation in [
            #"{"op":"add","path":"/list/0","value":1}"#, #"{"op":"remove","path":"/list/0"}"#,
            #"{"op":"move","from":"/list/0","path":"/list/-"}"#, #"{"op":"move","from":"/list","path":"/other"}"#,
        ] {
            let told = try #require(try message(operation))
            #expect(told.contains("too many steps") || told.contains("there is no"), "\(operation) \(told)")
        }
        // The cost does not depend on the rest of the document.
        for operation in [
            #"{"op":"add","path":"/list/-","value":1}"#, #"{"op":"replace","path":"/list/99999","value":1}"#,
            #"{"op":"test","path":"/list/5","value":5}"#, #"{"op":"test","path":"/list/5","value":5.0}"#,
        ] {
            #expect(try message(operation) == nil, "\(operation)")
        }
    }

    @Test func `a document can't be nested deeper than it could be read`() throws {
        // Each copy would double the depth.
        var (path, operations) = ("/a", [#"{"op":"add","path":"/a","value":{}}"#])
        for _ in 0..<16 {
            operations.append(#"{"op":"copy","from":"/a","path":"\#(path)/a"}"#)
            path += path
            if path.utf8.count > 200_000 { break }
        }
        let error = #expect(throws: JSONPatchError.self) {
            try apply("[\(operations.joined(separator: ","))]", to: "{}")
        }
        #expect(error?.message.contains("nests too deeply") == true, "\(error as Any)")
    }

    @Test func `it names the members that it may change`() throws {
        let patch = try JSONPatch(
            try Value(json: #"[{"op":"test","path":"/a","value":1},{"op":"move","from":"/b/x","path":"/c"}]"#.utf8))
        #expect(["a", "b", "c", "d"].map(patch.mayChange) == [false, true, true, false])
        let whole = try JSONPatch(try Value(json: #"[{"op":"replace","path":"","value":{}}]"#.utf8))
        #expect(whole.mayChange(member: "anything"))
    }
}
