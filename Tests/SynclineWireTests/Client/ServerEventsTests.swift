// A server's events, in pieces of any size.

import Testing

@testable import SynclineWire

@Suite struct ServerEventsTests {
    private let text = """
        retry: 1000\n\nevent: change\ndata: a.1\n\n: nothing new\n\nevent:change\r\ndata:a.2\r\nid\r\n\r\n\
        event: other\n\ndata: x: y\n\nevent: change\ntables: a,B c\ndata: a.3\n\ntables:\ndata: z\n\nevent: cut
        """

    @Test func `pieces of every size give the same result`() {
        let expected = [
            ServerEvents.Event("change", "a.1"), .init("change", "a.2"), .init("", "x: y"),
            .init("change", "a.3", tables: ["a", "B c"]), .init("", "z"),
        ]
        for size in 1...text.utf8.count {
            var reader = ServerEvents()
            var rest = Array(text.utf8)[...]
            var events: [ServerEvents.Event] = []
            while !rest.isEmpty {
                events += reader.take(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(events == expected, "\(size)")
        }
    }

    @Test func `an endless line uses bounded memory`() {
        var reader = ServerEvents()
        #expect(reader.take([UInt8](repeating: 0x61, count: 1 << 20)).isEmpty)
        #expect(reader.take(Array("\n\ndata: b\n\n".utf8)) == [.init("", "b")])
        let names = [String](repeating: "aaaaaaa", count: 1000).joined(separator: ",")
        #expect(reader.take(Array("tables: \(names)\ndata: c\n\n".utf8)) == [.init("", "c")], "any table")
    }
}
