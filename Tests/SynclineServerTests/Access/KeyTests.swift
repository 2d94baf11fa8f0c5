// Keys by name, keys from a file, and keys that are exchanged while the server runs.

import Foundation
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

/// A file that a test changes.
private final class FakeFile: Sendable {
    private let state = Mutex((text: "", changed: Int64(0), looks: 0, reads: 0))

    func set(_ text: String) { state.withLock { $0 = (text, $0.changed + 1, $0.looks, $0.reads) } }

    var looks: Int { state.withLock { $0.looks } }
    var reads: Int { state.withLock { $0.reads } }

    var door: KeyFileAccess {
        KeyFileAccess(
            stamp: { [self] _ in
                state.withLock { state in
                    state.looks += 1
                    return FileStamp(node: 1, size: 1, changed: state.changed)
                }
            },
            read: { [self] _ throws(StartFailure) in
                state.withLock { state in
                    state.reads += 1
                    return Array(state.text.utf8)
                }
            })
    }
}

@Suite struct KeyTests {
    private static let now: Int64 = 1_767_225_600_000

    private func url(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    private func secret(_ letter: String) -> String { String(repeating: letter, count: 32) }

    private func set(_ keys: [(String, String)]) -> String {
        let members = keys.map { #"{"kty":"oct","kid":"\#($0.0)","k":"\#(url(Array($0.1.utf8)))"}"# }
        return #"{"keys":[\#(members.joined(separator: ","))]}"#
    }

    private func login(_ gate: TokenGate, _ key: String, _ kid: String?, now: Int64 = now) -> Login {
        let header = kid.map { #"{"alg":"HS256","kid":"\#($0)"}"# } ?? #"{"alg":"HS256"}"#
        return gate.login([HTTPHeader("X-ZUMO-AUTH", token(header: header, key: key))], now: now)
    }

    @Test func `a token is checked with the key that it names, or with each key if it names none`() throws {
        let rules = TokenRules(keys: [
            TokenKey(Array(secret("a").utf8), id: "one"), TokenKey(Array(secret("b").utf8), id: "two"),
            TokenKey(Array(secret("c").utf8)),
        ])
        let gate = TokenGate(rules)
        let ann = Login.caller(Caller(subject: "ann"))
        for (key, kid, known) in [
            ("a", "one", true), ("b", "two", true), ("a", "two", false), ("b", "three", false), ("a", nil, true),
            ("b", nil, true), ("c", nil, true), ("c", "one", true), ("c", "other", true), ("d", nil, false),
        ] {
            #expect(login(gate, secret(key), kid) == (known ? ann : .invalid), "\(key) \(kid ?? "-")")
        }
        #expect(gate.login([], now: KeyTests.now) == .none)
    }

    @Test func `a token that came before is refused before its time and after it`() throws {
        let gate = TokenGate(TokenRules(keys: [TokenKey(Array(secret("a").utf8))], leewaySeconds: 0))
        let (begin, end) = (KeyTests.now, KeyTests.now + 60_000)
        let claims = #","nbf":\#(begin / 1000)"#
        let headers = [HTTPHeader("X-ZUMO-AUTH", token(claims: claims, key: secret("a"), expires: end / 1000))]
        let ann = Login.caller(Caller(subject: "ann"))
        for (now, login) in [
            (begin, ann), (end - 1, ann), (end, .invalid), (begin - 1, .invalid), (begin, ann),
        ] { #expect(gate.login(headers, now: now) == login, "\(now)") }
    }

    @Test func `a key file is read again when it changes, which is checked once a second`() throws {
        let file = FakeFile()
        var rules = TokenRules()
        rules.file = "keys.json"
        let gate = TokenGate(rules, file.door)
        file.set("no keys")
        #expect(throws: StartFailure.self) { try gate.take(rules) }
        file.set(set([("one", secret("a"))]))
        try gate.take(rules)
        var now = KeyTests.now
        let ann = Login.caller(Caller(subject: "ann"))
        #expect(login(gate, secret("a"), "one", now: now) == ann)
        let (looks, reads) = (file.looks, file.reads)
        file.set(set([("two", secret("b"))]))
        #expect(login(gate, secret("a"), "one", now: now + 999) == ann)
        #expect(login(gate, secret("b"), "two", now: now + 999) == .invalid)
        #expect(file.looks == looks && file.reads == reads)
        now += 1000
        #expect(login(gate, secret("b"), "two", now: now) == ann)
        #expect(login(gate, secret("a"), "one", now: now) == .invalid)
        // An invalid file changes nothing, and is read once.
        file.set("{}")
        let before = file.reads
        for step in 1...3 { #expect(login(gate, secret("b"), "two", now: now + Int64(step) * 1000) == ann) }
        #expect(file.reads == before + 1)
        // A clock that was set back does not keep it from checking.
        file.set(set([("three", secret("c"))]))
        #expect(login(gate, secret("c"), "three", now: now - 86_400_000) == ann)
    }

    @Test func `a set is read as others write it, and refused if a key can't be used`() throws {
        func fault(_ json: String) -> String? {
            do throws(StartFailure) {
                _ = try KeySet.keys(Array(json.utf8))
                return nil
            } catch {
                return error.text
            }
        }
        let good = url(Array(secret("a").utf8))
        let passedOver =
            #"{"kty":"OKP","crv":"Ed25519","x":"AA"},{"kty":"oct","use":"enc","k":"AA"},{"kty":"oct","alg":"HS512","k":"AA"},{"kty":"EC","crv":"P-521","x":"AA","y":"AA"},{"kty":"oct","key_ops":["sign"],"k":"AA"}"#
        let keys = try KeySet.keys(
            Array(#"{"keys":[\#(passedOver),{"kty":"oct","alg":"HS256","use":"sig","x5t":"?","k":"\#(good)"}]}"#.utf8))
        #expect(keys == [TokenKey(Array(secret("a").utf8))])
        for (json, words) in [
            ("", "not valid JSON"), ("[]", "object"), ("{}", "not a JSON Web Key Set"), (#"{"keys":[]}"#, "no key"),
            (#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, "32 bytes"), (#"{"keys":[{"kty":"oct"}]}"#, "keys[0].k"),
            (#"{"keys":[{"kty":"oct","k":"\#(good)","kid":"a"},{"kty":"oct","k":"\#(good)","kid":"a"}]}"#, "kid"),
            (#"{"keys":[{"kty":"oct","k":"\#(good)","k":"\#(good)"}]}"#, "two members"),
            (#"{"keys":[{"kty":"oct","k":"\#(good)","kid":5}]}"#, "must be a string"),
            (#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, "2048 bits"),
            (#"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#, "can't be used"),
        ] {
            #expect(fault(json)?.contains(words) == true, "\(json): \(fault(json) ?? "")")
        }
    }

    @Test(arguments: ["RSA -pkeyopt rsa_keygen_bits:2048", "EC -pkeyopt ec_paramgen_curve:P-256"])
    func `a public key of a set checks what its private key signed`(_ kind: String) throws {
        let folder = try TemporaryFolder()
        let text = folder.path + "/text"
        let isRSA = kind.hasPrefix("RSA")
        let header = #"{"alg":"\#(isRSA ? "RS256" : "ES256")","kid":"k"}"#
        let signed = url(Array(header.utf8)) + "." + url(Array(#"{"sub":"ann","exp":1800000000}"#.utf8))
        try Array(signed.utf8).write(to: text)
        let script = """
            cd '\(folder.path)' && openssl genpkey -algorithm \(kind) -out private.pem 2>/dev/null \
            && openssl pkey -in private.pem -pubout -outform DER -out public.der \
            && openssl dgst -sha256 -sign private.pem -out signature text
            """
        try #require(try shell(script) == 0, "openssl is not installed")
        // The numbers of a set are at the ends of what openssl writes.
        let der = try SystemFiles.read(folder.path + "/public.der")
        var signature = try SystemFiles.read(folder.path + "/signature")
        let json: String
        if isRSA {
            let modulus = Array(der.dropLast(5).suffix(256))
            json = #"{"keys":[{"kty":"RSA","kid":"k","n":"\#(url(modulus))","e":"AQAB"}]}"#
        } else {
            signature = try #require(TokenTestKeys.pair(fromEncoded: signature))
            let (x, y) = (Array(der.suffix(64).prefix(32)), Array(der.suffix(32)))
            json = #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\#(url(x))","y":"\#(url(y))"}]}"#
        }
        let keys = try KeySet.keys(Array(json.utf8))
        #expect(keys.map(\.bytes) == [der], "it is what openssl writes")
        let rules = TokenRules(keys: keys)
        #expect(rules.token(signed + "." + url(signature))?.caller(now: KeyTests.now)?.subject == "ann")
        signature[20] ^= 1
        #expect(rules.token(signed + "." + url(signature))?.caller(now: KeyTests.now) == nil)
    }

    @Test func `the token of a read that begins again is not checked again`() throws {
        let desk = try ServiceDesk()
        var request = try #require(HTTPRequest("GET", target: "/tables/mine"))
        request.headers = [HTTPHeader("X-ZUMO-AUTH", token())]
        var context = RequestContext(url: "http://server")
        #expect(desk.service.answer(request, &context).status == 200)
        // Years later it has expired.
        desk.environment.set(now: 4_000_000_000_000)
        #expect(desk.service.answer(request, &context).status == 200)
        #expect(context.user == "ann")
        #expect(desk.service.answer(request, url: "http://server").status == 401)
    }

    @Test func `settings that a running server can't change are named`() throws {
        let auth = #""auth":{"key":"\#(secret("a"))"}"#
        let first = try configuration(#"{\#(auth),"pageSize":5}"#)
        #expect(first.whatNeedsRestart(try configuration(#"{"auth":{"jwks":"x"},"pageSize":5}"#)) == [])
        #expect(
            first.whatNeedsRestart(try configuration(#"{"pageSize":6,"threads":3}"#)) == [
                "auth", "pageSize", "threads",
            ])
    }
}
