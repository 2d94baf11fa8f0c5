// `syncline-server load`: runs a load against a server, prints what came of it, and returns the exit code.

import CLibrary
import Dispatch
import SynclineGround
import SynclineWire

extension ServerTool {
    /// The first signal ends the load early, the next one also the removal of its rows.
    static func load(_ plan: LoadPlan) throws -> Int32 {
        let signals = try ServerSignals()
        // Each client has a connection.
        let wanted = plan.writers + plan.readers + plan.listeners + 100
        guard SystemFiles.allowDescriptors(wanted) >= wanted else {
            throw StartFailure(
                "this process may not open \(wanted) files", hint: "Raise the limit, or take fewer clients")
        }
        var limits = TransportLimits()
        limits.total = .seconds(30)
        let run = LoadRun(plan, try makeTransport(baseURL: plan.url, limits: limits), .system)
        let result = Mutex<Result<LoadReport, StartFailure>?>(nil)
        let end = DispatchSemaphore(value: 0)
        let task = Task {
            do throws(StartFailure) {
                let report = try await run.run()
                result.withLock { $0 = .success(report) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            end.signal()
        }
        DispatchQueue(label: "syncline.signals").async {
            var count = 0
            while true {
                guard signals.wait(until: .present + .seconds(3600)) != nil else { continue }
                count += 1
                if count == 1 { run.stop() } else { task.cancel() }
            }
        }
        end.wait()
        guard let report = try result.withLock({ $0 })?.get() else { return 70 }
        let text = plan.isJSON ? report.lines.joined() : report.text
        guard Diagnostics.write(Array(text.utf8), to: STDOUT_FILENO) else {
            throw StartFailure("standard output can't be written: \(String(cString: strerror(errno)))")
        }
        return report.isGood ? 0 : 1
    }
}
