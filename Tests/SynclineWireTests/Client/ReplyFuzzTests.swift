// Pages of rows, damaged at random: whatever is read is what a plain parser of the same bytes returns, to the bit,
// and everything else is reported as unreadable.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

/// Reads a page through values, without the streaming reader.
private enum PlainReading {
    /// Nil if the bytes are not a page.
    static func list(_ json: Value) -> [String]? {
        switch json {
        case .array(let rows): texts(rows)
        case .object(let members):
            members.last { $0.name == "results" || $0.name == "items" }.flatMap { list in
                guard case .array(let rows) = list.value else { return nil }
                return texts(rows)
            }
        default: nil
        }
    }

    private static func texts(_ rows: [Value]) -> [String]? {
        var texts: [String] = []
        for row in rows {
            guard case .object(let members) = row, case .string(let id)? = row[member: "id"], !id.isEmpty else {
                return nil
            }
            let columns = members.filter { $0.name != "id" }
            texts.append("\(id) \(Value.object(columns).json) \(row[member: "deleted"] == .bool(true))")
        }
        return texts
    }
}

private func pages() -> [[UInt8]] {
    let rows = (0..<6).map { number in
        #"{"id":"r\#(number)","text":"t\#(number) é😀","n":\#(number * 97),"price":\#(number).25,"done":true,"#
            + #""none":null,"createdAt":"2026-01-01T00:00:00.00\#(number)Z","updatedAt":"2026-01-01T01:00:00+01:00","#
            + #""version":"AAAAAAAA\#(number)","deleted":\#(number == 3),"list":[1,{"a":"\n"}]}"#
    }
    let list = "[" + rows.joined(separator: ",") + "]"
    return [
        list, "{\"results\":\(list),\"count\":9}", "{\"count\":null,\"items\":\(list),\"nextLink\":\"x\"}",
        "[{\"id\":\"a\",\"b\":1}, {\"id\":\"b\"}, {\"b\":2,\"id\":\"c\"},{\"id\":\"d\",\"b\":3}]",
    ].map { Array($0.utf8) }
}

@Suite("Damaged replies")
struct ReplyFuzzTests {
    private func check(_ bytes: [UInt8], _ comment: Comment) throws {
        var response = HTTPResponse(status: 200)
        response.body = bytes
        let reply = WireCodec(.zumo2).reply(response, to: .list(ListRequest(table: "t")))
        let expected: [String]?
        do throws(JSONError) {
            expected = PlainReading.list(try Value(json: bytes))
        } catch {
            // A page's large integers are doubles.
            if error.reason == .numberOutOfRange { return }
            expected = nil
        }
        switch reply.content {
        case .list(let list) where expected == nil:
            // The damage is in some rows, and the others are read.
            try #require(list.rows.contains { $0.fault != nil || $0.isDeleted }, comment)
        case .list(let list):
            let found = list.rows.map { "\($0.id) \(Value.object($0.columns.members).json) \($0.isDeleted)" }
            try #require(found == expected, comment)
            for row in list.rows { try #require(Row(row.columns.members) == row.columns, comment) }
        case .unreadable: try #require(expected == nil || isCountWrong(bytes), comment)
        case .row, .unreadableRow, .changes, .results: Issue.record(comment)
        }
    }

    /// The plain reading does not look at the count, and takes the last of two lists.
    private func isCountWrong(_ bytes: [UInt8]) -> Bool {
        guard case .object(let members)? = try? Value(json: bytes) else { return false }
        let lists = members.filter { $0.name == "results" || $0.name == "items" }
        if lists.count > 1 { return true }
        switch members.last(where: { $0.name == "count" })?.value {
        case nil, .null?: return false
        case .integer(let count)?: return count < 0
        default: return true
        }
    }

    @Test("whole pages are read unchanged")
    func whole() throws {
        for page in pages() { try check(page, "whole") }
    }

    @Test("pages cut at every byte are never read as pages")
    func cut() throws {
        for page in pages() {
            for length in 0..<page.count { try check(Array(page[..<length]), "cut at \(length)") }
        }
    }

    @Test("pages with changed, lost, doubled and moved bytes are read right or not at all")
    func mutated() throws {
        let pages = pages()
        let signs = Array(#"{}[],:"\/0123456789-+.eEtfn\u"#.utf8) + [0, 0x0a, 0x20, 0x7f, 0x80, 0xc3, 0xe2, 0xf0, 0xff]
        for seed in 0..<4000 {
            var chance = Chance(seed: UInt64(seed))
            var bytes = chance.pick(pages)
            for _ in 0...chance.below(3) where !bytes.isEmpty {
                let place = chance.below(bytes.count)
                switch chance.below(5) {
                case 0: bytes[place] = chance.pick(signs)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(chance.pick(signs), at: place)
                case 3: bytes[place] ^= UInt8(1 << chance.below(8))
                default:
                    let piece = bytes[place..<min(bytes.count, place + 1 + chance.below(40))]
                    bytes.insert(contentsOf: piece, at: chance.below(bytes.count))
                }
            }
            try check(bytes, "seed \(seed)")
        }
    }

    @Test("no bytes make the other readers stop the process")
    func others() {
        for seed in 0..<2000 {
            var chance = Chance(seed: UInt64(seed))
            let bytes = (0..<chance.below(60)).map { _ in
                chance.once(in: 3) ? UInt8(truncatingIfNeeded: chance.next()) : UInt8(0x20 + chance.below(0x5f))
            }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = HTTPDate.instant(text)
            _ = EntityTag.version(text).map(EntityTag.text)
            _ = EntityTag.versions(text)
            _ = HTTPRequest("GET", target: text)?.target(below: "http://h")
            var response = HTTPResponse(status: 500)
            response.headers = [HTTPHeader("Date", text), HTTPHeader("Retry-After", text), HTTPHeader("ETag", text)]
            response.body = bytes
            _ = WireCodec(.datasync3).reply(response, to: .row(table: "t", id: "a"))
            var request = HTTPRequest("PUT", "/tables/t/a")
            request.body = bytes
            request.headers = [HTTPHeader("If-Match", text), HTTPHeader("ZUMO-API-VERSION", text)]
            _ = try? TableRequest(request, usual: .datasync3)
        }
    }
}
