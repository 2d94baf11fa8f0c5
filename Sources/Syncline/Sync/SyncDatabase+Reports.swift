// The reports of pushes, pulls and automatic sync.

import SynclineCore

extension SyncDatabase {
    func report(_ push: PushReport) {
        let done = push.operations.count { $0.outcome == .done }
        let what = "push: \(done) of \(push.operations.count) operations done"
        if case .stopped(let error) = push.outcome {
            configuration.report(.warning, .sync, "\(what), stopped (\(error.code))")
        } else {
            let now = configuration.environment.now()
            note { $0.lastPush = now }
            configuration.report(.info, .sync, what)
        }
    }

    func report(_ pull: PullReport, _ table: String) {
        let what = "pull of \(table): \(pull.received) rows received, \(pull.changed) changed, \(pull.deleted) removed"
        if let error = pull.reason {
            configuration.report(.warning, .sync, "\(what), stopped (\(error.code))")
        } else {
            let now = configuration.environment.now()
            note { $0.lastPulls[table] = now }
            configuration.report(.info, .sync, what)
        }
    }
}

extension SyncConfiguration {
    func report(_ status: SyncStatus) {
        switch status.phase {
        case .idle, .pushing, .pulling, .stopped:
            report(.debug, .sync, "automatic sync: \(status.phase)")
        case .offline:
            report(.info, .sync, "automatic sync: offline, \(status.pending) changes pending")
        case .waiting(_, let error):
            report(.warning, .sync, "automatic sync: waiting after an error (\(error.code))")
        }
    }
}
