// A line for each request, on standard error. Parameters are left out: filters hold what rows hold.

import SynclineCore
import SynclineWire

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct AccessLog: Sendable {
    private let form: ServerConfiguration.Log

    init(_ form: ServerConfiguration.Log) {
        self.form = form
    }

    func note(_ request: ConnectionRequest, _ time: Duration) {
        if form == .none { return }
        let (seconds, attoseconds) = time.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let path = String(request.target.prefix { $0 != "?" }.prefix(500))
        Diagnostics.write(
            line(request.client.text, request.method, path, request.status, request.body.count, microseconds),
            to: STDERR_FILENO)
    }

    /// The path comes from outside: nothing in it may end the line.
    func line(
        _ client: String, _ method: String, _ path: String, _ status: Int, _ bytes: Int, _ microseconds: Int64
    ) -> String {
        guard form == .json else {
            let path = Value.string(path).json
            return "\(client) \(method) \(path) \(status) \(bytes)B \(microseconds)µs\n"
        }
        return Value.object([
            .init("client", .string(client)), .init("method", .string(method)), .init("path", .string(path)),
            .init("status", .integer(Int64(status))), .init("bytes", .integer(Int64(bytes))),
            .init("microseconds", .integer(microseconds)),
        ]).json + "\n"
    }
}
