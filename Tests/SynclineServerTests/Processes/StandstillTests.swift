// A database that hangs: the server says so, serves what needs no database, stops when it is told to, and continues
// when the database does.

import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
struct StandstillTests {
    @Test func `a hanging PostgreSQL is reported, and may recover`() throws {
        let cluster = try #require(PrivatePostgres(syncs: false))
        let words = [
            "--store", cluster.url(try cluster.newDatabase()), "--listen", "127.0.0.1:0", "--table", "t", "--log",
            "none",
        ]
        let server = try ServerProcess(words)
        defer { withExtendedLifetime((server, cluster)) {} }
        let client = KeptConnection(port: server.port)
        #expect(client.ask("POST", "/tables/t", #"{"id":"a"}"#)?.status == 201)
        #expect(client.ask("GET", "/healthz")?.status == 200)
        try cluster.standStill()
        defer { try? cluster.resume() }
        #expect(client.ask("GET", "/healthz")?.status == 503)
        for round in 0..<30 {
            let path = round % 2 == 0 ? "/tables/t/a" : "/tables/t?$filter=x%20div%202%20eq%201"
            #expect(client.ask("GET", path)?.status == 503)
            let written = client.ask("POST", "/tables/t", #"{"id":"b\#(round)"}"#)
            #expect(written?.status == 503 && written?.headers.contains("Retry-After") == true)
            #expect(client.ask("GET", "/metrics")?.status == 200)
            #expect(client.ask("GET", "/healthz")?.status == 503)
        }
        try cluster.resume()
        var status: Int? = 0
        while status != 200 { status = client.ask("GET", "/healthz")?.status }
        #expect(client.ask("GET", "/tables/t/a")?.status == 200)
        #expect(client.ask("POST", "/tables/t", #"{"id":"c"}"#)?.status == 201)
        try cluster.standStill()
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }
}

@Suite struct ReloadTests {
    @Test func `SIGHUP loads new keys, and keeps the old ones if the new can't be read`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let keys = ["first", "second"].map { String(repeating: $0, count: 8) }
        try Array(keys[0].utf8).write(to: folder.path + "/key")
        let server = try ServerProcess([
            "--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t:access=authenticated",
            "--auth-key", "file:\(folder.path)/key", "--log", "none",
        ])
        defer { withExtendedLifetime(server) {} }
        let client = KeptConnection(port: server.port)
        func status(_ key: String) -> Int? {
            client.ask("GET", "/tables/t", nil, ["X-ZUMO-AUTH": token(key: key, expires: 4_000_000_000)])?.status
        }
        #expect(status(keys[0]) == 200 && status(keys[1]) == 401)
        try Array("too short".utf8).write(to: folder.path + "/key")
        server.signal(SIGHUP)
        while server.errors.isEmpty {}
        #expect(server.errors.contains("32 bytes") && status(keys[0]) == 200)
        try Array(keys[1].utf8).write(to: folder.path + "/key")
        server.signal(SIGHUP)
        while status(keys[1]) == 401 {}
        #expect(status(keys[1]) == 200 && status(keys[0]) == 401)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    @Test func `SIGHUP switches to a new certificate`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let make = { (name: String) in
            """
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=\(name) -addext subjectAltName=IP:127.0.0.1 \
            -keyout '\(folder.path)/\(name)-key.pem' -out '\(folder.path)/\(name).pem' 2>/dev/null
            """
        }
        for name in ["first", "second"] { try #require(try shell(make(name)) == 0, "openssl is not installed") }
        func use(_ name: String, keyOf other: String) throws {
            try SystemFiles.read("\(folder.path)/\(name).pem").write(to: folder.path + "/cert.pem")
            try SystemFiles.read("\(folder.path)/\(other)-key.pem").write(to: folder.path + "/key.pem")
        }
        try use("first", keyOf: "first")
        let server = try ServerProcess([
            "--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t", "--log", "none",
            "--tls-cert", folder.path + "/cert.pem", "--tls-key", folder.path + "/key.pem",
        ])
        defer { withExtendedLifetime(server) {} }
        func shows(_ name: String) throws -> Bool {
            try shell("curl -sf --cacert '\(folder.path)/\(name).pem' https://127.0.0.1:\(server.port)/healthz") == 0
        }
        #expect(try shows("first") && !shows("second"))
        try use("second", keyOf: "first")
        server.signal(SIGHUP)
        while !server.errors.contains("can't be used for TLS") {}
        #expect(try shows("first"))
        try use("second", keyOf: "second")
        server.signal(SIGHUP)
        while try !shows("second") {}
        #expect(try !shows("first"))
    }
}
