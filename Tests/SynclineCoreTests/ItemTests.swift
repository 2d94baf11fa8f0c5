// What a store refuses because no server would accept it, and how values and rows print.

import Testing

@testable import SynclineCore

@Suite struct ItemTests {
    @Test func `a name that no server accepts is refused`() {
        let items: [Value] = [
            ["id": "a", "text": "x\0y"], ["id": "a", "list": [["x": "\0"]]], ["id": "a", "list": ["x\0": 1]],
            ["id": "a", "": 1], ["id": "a", "x\0": 1], ["id": "a", "x\n": 1], ["id": "a", "x\u{7f}": 1],
        ]
        for item in items {
            let error = #expect(throws: SyncError.self) { try Item(item) }
            #expect(error?.code == .invalidItem, "\(item)")
        }
        #expect(throws: Never.self) { try Item(["id": "a", "Straße Nr.": "x\n", "bytes": .bytes([0])]) }
    }

    @Test func `values and rows print as they are read`() {
        let value: Value = ["text": "milk", "n": 5, "done": false, "tags": ["a\"b", 1.5], "none": .null]
        #expect("\(value)" == #"{"text":"milk","n":5,"done":false,"tags":["a\"b",1.5],"none":null}"#)
        #expect("\(Value.string("milk"))" == "milk")
        #expect("\(Value.bytes([1, 2]))" == "<2 bytes>")
        #expect(Value.date(Timestamp(.init(seconds: 0))).description.hasPrefix("\"1970-01-01T00:00:00"))
        #expect("\(StoredRow(id: "a", columns: Row([.init("text", "milk")])))" == #"{"id":"a","text":"milk"}"#)
        #expect("\(Row([.init("text", "milk")]))" == #"{"text":"milk"}"#)
    }
}
