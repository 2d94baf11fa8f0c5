// Requests for single rows that are answered together: the answers are those that each would have alone.

import Dispatch
import Foundation
import LogTesting
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct JointTests {
    /// A desk, and the versions of the rows that it has answered with.
    private struct Side {
        let desk: ServiceDesk
        var versions: [String: String] = [:]

        mutating func note(_ response: HTTPResponse, _ row: String) {
            guard let tag = response.headers.value("ETag") else { return }
            versions[row] = tag
        }
    }

    private struct Draft {
        let method, path, row: String
        var body: String?
        var headers: [HTTPHeader] = []
        var matches = false

        func request(_ side: Side) throws -> HTTPRequest {
            var request = try #require(HTTPRequest(method, target: path))
            request.headers = headers + [HTTPHeader("Content-Type", "application/json")]
            if matches { request.headers.append(HTTPHeader("If-Match", side.versions[row] ?? #""AAAAAAAAAAA=""#)) }
            request.body = body.map { Array($0.utf8) }
            return request
        }
    }

    private static func draft(_ chance: inout Chance) -> Draft {
        let table = chance.pick(["todoitem", "hard", "fixed", "mine", "mine", "minehard", "secure", "admin", "absent"])
        let id = "r\(chance.below(4))"
        let text = String(repeating: "x", count: chance.once(in: 12) ? 20_000 : chance.below(9))
        let method = chance.pick(["POST", "POST", "PATCH", "PATCH", "PUT", "DELETE", "GET", "GET", "GET", "HEAD"])
        let isNewRow = method == "POST" && !chance.once(in: 8)
        let path = "/tables/\(table)" + (isNewRow ? "" : "/\(id)")
        var draft = Draft(method: method, path: path, row: "\(table)/\(id)")
        let item = chance.pick([
            #"{"id":"\#(id)","text":"\#(text)"}"#, #"{"id":"\#(id)","text":"\#(text)"}"#, #"{"text":7}"#, "{",
            #"{"id":"\#(id)","more\#(chance.below(3))":true}"#, #"{"id":"../x"}"#,
        ])
        if ["POST", "PATCH", "PUT"].contains(method) { draft.body = item }
        if method == "PATCH", chance.once(in: 6) {
            draft.body = #"[{"op":"add","path":"/text","value":"p"}]"#
            draft.headers.append(HTTPHeader("ZUMO-API-VERSION", "3.0.0"))
        } else if chance.once(in: 3) {
            draft.headers.append(HTTPHeader("ZUMO-API-VERSION", chance.pick(["2.0.0", "3.0.0", "9"])))
        }
        draft.matches = method != "GET" && chance.once(in: 3)
        if !chance.once(in: table.hasPrefix("mine") ? 9 : 2) {
            draft.headers.append(
                HTTPHeader("X-ZUMO-AUTH", chance.once(in: 9) ? "?" : token(chance.pick(["ann", "bob"]))))
        }
        if chance.once(in: 3) {
            draft.headers.append(HTTPHeader(WireHeader.operationID, "o\(chance.below(12))"))
        }
        if chance.once(in: 5) { draft.headers.append(HTTPHeader("If-None-Match", "*")) }
        return draft
    }

    /// What does not depend on the time and number of a write.
    private static func masked(_ response: HTTPResponse) -> String {
        let body = String(decoding: response.body, as: UTF8.self)
            .replacing(/"(?<name>version|updatedAt|createdAt)":"[^"]*"/) { "\"\($0.name)\"" }
        let headers = response.headers.filter { !["ETag", "Last-Modified", WireHeader.epoch].contains($0.name) }
            .map { "\($0.name): \($0.value)" }.sorted()
        return "\(response.status) \(headers) \(body)"
    }

    @Test(arguments: TestBackend.available, 1...8)
    func `requests that are answered together have the answers of each alone`(
        _ backend: TestBackend, _ seed: UInt64
    ) throws {
        var chance = Chance(seed: seed)
        var (joint, alone) = (Side(desk: try ServiceDesk(backend)), Side(desk: try ServiceDesk(backend)))
        var count = 0
        for _ in 0..<30 {
            let drafts = (0...chance.below(12)).map { _ in Self.draft(&chance) }
            var (groups, rest) = ([[], []] as [[(draft: Draft, single: SingleRequest)]], [] as [Draft])
            for draft in drafts {
                var context = RequestContext(url: "http://server:8080")
                if let single = joint.desk.service.single(try draft.request(joint), &context) {
                    groups[single.isWrite ? 0 : 1].append((draft, single))
                } else {
                    rest.append(draft)
                }
            }
            for group in groups where !group.isEmpty {
                count += group.count
                let answers = joint.desk.service.answer(group.map(\.single)).map(\.response)
                try #require(answers.count == group.count)
                for ((draft, _), answer) in zip(group, answers) {
                    let expected = alone.desk.service.answer(try draft.request(alone), url: "http://server:8080")
                    #expect(Self.masked(answer) == Self.masked(expected), "\(draft)")
                    joint.note(answer, draft.row)
                    alone.note(expected, draft.row)
                }
            }
            for draft in rest {
                let answer = joint.desk.service.answer(try draft.request(joint), url: "http://server:8080")
                let expected = alone.desk.service.answer(try draft.request(alone), url: "http://server:8080")
                #expect(Self.masked(answer) == Self.masked(expected), "\(draft)")
                joint.note(answer, draft.row)
                alone.note(expected, draft.row)
            }
        }
        #expect(count > 60)
        for table in ["todoitem", "hard", "fixed"] {
            let target = "/tables/\(table)?$orderby=id&__includeDeleted=true"
            #expect(
                try Self.masked(joint.desk.ask("GET", target)) == Self.masked(alone.desk.ask("GET", target)), "\(table)"
            )
        }
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
    func `a read of a row that is locked ends after the time limit, and others are answered`() throws {
        let server = try RunningServer(.postgres, more: #","limits":{"readSeconds":1}"#)
        guard let store = server.store.database as? PostgresDatabase else { return }
        try store.write { connection throws(StoreFailure) in
            try connection.execute(#"BEGIN; LOCK TABLE "todoitem" IN ACCESS EXCLUSIVE MODE"#)
            let connections = try? ["todoitem", "hard"].map { table in
                let connection = try server.connect()
                connection.send("GET /tables/\(table)/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return connection
            }
            let answers = (connections ?? []).map { $0.rest() }
            #expect(answers.count == 2 && answers[0].contains("took-too-long"), "\(answers)")
            #expect(answers.last?.hasPrefix("HTTP/1.1 ") == true)
            try connection.execute("ROLLBACK")
        }
    }

    @Test func `what arrives while a group is carried out is the next group`() {
        let (begun, ends, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let groups = Mutex<[[Int]]>([])
        let worker = JointWorker<Int> { jobs in
            groups.withLock { $0.append(jobs) }
            begun.signal()
            ends.wait()
            if jobs.contains(100) { done.signal() }
        }
        #expect(worker.add(0))
        begun.wait()
        #expect(!worker.isLate(now: .present) && worker.isLate(now: .present + .seconds(1)))
        for job in 1...100 { #expect(worker.add(job)) }
        #expect(worker.waitingCount == 100)
        for _ in 0..<3 { ends.signal() }
        done.wait()
        worker.close()
        #expect(!worker.add(101), "it is closed")
        #expect(groups.withLock { $0 } == [[0], Array(1...64), Array(65...100)])
        #expect(!worker.isLate(now: .present + .seconds(1)))
    }
}
