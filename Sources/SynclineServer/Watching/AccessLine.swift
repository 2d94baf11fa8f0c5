// A request's line in the log, in either form. Parameters are omitted: filters contain row data.

import SynclineCore
import SynclineTables
import SynclineWire

struct AccessLine: Hashable, Sendable {
    var time: Int64
    var id = ""
    var client = ""
    var user: String?
    var method = ""
    var path = ""
    var status = 0
    /// The code of the error.
    var code: String?
    var bytesIn = 0
    var bytesOut = 0
    var microseconds: Int64 = 0
    /// The tenant that it was for.
    var tenant: String?

    private var moment: String { Timestamp.text(milliseconds: time) }

    /// `TIME CLIENT USER METHOD "PATH" STATUS CODE BYTES-IN BYTES-OUT DURATION ID TENANT`, with `-` for missing values, and
    /// a tenant if the server has some.
    var text: String {
        let user = user.map { Value.string(String($0.prefix(200))).json } ?? "-"
        return "\(moment) \(client) \(user) \(method.prefix(20)) \(Value.string(path).json) \(status) \(code ?? "-") "
            + "\(bytesIn)B \(bytesOut)B \(microseconds)µs \(id)"
            + (tenant.map { " " + Value.string(String($0.prefix(200))).json } ?? "")
    }

    var json: String {
        var members: [Value.Member] = [
            .init("time", .string(moment)), .init("id", .string(id)), .init("client", .string(client)),
        ]
        if let tenant { members.append(.init("tenant", .string(String(tenant.prefix(200))))) }
        if let user { members.append(.init("user", .string(String(user.prefix(200))))) }
        members += [
            .init("method", .string(String(method.prefix(20)))), .init("path", .string(path)),
            .init("status", .integer(Int64(status))),
        ]
        if let code { members.append(.init("code", .string(code))) }
        members += [
            .init("bytesIn", .integer(Int64(bytesIn))), .init("bytesOut", .integer(Int64(bytesOut))),
            .init("microseconds", .integer(microseconds)),
        ]
        return Value.object(members).json
    }
}
