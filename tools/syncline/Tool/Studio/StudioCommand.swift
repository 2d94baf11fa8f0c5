// `studio`: serves a page about the store on loopback, for the owner of the token that is printed once.

import SegmentLog
import Syncline
import SynclineServer

enum StudioCommand {
    static let command = Command(
        "studio", "serve a web page that shows the store",
        details: [
            """
            The printed address opens the page once. It shows any event, also of damaged stores and reports.
            """
        ],
        options: [
            Option("port", value: "N", "port to listen on (default: any free port)"),
            Option("beside", value: "STORE", "show a second store or report beside it"),
            Option("write", "allow the page to resolve conflicts"),
        ],
        examples: [Example("syncline studio", "open the address that it prints")],
        result: #"{"url":"http://127.0.0.1:4567/?token=…"}"#, run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let writes = arguments.flag("write")
        let path = try writes ? context.path(changing: arguments) : context.path(reading: arguments)
        // What a killed studio made of the reports that were dropped on it.
        ScratchFolder.removeAbandoned()
        let port = UInt16(try arguments.number("port", in: 1...65_535) ?? 0)
        let data = try data(try StoreLocation.find(arguments, context.environment).path, path, context)
        func secret() -> String { context.clock.newIdentity().description.filter { $0.isHexDigit } }
        let gate = StudioGate(token: secret(), session: secret())
        let debugger = StudioDebugger(context.host, context.table, store: path)
        let shelf = StudioShelf { path, name, traffic in
            let data = try StudioData(path, name: name, traffic: traffic)
            return StudioService(data, gate, debugger.of(path), mayWrite: false)
        }
        if let given = arguments.value("beside") {
            let path = try context.path(reading: given)
            let data = try self.data(given, path, context)
            shelf.add(StudioService(data, gate, debugger.of(path), mayWrite: false), name: data.name)
        }
        let service = StudioService(data, gate, debugger, mayWrite: writes, shelf: shelf)
        let http = try LocalHTTP(port: port) { service.answer($0) }
        defer {
            service.stop()
            http.stop()
        }
        let url = "\(http.url)/?token=\(gate.token)"
        try context.output.value(["url": .string(url)])
        try context.output.line(url)
        try context.output.flush()
        context.host.interrupt.listen()
        while !context.host.interrupt.isSet, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(100)) }
        return .done
    }

    /// - Parameters:
    ///   - given: What was named: a store or the file of a report.
    ///   - path: The directory of the store.
    private static func data(_ given: String, _ path: String, _ context: Context) throws -> StudioData {
        guard ReportShelf.isFile(given) else {
            return try StudioData(path) {
                TrafficSession.list(TrafficRecording.read(file: Traffic.file(store: path)))
            }
        }
        let sessions = try context.report(given).sessions
        return try StudioData(path, name: given.split(separator: "/").last.map(String.init)) { sessions }
    }
}
