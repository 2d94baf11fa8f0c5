// The findings about settings that are valid.

import SynclineTables

extension ServerConfiguration {
    private var isLocal: Bool {
        ["127.0.0.1:", "[::1]:", "localhost:"].contains(where: listen.hasPrefix)
    }

    /// - Parameter descriptors: The number of files that the process may open.
    func findings(descriptors: Int) -> [Finding] {
        var findings: [Finding] = []
        func warn(_ code: String, _ message: String, _ mend: String, _ place: String = "configuration") {
            findings.append(Finding(.warning, place, code, message, mend: mend))
        }
        if tables.isEmpty { warn("no-tables", "no table is served", "name one with --table or --config") }
        if !isLocal, tls == nil, trustedProxies.texts.isEmpty {
            warn(
                "no-tls", "the server listens on \(listen) without TLS: others can read tokens and rows",
                "set --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy")
        }
        for table in tables where !isLocal && table.perUser == nil && table.rules.isEmpty {
            let open = TableOperation.allCases.filter { table.permission($0) == .anonymous }
            if open.isEmpty { continue }
            warn(
                "open-table", "everybody may \(open.map(\.rawValue).joined(separator: ", "))",
                "set \"access\" to authenticated", "table \(table.name)")
        }
        if !isLocal || tenants != nil, metricsListen == nil {
            warn("open-metrics", "/metrics is at the public address", "set metricsListen to a private one")
        }
        if auth != nil, let tenants, tenants.claim == nil {
            warn(
                "shared-tokens", "every token is valid for all tenants",
                "set tenants.claim to the claim that names its own")
        }
        for table in tables {
            for (setting, rule) in table.rules.all {
                findings.append(
                    Finding(.fact, "table \(table.name)", "rule", "\(setting): \(rule.explanation)"))
            }
        }
        if self.descriptors > descriptors {
            warn(
                "few-descriptors",
                "the process may open \(descriptors) files, fewer than limits.connections (\(limits.connections)) needs",
                "raise the limit (LimitNOFILE of systemd)")
        }
        if tombstoneDays == nil, tables.contains(where: \.softDelete) {
            findings.append(
                Finding(
                    .fact, "configuration", "tombstones-kept", "tombstones are kept for ever",
                    mend: "set tombstoneDays to remove old ones"))
        }
        return findings
    }
}
