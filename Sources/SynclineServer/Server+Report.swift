// `syncline-server report`: reads the log and the database, and writes the report to standard output.

import CLibrary
import SynclineTables

extension Server {
    /// Passes the lines of a report to the body, until it returns false.
    static func report(
        _ plan: ReportPlan, _ configuration: ServerConfiguration, now: Int64, to file: ([UInt8]) -> Bool
    ) throws(StartFailure) -> ServerReport.Counts {
        var report = try ServerReport(plan, tenant: configuration.tenant, now: now)
        if let path = plan.accessLog { try SystemFiles.forEachLine(of: path) { report.add(logged: $0) } }
        do throws(StoreFailure) {
            guard let (connection, dialect) = try connection(configuration) else {
                throw .refused(Refusal(500, "no-store", "\(configuration.store) does not exist"))
            }
            var installer = SchemaInstaller(definitions: configuration.tables, dialect: dialect)
            try installer.find(nil, on: connection, mayChange: false)
            guard try connection.tables(StateSQL.tables).count == StateSQL.tables.count else {
                throw .refused(Refusal(500, "no-store", "the database has no tables of a server"))
            }
            let catalogue = try SchemaInstaller.catalogue(connection, configuration.tables, dialect)
            let names = configuration.tables.map(\.name)
            for name in names where catalogue.tables[name] == nil {
                Diagnostics.note("table \(name) is left out: \(catalogue.faults[name]?.message ?? "it does not exist")")
            }
            try report.write(names.compactMap { catalogue.tables[$0] }, connection, dialect, to: file)
        } catch {
            throw StartFailure(error)
        }
        return report.counts
    }
}

extension ServerTool {
    static func report(_ plan: ReportPlan, _ configuration: ServerConfiguration) throws(StartFailure) {
        var (buffer, fails): ([UInt8], Bool) = ([], false)
        func flush() {
            if !fails { fails = !Diagnostics.write(buffer, to: STDOUT_FILENO) }
            buffer = []
        }
        let now = SystemServerEnvironment().now()
        let counts = try Server.report(plan, configuration, now: now) { lines in
            buffer += lines
            if buffer.count >= 1 << 16 { flush() }
            return !fails
        }
        flush()
        if fails { throw StartFailure("standard output can't be written: \(String(cString: strerror(errno)))") }
        Diagnostics.note(counts.text)
    }
}

extension ServerReport.Counts {
    var text: String {
        let parts = [
            "\(rows) rows of \(tables) tables before the span", "\(changes) changes", "\(receipts) receipts",
            "\(requests) requests", otherLines == 0 ? "" : "\(otherLines) other lines of the log",
            later == 0 ? "" : "\(later) rows were changed after the span, and are left out",
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
