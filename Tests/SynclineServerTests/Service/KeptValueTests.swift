// The server keeps what it is sent: a number, date or UUID comes back with the meaning that it had, through either
// protocol and from either database, or is refused with the name of the column.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct KeptValueTests {
    private static let tables = """
        {"loose":{},"typed":{"dynamicSchema":false,"columns":{"number":"number","decimal":"decimal",
        "words":"decimal(string)","date":"date","uuid":"uuid","text":"string","json":"json"}}}
        """

    /// Inserts a value as JSON through one protocol; returns what the other one reads, or nil if it is refused.
    private func kept(
        _ desk: ServiceDesk, _ table: String, _ column: String, _ json: String, _ id: String, new: Bool
    ) throws -> Value? {
        let made = try desk.ask("POST", "/tables/\(table)", #"{"id":"\#(id)","\#(column)":\#(json)}"#, new: new)
        if made.status == 201 {
            let read = try desk.ask("GET", "/tables/\(table)/\(id)", new: !new)
            #expect(read.json[column] == made.json[column], "\(json) in \(column)")
            return read.json[column]
        }
        #expect(made.status == 400, "\(json) in \(column): \(made.text)")
        let names = made.json["error"]?.string?.contains("olumn \(column)") == true
        #expect(made.json["code"] == .string("invalid-value") && names, "\(json) in \(column): \(made.text)")
        #expect(try desk.ask("GET", "/tables/\(table)/\(id)").status == 404)
        return nil
    }

    @Test(arguments: TestBackend.stores)
    func `a number has the same digits, or is refused by the name of its column`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        for (place, spelling) in Spellings.numbers(1).enumerated() {
            let sent = Value(number: spelling).flatMap { NumberDigits(number: $0) }
            let isDecimal = sent?.isDecimal == true
            let isDouble = sent != nil && Double(spelling).flatMap { NumberDigits(shortest: $0) } == sent
            for (table, column, json) in [
                ("loose", "n", spelling), ("typed", "number", spelling), ("typed", "decimal", spelling),
                ("typed", "decimal", "\"\(spelling)\""), ("typed", "words", spelling),
                ("typed", "words", "\"\(spelling)\""),
            ] {
                let id = "\(column)\(json.hasPrefix("\"") ? "s" : "")\(place)"
                let made = try kept(desk, table, column, json, id, new: place % 2 == 0)
                let isHeld = isDecimal || isDouble && ["n", "number"].contains(column)
                #expect((made != nil) == isHeld, "\(json) in \(column)")
                guard let made else { continue }
                #expect(NumberDigits(number: made) == sent, "\(json) in \(column): \(made.json)")
                let isText = if case .string = made { true } else { false }
                #expect(isText == (column == "words"), "\(json) in \(column): \(made.json)")
                if column == "decimal", !spelling.lowercased().contains("e"), spelling.count < 40, spelling.first != "-"
                {
                    #expect(made.json == spelling, "needless zeros stay")
                }
            }
        }
    }

    @Test(arguments: TestBackend.available)
    func `a date is the same instant, and a UUID the same one`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        for (place, spelling) in Spellings.dates(2).enumerated() {
            let made = try kept(desk, "typed", "date", "\"\(spelling)\"", "d\(place)", new: place % 2 == 0)
            let loose = try kept(desk, "loose", "d", "\"\(spelling)\"", "d\(place)", new: place % 2 == 0)
            #expect(loose == .string(spelling))
            var sent = Timestamp(anyForm: spelling)?.instant
            if let seconds = sent?.seconds, !(-62_135_596_800...253_402_300_799).contains(seconds) { sent = nil }
            // PostgreSQL has microseconds.
            if backend == .postgres, let exact = sent { sent?.nanoseconds = exact.nanoseconds / 1000 * 1000 }
            #expect((made?.string).flatMap { Timestamp($0) }?.instant == sent, "\(spelling): \(made?.json ?? "-")")
        }
        for (place, spelling) in Spellings.uuids(3).enumerated() {
            let made = try kept(desk, "typed", "uuid", "\"\(spelling)\"", "u\(place)", new: place % 2 == 0)
            let loose = try kept(desk, "loose", "u", "\"\(spelling)\"", "u\(place)", new: place % 2 == 0)
            #expect(loose == .string(spelling))
            #expect(made == (ColumnType.uuid.fits(.string(spelling)) ? .string(spelling) : nil), "\(spelling)")
        }
        #expect(try desk.store.sweep().isEmpty)
        #expect(try desk.store.sweep().isEmpty, "what is read has the digest of what was written")
    }

    @Test(arguments: TestBackend.stores, [false, true])
    func `filters, orders and counts ask for the meaning`(_ backend: TestBackend, isDeclared: Bool) throws {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        let table = isDeclared ? "typed" : "loose"
        let names = isDeclared ? ["decimal", "date", "uuid"] : ["n", "d", "u"]
        let rows = [
            ("a", "12345678901234567890.12", "2026-05-19T23:30:00+02:00", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
            ("b", "12345678901234567890.13", "2026-05-19T21:30:00.1234567Z", "0b9619ff-8b86-d011-b42d-00c04fc964ff"),
            ("c", "7", "2026-05-20", "6f9619ff-8B86-d011-b42d-00c04fc964fe"),
            ("d", "-0.07", "1969-12-31T23:59:59.999999Z", "ab9619ff-8b86-d011-b42d-00c04fc964ff"),
            ("e", "12345678901234567000", "2026-05-19T21:30:00.123Z", "AB9619FF-8B86-D011-B42D-00C04FC964FF"),
        ]
        for (id, number, date, uuid) in rows {
            let item = """
                {"id":"\(id)","\(names[0])":\(number),"\(names[1])":"\(date)","\(names[2])":"\(uuid)"}
                """
            let made = try desk.ask("POST", "/tables/\(table)", item)
            #expect(made.status == 201, "\(made.text)")
        }
        _ = try desk.ask("POST", "/tables/\(table)", #"{"id":"z"}"#)
        var expected: [(String, String)] = [
            ("N gt 12345678901234567890.12", "b"), ("N ge 12345678901234567890.12", "ab"),
            ("N eq 12345678901234567890.12", "a"), ("N lt 12345678901234567890.12", "cde"),
            ("N gt 12345678901234567000", "ab"), ("N le 12345678901234567000", "cde"), ("N gt 6.5", "abce"),
            ("N lt 6.5", "d"), ("N in (7,12345678901234567890.13)", "bc"), ("N in (7,1.2345678901234567e19)", "ce"),
            ("N eq 1.2345678901234567e19", "e"), ("N eq 12345678901234567000", "e"), ("N eq -0.07", "d"),
            ("N eq 7.00", "c"),
            ("N ne 12345678901234567890.12", "bcde"), ("12345678901234567890.12 lt N", "b"),
            ("N gt 1.2345678901234567e19", "ab"), ("N lt 1e300", "abcde"), ("N gt 1e300", ""),
            ("D gt cast(2026-05-19T21:30:00.123Z,Edm.DateTimeOffset)", "bc"),
            ("D ge datetimeoffset'2026-05-19T21:30:00.123Z'", "bce"),
            ("D eq datetimeoffset'2026-05-19T21:30:00.000Z'", "a"),
            ("D eq cast(2026-05-19T14:30:00-07:00,Edm.DateTimeOffset)", "a"),
            ("D ge cast(2026-05-20,Edm.Date)", "c"), ("D eq cast(2026-05-20,Edm.Date)", "c"),
            ("D lt cast(1970-01-01,Edm.Date)", "d"), ("D lt datetimeoffset'1969-12-31T23:59:59.9999995Z'", "d"),
            ("D ne datetimeoffset'2026-05-20T00:00:00Z'", "abde"),
            ("U eq guid'6f9619ff-8b86-d011-b42d-00c04fc964ff'", "a"),
            ("U eq cast(6F9619FF-8B86-D011-B42D-00C04FC964FE,Edm.Guid)", "c"),
            ("U eq '6f9619ff-8b86-d011-b42d-00c04fc964ff'", "a"), ("U eq 'AB9619FF-8b86-D011-B42D-00C04FC964FF'", "de"),
            ("U ne 'ab9619ff-8b86-d011-b42d-00c04fc964ff'", "abc"),
            ("(U eq '6F9619FF-8B86-D011-B42D-00C04FC964FF' or U eq '6f9619ff-8b86-d011-b42d-00c04fc964ff')", "a"),
            ("U in ('0B9619FF-8B86-D011-B42D-00C04FC964FF',guid'6F9619FF-8B86-D011-B42D-00C04FC964FE')", "bc"),
            ("startswith(U,'AB')", "e"), ("U eq 'none'", ""), ("U ne null", "abcde"),
            ("year(D) eq 1969", "d"), ("id eq guid'A'", ""), ("id in (guid'a','b')", "ab"),
        ]
        if isDeclared {
            expected += [
                ("N eq '7.0'", "c"), ("N gt '12345678901234567890.12'", "b"), ("N in ('7',-0.07)", "cd"),
                ("U gt '6F9619FF-8B86-D011-B42D-00C04FC964FE'", "ade"),
            ]
        }
        for (short, ids) in expected {
            let filter = zip([/\bN\b/, /\bD\b/, /\bU\b/], names).reduce(short) { $0.replacing($1.0, with: $1.1) }
            for text in [filter, "\(filter) and length(id) eq 1"] {
                let target = "/tables/\(table)?$filter=\(text.encoded)&$inlinecount=allpages"
                let answer = try desk.ask("GET", target)
                #expect(
                    answer.ids.joined() == ids && answer.json["count"] == .integer(Int64(ids.count)),
                    "\(text): \(answer.ids) \(answer.status == 200 ? "" : answer.text)")
            }
        }
        if !isDeclared {
            #expect(try desk.ask("GET", "/tables/loose?$orderby=n").ids.joined() == "zdceab")
            return
        }
        for (order, ids) in [
            ("decimal", "zdceab"), ("decimal desc", "baecdz"), ("date", "zdaebc"), ("uuid,id desc", "zbcaed"),
            ("uuid desc", "deacbz"),
        ] {
            var (target, seen) = ("/tables/typed?$orderby=\(order.encoded)&$top=2", "")
            for page in 0..<3 { seen += try desk.ask("GET", target + "&$skip=\(page * 2)").ids.joined() }
            #expect(seen == ids, "\(order)")
            target = "/tables/typed?$orderby=\(order.encoded)&$filter=\("length(id) eq 1".encoded)"
            #expect(try desk.ask("GET", target).ids.joined() == ids, "\(order)")
        }
    }
}
