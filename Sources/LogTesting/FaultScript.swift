// Counts the calls of a disk in memory, records them, and lets those fail that a plan names.

import SegmentLog

struct FaultScript: DiskScript {
    private struct Armed {
        var plan: FaultPlan
        var seen = 0
    }

    private var armed: [Armed] = []
    var counts = CallCounts()
    var isTracing = false
    private(set) var trace: [String] = []

    mutating func arm(_ plan: FaultPlan) {
        armed.append(Armed(plan: plan))
    }

    mutating func disarm() {
        armed = []
    }

    mutating func begin(_ operation: String, _ name: String, detail: () -> String) -> DiskFault? {
        guard let kind = CallKind(rawValue: operation) else { return nil }
        counts[kind] += 1
        if isTracing { trace.append("\(kind) \(name.isEmpty ? "." : name)\(detail())") }
        guard !armed.isEmpty else { return nil }
        var fired: FaultPlan?
        for index in armed.indices where armed[index].plan.counts(kind, name) {
            armed[index].seen += 1
            let (plan, seen) = (armed[index].plan, armed[index].seen)
            if fired == nil, seen == plan.call || plan.persists && seen > plan.call { fired = plan }
        }
        if fired != nil { counts.faults += 1 }
        return fired?.fault(of: kind, name)
    }

    mutating func count(read: Int, written: Int) {
        counts.bytesRead += UInt64(read)
        counts.bytesWritten += UInt64(written)
    }
}
