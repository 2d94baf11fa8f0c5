// `syncline-server check`: looks at everything that a start needs, changes nothing, and says how to mend each fault.

import SynclineCore
import SynclineTables
import SynclineWire

extension Server {
    /// All findings. A configuration that can't be read has none: the command line is refused then.
    static func check(_ configuration: ServerConfiguration, descriptors: Int) -> [Finding] {
        var findings = configuration.findings(descriptors: descriptors)
        do throws(StartFailure) {
            _ = try certificate(configuration)
            try TokenGate(configuration.auth).take(configuration.auth)
        } catch {
            findings.append(Finding(.error, "configuration", "invalid-file", error.message, mend: error.hint))
        }
        guard let tenants = configuration.tenants else { return findings + inspected(configuration) }
        for name in tenants.names {
            guard let own = configuration.settings(ofTenant: name) else { continue }
            for var finding in inspected(own) {
                finding.place = "tenant \(name): \(finding.place)"
                findings.append(finding)
            }
        }
        return findings
    }

    /// The findings about the database.
    private static func inspected(_ configuration: ServerConfiguration) -> [Finding] {
        do throws(StoreFailure) {
            return try inspect(configuration)
        } catch {
            let failure = StartFailure(error)
            return [Finding(.error, "database", "store-unavailable", failure.message, mend: failure.hint)]
        }
    }

    /// A connection to look at the database; nil if there is no file.
    static func connection(
        _ configuration: ServerConfiguration
    ) throws(StoreFailure) -> (any SQLConnection, SQLDialect)? {
        switch try configuration.address() {
        case .sqlite(let path):
            if SystemFiles.stamp(path) == nil { return nil }
            // A connection that could write finds out whether the file is read-only.
            return (try SQLiteConnection(path: path, isReader: false), .sqlite)
        case .postgres(let url):
            let waits = PostgresWaitLimits(limits: configuration.limits.database)
            return (try PostgresConnection(url: url, waits: waits), .postgres)
        }
    }

    private static func inspect(_ configuration: ServerConfiguration) throws(StoreFailure) -> [Finding] {
        guard let (connection, dialect) = try connection(configuration) else {
            let path = configuration.store.dropFirst("sqlite:".count)
            return [Finding(.fact, "database", "will-be-made", "\(path) will be made when the server starts")]
        }
        var installer = SchemaInstaller(definitions: configuration.tables, dialect: dialect)
        try installer.find(configuration.numbers, on: connection, mayChange: configuration.renewsEpoch)
        let findings = configuration.findings(try connection.facts()) + (try installer.inspect(connection))
        if configuration.replicas.isEmpty { return findings }
        let epoch = try? connection.state(installer.numbers, dialect).epoch
        return findings
            + configuration.replicas.indices.compactMap { configuration.finding(replica: $0, installer.numbers, epoch) }
    }
}

extension ServerConfiguration {
    /// What keeps a replica from answering. A server starts without it.
    fileprivate func finding(replica place: Int, _ numbers: NumberSource, _ epoch: String?) -> Finding? {
        func warn(_ text: String, _ mend: String?) -> Finding {
            Finding(.warning, "replica \(place + 1)", "replica-unused", text, mend: mend)
        }
        do throws(StoreFailure) {
            let waits = PostgresWaitLimits(limits: limits.database)
            let connection = try PostgresConnection(url: replicas[place], waits: waits)
            if epoch == nil { return nil }
            let state = try connection.state(numbers, .postgres)
            if state.origin != .standby { return warn("it is not a standby", "name the standby, not the primary") }
            return state.epoch == epoch ? nil : warn("it does not follow this database", nil)
        } catch {
            let failure = StartFailure(error)
            return warn(failure.message, failure.hint)
        }
    }

    /// What a database lacks for the settings.
    fileprivate func findings(_ facts: DatabaseFacts) -> [Finding] {
        // Two more: for its health, and to hear of commits.
        let wanted = databaseConnections + 2
        guard let most = facts.connections, wanted > most else { return [] }
        return [
            Finding(
                .warning, "database", "few-connections",
                "the server wants \(wanted) connections, and the database has \(most)",
                mend: "lower databaseConnections, or raise max_connections")
        ]
    }
}

extension ServerTool {
    /// Prints the findings, errors first; returns the exit code.
    static func check(_ configuration: ServerConfiguration) -> Int32 {
        let findings = Server.check(
            configuration, descriptors: SystemFiles.allowDescriptors(configuration.descriptors))
        let sorted = [Finding.Weight.error, .warning, .fact].flatMap { weight in
            findings.filter { $0.weight == weight }
        }
        let errors = findings.count { $0.weight == .error }
        var lines = sorted.map {
            configuration.log == .json ? $0.json : "\($0.weight.rawValue): \($0.place): \($0.text)"
        }
        if configuration.log != .json {
            let count = errors == 1 ? "1 error" : "\(errors) errors"
            lines.append(errors == 0 ? "The server can start." : "The server can't start: \(count).")
        }
        Diagnostics.write(lines.map { LogText.escaped($0) + "\n" }.joined(), to: 1)
        return errors == 0 ? 0 : 3
    }
}

extension Finding {
    fileprivate var json: String {
        var members: [Value.Member] = [
            .init("weight", .string(weight.rawValue)), .init("place", .string(place)), .init("code", .string(code)),
            .init("message", .string(message)),
        ]
        if let mend { members.append(.init("mend", .string(mend))) }
        return Value.object(members).json
    }
}
