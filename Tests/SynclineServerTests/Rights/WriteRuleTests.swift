// Rules about writes alone: roles in them, and the answer to a caller who has lost the right.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct WriteRuleTests {
    private static let tables = #"""
        {"note":{"columns":{"list":"string","owner":"string","done":"boolean"},
          "read":"list in share(list where user eq auth.sub)",
          "delete":"owner eq auth.sub or role:warden or role:clerk and done eq true"},
        "share":{"columns":{"user":"string","list":"string"},
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"}}
        """#

    private func id(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    private func ask(
        _ desk: ServiceDesk, _ user: String, _ roles: [String], _ method: String, _ target: String,
        _ body: String? = nil
    ) throws -> (status: String, json: Value) {
        let claims = #","roles":[\#(roles.map { #""\#($0)""# }.joined(separator: ","))]"#
        let answer = try desk.ask(method, "/tables/\(target)", body, ["X-ZUMO-AUTH": token(user, claims: claims)])
        return ("\(answer.status)" + (answer.json["code"].map { " \($0.json)" } ?? ""), answer.json)
    }

    private func desk(_ backend: TestBackend) throws -> ServiceDesk {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        for user in ["ann", "bob"] {
            let share = #"{"id":"\#(user)","user":"\#(user)","list":"l"}"#
            #expect(try ask(desk, "root", ["admin"], "POST", "share", share).status == "201")
        }
        for number in 1...5 {
            let note = #"{"id":"\#(id(number))","list":"l","owner":"ann","done":\#(number == 4)}"#
            #expect(try ask(desk, "ann", [], "POST", "note", note).status == "201")
        }
        return desk
    }

    @Test(arguments: TestBackend.stores)
    func `a role gives a right to write the rows that its caller sees`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        let refused = #"403 "not-permitted""#
        func delete(_ number: Int, _ user: String, _ roles: String...) throws -> String {
            let permitted = try ask(
                desk, user, roles, "GET", "$access?table=note&id=\(id(number))"
            ).json["delete"]
            let status = try ask(desk, user, roles, "DELETE", "note/\(id(number))").status
            #expect(permitted == .bool(status == "200"))
            return status
        }
        #expect(try delete(1, "bob") == refused)
        #expect(try delete(1, "bob", "clerk") == refused)
        #expect(try delete(4, "bob", "clerk") == "200")
        #expect(try delete(1, "bob", "other", "warden") == "200")
        #expect(try delete(2, "ann") == "200")
        // A role alone shows nothing.
        #expect(try delete(3, "eve", "warden") == #"403 "row-not-visible""#)
    }

    @Test(arguments: TestBackend.stores)
    func `a write by a right that was lost is refused for that reason`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        let row = #"{"id":"\#(id(6))","list":"l","owner":"bob"}"#
        #expect(try ask(desk, "root", ["admin"], "DELETE", "share/bob").status == "200")
        #expect(try ask(desk, "bob", [], "POST", "note", row).status == #"403 "right-lost""#)
        #expect(try ask(desk, "eve", [], "POST", "note", row).status == #"403 "not-permitted""#)
        // A row that is hidden is answered as none is.
        #expect(try ask(desk, "bob", [], "PATCH", "note/\(id(1))", #"{"done":true}"#).status == #"404 "row-not-found""#)
        let batch = #"{"operations":[{"operation":"insert","table":"note","item":\#(row)}]}"#
        let claims = ["X-ZUMO-AUTH": token("bob")]
        #expect(try desk.ask("POST", "/tables/$batch", batch, claims).text.contains("right-lost"))
        let share = #"{"id":"again","user":"bob","list":"l"}"#
        #expect(try ask(desk, "root", ["admin"], "POST", "share", share).status == "201")
        #expect(try ask(desk, "bob", [], "POST", "note", row).status == "201")
    }
}
