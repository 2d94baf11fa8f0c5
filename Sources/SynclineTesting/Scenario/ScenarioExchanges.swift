// The scripted exchanges of a scenario: each request is compared with the next expected one, and gets the scripted
// response.

import SynclineCore
import SynclineGround
import SynclineWire

/// Placeholders in header values: each name stands for one value, different names for different values.
struct ScenarioNames {
    private var values: [String: String] = [:]

    /// Returns whether a value matches a name; a new name takes the value.
    mutating func accept(_ value: String, for name: String) -> Bool {
        if let known = values[name] { return known == value }
        if values.values.contains(value) { return false }
        values[name] = value
        return true
    }
}

struct ScenarioExchange {
    private let request: Value
    /// What happens before the response.
    let during: [Scenario.Step]
    /// Nil for a closed connection.
    private(set) var response: HTTPResponse?

    init(_ value: Value) throws {
        request = value[member: "request"] ?? .object([])
        during = try (value[member: "during"]?.elements ?? []).map { try Scenario.Step($0) }
        guard value[member: "drop"] != .bool(true), let told = value[member: "response"] else { return }
        guard case .integer(let status)? = told[member: "status"] else {
            throw ScenarioFailure("a response has a status")
        }
        var response = HTTPResponse(status: Int(status))
        if case .object(let headers)? = told[member: "headers"] {
            response.headers = headers.map { HTTPHeader($0.name, $0.value.text ?? $0.value.json) }
        }
        if let text = told[member: "text"]?.text {
            response.body = Array(text.utf8)
        } else if let body = told[member: "body"] {
            response.body = Array(body.json.utf8)
            response.headers.append(HTTPHeader("Content-Type", "application/json"))
        }
        self.response = response
    }

    /// Throws if the request is not the expected one.
    func check(_ found: HTTPRequest, _ names: inout ScenarioNames) throws {
        try expect("method", found.method, request[member: "method"]?.text ?? found.method)
        try expect("path", found.path, request[member: "path"]?.text ?? found.path)
        for parameter in request[member: "query"]?.objectMembers ?? [] {
            let value = found.query.first { $0.name == parameter.name }?.value
            try expect("parameter \(parameter.name)", value ?? "none", parameter.value.text ?? parameter.value.json)
        }
        for header in request[member: "headers"]?.objectMembers ?? [] {
            let expected = header.value.text ?? ""
            guard let value = found.headers.value(header.name) else {
                throw ScenarioFailure("no header \(header.name)")
            }
            if expected.hasPrefix("$") {
                guard names.accept(value, for: expected) else {
                    throw ScenarioFailure("the header \(header.name) is \(value), which \(expected) does not stand for")
                }
            } else {
                try expect("header \(header.name)", value, expected)
            }
        }
        for header in request[member: "absentHeaders"]?.elements ?? [] {
            guard let name = header.text, found.headers.contains(name) else { continue }
            throw ScenarioFailure("there is a header \(name)")
        }
        if let body = request[member: "body"], !body.isNull {
            let sent = try Value(json: found.body ?? [])
            guard sent.isExpected(by: body), Set(sent.objectMembers.map(\.name)) == Set(body.objectMembers.map(\.name))
            else { throw ScenarioFailure("sent \(sent.json), expected \(body.json)") }
        }
        guard let raw = request[member: "raw"] else { return }
        let texts = try JSONScanner.memberTexts(found.body ?? [])
        for member in raw.objectMembers {
            try expect("text of \(member.name)", texts[member.name] ?? "none", member.value.text ?? member.value.json)
        }
    }

    private func expect(_ what: String, _ found: String, _ expected: String) throws {
        if found == expected { return }
        throw ScenarioFailure("the \(what) is \(found), expected \(expected)")
    }
}

extension HTTPRequest {
    /// Throws if the request lacks what every request has.
    func checkForm(_ server: ServerProtocol) throws {
        let version = server == .zumo2 ? "2.0.0" : "3.0.0"
        guard headers.value("ZUMO-API-VERSION") == version else {
            throw ScenarioFailure("no version \(version) in a request")
        }
        if body != nil, headers.value("Content-Type") != "application/json" {
            throw ScenarioFailure("a body without its content type")
        }
        if method != "GET", !headers.contains("X-Syncline-Operation-Id") {
            throw ScenarioFailure("a write without an operation id")
        }
    }
}

extension Value {
    var objectMembers: [Member] {
        if case .object(let members) = self { return members }
        return []
    }
}
