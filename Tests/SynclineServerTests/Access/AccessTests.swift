// Which callers may do what. A refused caller learns nothing about the table.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

/// The key that signs the tests' tokens.
let testSecret = "a secret of the tests, long enough to be one"

/// A token with the claims a test wants.
func token(
    _ subject: String = "ann", claims: String = "", header: String = #"{"alg":"HS256","typ":"JWT"}"#,
    key: String = testSecret, expires: Int64 = 1_800_000_000
) -> String {
    func part(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }
    let body = #"{"sub":"\#(subject)","exp":\#(expires)\#(claims)}"#
    let signed = part(Array(header.utf8)) + "." + part(Array(body.utf8))
    return signed + "." + part(TokenSignature.keyedHash(of: Array(signed.utf8), key: Array(key.utf8)))
}

@Suite struct AccessTests {
    private func login(_ subject: String, _ claims: String = "") -> [String: String] {
        ["X-ZUMO-AUTH": token(subject, claims: claims)]
    }

    @Test func `a token in either header gives access to what needs a login`() throws {
        let desk = try ServiceDesk()
        let locked = try desk.ask("GET", "/tables/secure")
        #expect(locked.status == 401 && locked.headers.contains("WWW-Authenticate"))
        #expect(try desk.ask("GET", "/tables/secure", nil, login("ann")).status == 200)
        #expect(try desk.ask("GET", "/tables/secure", nil, ["Authorization": "bEaReR \(token())"]).status == 200)
        #expect(try desk.ask("GET", "/tables/secure", nil, ["Authorization": "Basic \(token())"]).status == 401)
    }

    @Test func `an invalid token gives no access`() throws {
        let desk = try ServiceDesk()
        let good = token()
        let parts = good.split(separator: ".").map(String.init)
        let wrong = [
            "", "x", "a.b.c", token(key: "other"), token(expires: 1_767_225_500), token(claims: #","nbf":1767225700"#),
            token(claims: #","nbf":"soon""#), token(header: #"{"alg":"none"}"#), parts[0] + "." + parts[1] + ".",
            token(header: #"{"alg":"HS512"}"#), token(header: #"{"alg":"RS256"}"#),
            token(header: #"{"alg":"HS256","crit":["x"]}"#), token(""), good + "=", good + ".x", good.lowercased(),
            token(claims: #","exp":"never""#),
        ]
        for text in wrong {
            for path in ["/tables/secure", "/tables/todoitem"] where !text.isEmpty {
                #expect(try desk.ask("GET", path, nil, ["X-ZUMO-AUTH": text]).status == 401, "\(text)")
            }
        }
        #expect(
            try desk.ask("GET", "/tables/secure", nil, ["X-ZUMO-AUTH": token(expires: 1_767_225_550)]).status == 200)
    }

    @Test func `audience and issuer must be those of the configuration`() throws {
        var rules = TokenRules(keys: [TokenKey(Array(testSecret.utf8))])
        rules.audience = "us"
        rules.issuer = "them"
        let now: Int64 = 1_767_225_600_000
        #expect(rules.token(token(claims: #","aud":"us","iss":"them""#))?.caller(now: now)?.subject == "ann")
        #expect(rules.token(token(claims: #","aud":["x","us"],"iss":"them""#))?.caller(now: now) != nil)
        for claims in ["", #","aud":"us""#, #","aud":"x","iss":"them""#, #","aud":"us","iss":"x""#] {
            #expect(rules.token(token(claims: claims))?.caller(now: now) == nil, "\(claims)")
        }
    }

    @Test(arguments: TestBackend.stores)
    func `a user's rows are hidden from all others`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        for table in ["mine", "minehard"] {
            let path = "/tables/\(table)"
            #expect(
                try desk.ask("POST", path, #"{"id":"a","text":"secret","userId":"bob"}"#, login("ann")).status == 201)
            let own = try desk.ask("GET", "\(path)/a", nil, login("ann"))
            #expect(own.json["userId"] == .string("ann"), "the column can be set only by the server")
            for new in [false, true] {
                let bob = login("bob")
                #expect(try desk.ask("GET", "\(path)/a", nil, bob, new: new).status == 404)
                #expect(try desk.ask("PATCH", "\(path)/a", #"{"text":"x"}"#, bob, new: new).status == 404)
                #expect(try desk.ask("PUT", "\(path)/a", #"{"text":"x"}"#, bob, new: new).status == 404)
                #expect(try desk.ask("DELETE", "\(path)/a", nil, bob, new: new).status == 404)
                #expect(try desk.ask("POST", "\(path)/a", nil, bob, new: new).status == 404)
                let taken = try desk.ask("POST", path, #"{"id":"a"}"#, bob, new: new)
                #expect(taken.status == 403 && taken.etag == nil && !taken.text.contains("secret"))
            }
            #expect(try desk.ask("GET", path, nil, login("bob")).ids == [])
            #expect(try desk.ask("GET", "\(path)?$filter=userId%20eq%20'ann'", nil, login("bob")).ids == [])
            let count = try desk.ask("GET", "\(path)?$top=0&$inlinecount=allpages", nil, login("bob"))
            #expect(count.json["count"] == .integer(0))
            #expect(try desk.ask("PUT", "\(path)/a", #"{"text":"y","userId":"bob"}"#, login("ann")).status == 200)
            #expect(try desk.ask("GET", path, nil, login("ann")).ids == ["a"])
            #expect(try desk.ask("DELETE", "\(path)/a", nil, login("ann")).status == 200)
            #expect(try desk.ask("GET", "\(path)/changes?since=", nil, login("bob")).ids == [])
            #expect(try desk.ask("GET", "\(path)/changes?since=", nil, login("ann")).ids == ["a"])
        }
        let operation = [WireHeader.operationID: "same"]
        let headers = { (name: String) in login(name).merging(operation) { $1 } }
        #expect(try desk.ask("POST", "/tables/mine", #"{"id":"x"}"#, headers("ann")).status == 201)
        let taken = try desk.ask("POST", "/tables/mine", #"{"id":"x"}"#, headers("bob"))
        #expect(taken.status == 403 && taken.code == "id-taken")
        #expect(taken.json["error"] == .string("The id is taken by an item of another user; use another id"))
        let batch = #"{"operations":[{"operation":"insert","table":"mine","item":{"id":"x"}}]}"#
        let results = try desk.ask("POST", "/tables/$batch", batch, headers("bob")).json["results"]
        #expect(results?[0]?["status"] == 403 && results?[0]?["row"] == nil)
    }

    @Test func `roles and disabled operations are enforced`() throws {
        let desk = try ServiceDesk()
        #expect(try desk.ask("POST", "/tables/admin", "{}").status == 401)
        #expect(try desk.ask("POST", "/tables/admin", "{}", login("ann", #","roles":["guest"]"#)).status == 403)
        #expect(try desk.ask("POST", "/tables/admin", "{}", login("ann", #","roles":["guest","admin"]"#)).status == 201)
        for (method, path) in [
            ("POST", "/readonly"), ("PATCH", "/readonly/a"), ("PUT", "/readonly/a"),
            ("DELETE", "/readonly/a"), ("POST", "/readonly/a"),
        ] {
            #expect(try desk.ask(method, "/tables\(path)", method == "DELETE" ? nil : "{}").status == 405)
        }
        #expect(try desk.ask("GET", "/tables/readonly").status == 200)
    }

    @Test func `a known user without permission gets 403, an unknown one 401`() throws {
        let tables = #"{"staff":{"read":"role:staff"},"shut":{"read":"disabled"}}"#
        let desk = try ServiceDesk(tables: tables)
        var request = try #require(HTTPRequest("GET", target: "/tables/$events"))
        func events(_ headers: [String: String]) -> HTTPResponse {
            request.headers = headers.map { HTTPHeader($0.key, $0.value) }
            var context = RequestContext()
            return desk.service.events(request, &context).response
        }
        let guest = login("ann", #","roles":["guest"]"#)
        #expect(events([:]).status == 401 && events([:]).headers.contains("WWW-Authenticate"))
        #expect(events(guest).status == 403 && !events(guest).headers.contains("WWW-Authenticate"))
        #expect(events(login("ann", #","roles":["staff"]"#)).status == 200)
        #expect(try desk.ask("GET", "/tables/staff", nil, guest).status == 403)
        #expect(try desk.ask("GET", "/tables/staff").status == 401)
        // A header that should say who it is, but does not.
        for text in ["Bearer", "Bearer ", "Bearer a b", "bearer \(token()) x"] {
            #expect(
                try desk.ask("GET", "/tables/staff", nil, ["Authorization": text]).json["code"]
                    == .string("invalid-token"), "\(text)")
        }
    }

    @Test(arguments: TestBackend.stores)
    func `each of two users learns about a row that they permanently deleted under the same id`(_ backend: TestBackend)
        throws
    {
        let desk = try ServiceDesk(backend)
        let path = "/tables/minehard"
        for name in ["ann", "bob"] {
            #expect(try desk.ask("POST", path, #"{"id":"a","text":"\#(name)"}"#, login(name)).status == 201)
            #expect(try desk.ask("DELETE", "\(path)/a", nil, login(name)).status == 200)
        }
        for name in ["ann", "bob"] {
            let page = try desk.ask("GET", "\(path)/changes?since=&$count=true", nil, login(name))
            #expect(page.ids == ["a"] && page.json["items"]?[0]?["deleted"] == .bool(true), "\(name): \(page.text)")
            #expect(page.json["count"] == .integer(1))
        }
        // A row that was restored is reported as a row, to its owner.
        #expect(try desk.ask("POST", path, #"{"id":"a"}"#, login("ann")).status == 201)
        #expect(
            try desk.ask("GET", "\(path)/changes?since=", nil, login("ann")).json["items"]?[0]?["deleted"]
                == .bool(false))
        #expect(
            try desk.ask("GET", "\(path)/changes?since=", nil, login("bob")).json["items"]?[0]?["deleted"]
                == .bool(true))
    }

    @Test func `pages of other origins read what they may`() throws {
        let desk = try ServiceDesk()
        func origin(_ text: String, _ path: String = "/tables/todoitem") throws -> String? {
            let answer = try desk.ask("GET", path, nil, ["Origin": text])
            #expect(answer.headers.value("Vary") == "Origin")
            return answer.headers.value("Access-Control-Allow-Origin")
        }
        for allowed in [
            "http://localhost", "https://localhost:3000", "https://a.apps.example", "http://A.B.apps.example",
        ] {
            #expect(try origin(allowed) == allowed)
        }
        #expect(try origin("http://localhost", "/tables/nope") == "http://localhost", "errors can be read, too")
        for refused in [
            "http://evil.example", "ftp://localhost", "http://localhost/x", "http://localhost.evil.example", "null",
            "https://apps.example", "http://localhost@evil.example", "http://evilapps.example",
        ] {
            #expect(try origin(refused) == nil, "\(refused)")
        }
        let asked = ["Origin": "http://localhost", "Access-Control-Request-Headers": "x-zumo-auth, if-match"]
        let preflight = try desk.ask("OPTIONS", "/tables/secure", nil, asked)
        #expect(preflight.status == 204)
        #expect(preflight.headers.value("Access-Control-Allow-Headers") == "x-zumo-auth, if-match")
        for wrong in ["no name, if-match", ", ,", "a,,b", "a\tb", "é"] {
            let asked = asked.merging(["Access-Control-Request-Headers": wrong]) { $1 }
            let answer = try desk.ask("OPTIONS", "/tables/secure", nil, asked)
            #expect(answer.headers.value("Access-Control-Allow-Headers") == nil, "\(wrong)")
        }
    }

    @Test func `an origin may be given in full`() throws {
        func allows(_ pattern: String, _ origin: String) -> Bool {
            var cors = CrossOrigin()
            cors.origins = [pattern]
            return cors.allows(origin)
        }
        #expect(allows("https://app.example", "https://app.example"))
        #expect(allows("https://app.example", "https://APP.example:443"))
        #expect(!allows("https://app.example", "http://app.example"))
        #expect(!allows("https://app.example", "https://app.example:8443"))
        #expect(allows("https://app.example:8443", "https://app.example:8443"))
        #expect(!allows("https://app.example:8443", "https://app.example"))
        #expect(allows("https://*.app.example", "https://a.app.example"))
        #expect(!allows("https://*.app.example", "http://a.app.example"))
        #expect(allows("localhost:3000", "http://localhost:3000") && !allows("localhost:3000", "http://localhost"))
        #expect(allows("http://[::1]:8080", "http://[::1]:8080") && allows("*", "http://anything:1"))
        #expect(!allows("https://app.example", "https://app.example.evil.example"))
        for wrong in ["", "https://", "https://a/b", "ftp://a", "a b", "https://a:99999", "https://a@b", "a,b"] {
            let json = #"{"cors":{"origins":["\#(wrong)"]}}"#
            #expect(throws: StartFailure.self, "\(wrong)") { try configuration(json) }
        }
    }

    @Test(arguments: ["RS256", "ES256"])
    func `a signature by a private key is checked with the public one`(_ name: String) throws {
        let folder = try TemporaryFolder()
        let kind = name == "RS256" ? "RSA -pkeyopt rsa_keygen_bits:2048" : "EC -pkeyopt ec_paramgen_curve:P-256"
        let keys = """
            cd '\(folder.path)' && openssl genpkey -algorithm \(kind) -out private.pem 2>/dev/null \
            && openssl pkey -in private.pem -pubout -out public.pem
            """
        try #require(try shell(keys) == 0, "openssl is not installed")
        func part(_ bytes: [UInt8]) -> String {
            String(Base64.encode(bytes).filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        }
        let header = #"{"alg":"\#(name)"}"#
        let signed = part(Array(header.utf8)) + "." + part(Array(#"{"sub":"ann","exp":1800000000}"#.utf8))
        try Array(signed.utf8).write(to: folder.path + "/text")
        #expect(try shell("cd '\(folder.path)' && openssl dgst -sha256 -sign private.pem -out signature text") == 0)
        var signature = try SystemFiles.read(folder.path + "/signature")
        if name == "ES256" { signature = try #require(TokenTestKeys.pair(fromEncoded: signature)) }
        let algorithm = try #require(TokenAlgorithm(rawValue: name))
        let key = TokenKey(try SystemFiles.read(folder.path + "/public.pem"), algorithm)
        let rules = TokenRules(keys: [key])
        let now: Int64 = 1_767_225_600_000
        #expect(TokenSignature.fault(key) == nil)
        #expect(rules.token(signed + "." + part(signature))?.caller(now: now)?.subject == "ann")
        signature[10] ^= 1
        #expect(rules.token(signed + "." + part(signature))?.caller(now: now) == nil)
        // The public key is not secret: a hash made with it must not pass.
        let pem = String(decoding: key.bytes, as: UTF8.self)
        #expect(rules.token(token(header: #"{"alg":"HS256"}"#, key: pem))?.caller(now: now) == nil)
        #expect(rules.token(token(header: header, key: pem))?.caller(now: now) == nil)
    }
}

enum TokenTestKeys {
    /// The two numbers of a signature in the encoding that openssl writes: a sequence of two integers.
    static func pair(fromEncoded bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count > 8, bytes[0] == 0x30 else { return nil }
        var place = 2
        var pair: [UInt8] = []
        for _ in 0..<2 {
            guard place + 1 < bytes.count, bytes[place] == 2 else { return nil }
            let length = Int(bytes[place + 1])
            guard place + 2 + length <= bytes.count else { return nil }
            let number = bytes[place + 2..<place + 2 + length].drop { $0 == 0 }
            pair += [UInt8](repeating: 0, count: 32 - number.count) + number
            place += 2 + length
        }
        return pair
    }
}
