// The tenant that a request is for, by its host, its path or its token, and settings of tenants that are refused.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct TenantPlanTests {
    private func plan(_ by: String, _ names: [String] = ["acme", "b.example"]) throws -> TenantPlan {
        let stores = names.map { Value.string($0).json + #":"sqlite:/\#($0)""# }.joined(separator: ",")
        let json = #"{"by":"\#(by)","claim":"org","stores":{\#(stores)}}"#
        return try TenantPlan(try Value(json: json.utf8), hasLogin: true)
    }

    private func choice(
        _ plan: TenantPlan, _ target: String, host: String = "x", _ method: String = "GET",
        _ claimed: ClaimedTenants = .noToken
    ) throws -> (choice: TenantPlan.Choice, path: String) {
        var request = try #require(HTTPRequest(method, target: target))
        request.headers = [HTTPHeader("Host", host)]
        let choice = plan.choice(for: &request) { claimed }
        return (choice, request.path)
    }

    private func code(_ choice: TenantPlan.Choice) -> String? {
        if case .refused(let refusal) = choice { "\(refusal.status) \(refusal.code)" } else { nil }
    }

    @Test func `a path's first segment names the tenant`() throws {
        let plan = try plan("path")
        for target in ["/acme/tables/t", "/acme", "//acme/tables", "/%61cme/tables/t/x", "/acme/healthz/x"] {
            #expect(try choice(plan, target).choice == .tenant("acme"), "\(target)")
        }
        #expect(try choice(plan, "/b.example/tables/t").choice == .tenant("b.example"))
        // As if there were no other tenant.
        #expect(try choice(plan, "/acme/readyz") == (.tenant("acme"), "/readyz"))
        #expect(try choice(plan, "/healthz").choice == .server)
        for target in ["/", "/Acme/tables/t", "/tables/t", "/acme%2Ftables/t", "/healthz/acme"] {
            #expect(code(try choice(plan, target).choice) == "503 tenant-unknown", "\(target)")
        }
    }

    @Test func `a host names the tenant, in any letter case and with any port`() throws {
        let plan = try plan("host")
        for host in ["b.example", "B.Example:8080", "b.example."] {
            #expect(try choice(plan, "/tables/t", host: host).choice == .tenant("b.example"), "\(host)")
            #expect(try choice(plan, "/healthz", host: host).choice == .tenant("b.example"), "\(host)")
        }
        #expect(try choice(plan, "/healthz", host: "10.0.0.1").choice == .server)
        for host in ["c.example", "x.b.example", "b.example/", "[::1]"] {
            #expect(code(try choice(plan, "/tables/t", host: host).choice) == "503 tenant-unknown", "\(host)")
        }
    }

    @Test func `a token names one tenant`() throws {
        let plan = try plan("claim")
        func chosen(_ claimed: ClaimedTenants) throws -> TenantPlan.Choice {
            try choice(plan, "/tables/t", "GET", claimed).choice
        }
        #expect(try chosen(.names(["acme"])) == .tenant("acme"))
        #expect(code(try chosen(.names(["other"]))) == "503 tenant-unknown")
        #expect(code(try chosen(.noToken)) == "401 login-needed")
        #expect(code(try chosen(.invalid)) == "401 invalid-token")
        for names in [[], ["acme", "b.example"]] { #expect(code(try chosen(.names(names))) == "401 other-tenant") }
        // A browser sends no token with it.
        #expect(try choice(plan, "/tables/t", "OPTIONS").choice == .server)
        #expect(try choice(plan, "/readyz").choice == .server)
    }

    @Test(arguments: [
        (#"{"by":"path","stores":{"a":"sqlite:a"}}"#, "tenants needs the claim that names a token's tenants"),
        (
            #"{"by":"claim","claim":false,"stores":{"a":"sqlite:a"}}"#,
            "tenants needs the claim that names a token's tenant"
        ),
        (#"{"stores":{}}"#, "tenants needs by"),
        (#"{"by":"paht","claim":"org","stores":{}}"#, #"tenants.by can't be "paht""#),
        (#"{"by":"path","claim":"org"}"#, "tenants.stores must be an object"),
        (#"{"by":"path","claim":"org","stores":{"a":7}}"#, "tenants.stores.a must be a string"),
        (#"{"by":"path","claim":"org","stores":{"a":"b"}}"#, "'b' is not the address of a store"),
        (#"{"by":"path","claim":"org","stores":{"a/b":"sqlite:a"}}"#, "tenants.stores.a/b can't be a tenant"),
        (#"{"by":"path","claim":"org","stores":{"..":"sqlite:a"}}"#, "tenants.stores... can't be a tenant"),
        (#"{"by":"path","claim":"org","stores":{"metrics":"sqlite:a"}}"#, "that path is the server's own"),
        (#"{"by":"host","claim":"org","stores":{"A.example":"sqlite:a"}}"#, "a host has no port"),
        (#"{"by":"host","claim":"org","stores":{"a.example:80":"sqlite:a"}}"#, "a host has no port"),
        (#"{"by":"path","claim":"org","stores":{"a":"sqlite:x","b":"sqlite:x"}}"#, "gives b and a the same store"),
        (#"{"by":"path","claim":"org","requestsPerSecond":0,"stores":{}}"#, "tenants.requestsPerSecond must be"),
    ])
    func `settings that can't be meant are refused`(_ tenants: String, _ message: String) throws {
        let error = #expect(throws: StartFailure.self) {
            try configuration(#"{"auth":{"key":"\#(testSecret)"},"tenants":\#(tenants)}"#)
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func `a server with tenants has no store of its own, and its settings can be read again`() throws {
        let tenants = #""tenants":{"by":"path","claim":"org","stores":{"a":"postgres://u:secret@db/a","b":"sqlite:b"}}"#
        #expect(throws: StartFailure.self) {
            try configuration(#"{"auth":{"key":"\#(testSecret)"},"store":"sqlite:x",\#(tenants)}"#)
        }
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},\#(tenants)}"#)
        let text = settings.value.json
        #expect(text.contains("(hidden)@db/a") && !text.contains("secret@"))
        #expect(settings.settings(ofTenant: "a")?.root == "/a/tables" && settings.settings(ofTenant: "c") == nil)
        var more = settings
        more.tenants?.names.append("c")
        more.tenants?.stores["c"] = try StorePlaces("sqlite:c")
        #expect(settings.whatNeedsRestart(more).isEmpty)
        more.tenants?.claim = "other"
        #expect(settings.whatNeedsRestart(more) == ["tenants"])
    }

    @Test func `commands for a store name its tenant`() throws {
        let file = #"{"tenants":{"by":"path","stores":{"acme":"sqlite:a","b":"sqlite:b"}},"tables":{"t":{}}}"#
        func parse(_ words: [String]) throws -> ServerCommand {
            try ServerArguments(file: { _ in Array(file.utf8) }, variable: { _ in nil }).parse(
                words + ["--config", "x"])
        }
        for words in [["--number", "t"], ["--drop-column", "t.c"], ["report"], ["--new-epoch"]] {
            let error = #expect(throws: UsageFailure.self) { try parse(words) }
            #expect(error?.message == "the server has tenants")
            let name = try parse(words + ["--tenant", "acme"])
            switch name {
            case .number(_, let settings), .dropColumn(_, let settings), .report(_, let settings):
                #expect(settings.store == "sqlite:a" && settings.tenants == nil)
            case .serve(let settings):
                #expect(settings.settings(ofTenant: "acme")?.renewsEpoch == true)
                #expect(settings.settings(ofTenant: "b")?.renewsEpoch == false)
            default: Issue.record("\(words)")
            }
        }
        #expect(throws: UsageFailure.self) { try parse(["--tenant", "acme"]) }
        #expect(throws: UsageFailure.self) { try parse(["check", "--tenant", "acne"]) }
        guard case .check(let all) = try parse(["check"]), case .check(let one) = try parse(["check", "--tenant", "b"])
        else { throw Missing() }
        #expect(all.tenants?.names == ["acme", "b"] && one.store == "sqlite:b")
    }

    private struct Missing: Error {}
}
