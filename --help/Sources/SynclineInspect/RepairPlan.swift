// The steps of a repair, decided before anything is changed. The decision is pure: a report in, steps out. No step
// removes acknowledged data.

package import SegmentLog

/// One step of a repair.
package struct RepairStep: Hashable, Sendable {
    package enum Action: String, Sendable {
        /// Truncates a torn write at the end, keeping a copy.
        case cutTail = "cut-tail"
        /// Rebuilds HEAD from the segments.
        case rebuildHead = "rebuild-head"
        /// Moves a damaged checkpoint, or a copy of a segment, to quarantine.
        case setAside = "set-aside"
        /// Replaces a frame without records, such as an index, by a hole.
        case fillHole = "fill-hole"
        /// Removes an unfinished file.
        case removeLeftover = "remove-leftover"
    }

    package var action: Action
    package var address: String
    package var file: String
    package var bytes: UInt64
    package var reason: String

    package var json: JSONValue {
        [
            "action": .string(action.rawValue),
            "address": .string(address),
            "file": .string(file),
            "bytes": .number(bytes),
            "reason": .string(reason),
        ]
    }

    /// Returns the step as a sentence, before or after it is done.
    package func sentence(isDone: Bool) -> String {
        switch action {
        case .cutTail:
            (isDone ? "cut " : "would cut ") + "\(counted(bytes, "byte")) at \(address), keeping a copy in quarantine"
        case .rebuildHead: (isDone ? "rebuilt " : "would rebuild ") + "HEAD"
        case .setAside: (isDone ? "moved " : "would move ") + "\(file) into quarantine"
        case .fillHole:
            (isDone ? "covered " : "would cover ")
                + "\(counted(bytes, "byte")) at \(address) with a hole, keeping a copy in quarantine"
        case .removeLeftover: (isDone ? "removed " : "would remove ") + "the leftover \(file)"
        }
    }
}

/// The steps of a repair, and the damage that remains.
package struct RepairPlan: Hashable, Sendable {
    package var steps: [RepairStep] = []
    package var left: [LogDamage] = []
    /// Whether the log can't be opened for writing: then its end, HEAD and leftovers are not changed.
    package var isRefused = false

    package init(_ report: LogReport, _ catalog: LogCatalog) {
        let last = catalog.segments.last?.ordinal
        isRefused = report.damage.contains { damage in
            !damage.isRepairable && (catalog.damage.contains(damage) || damage.position?.segment == last)
        }
        for damage in report.damage {
            if let action = action(for: damage) {
                steps.append(
                    RepairStep(
                        action: action, address: damage.address, file: damage.file, bytes: damage.length.rawValue,
                        reason: damage.reason))
            } else {
                left.append(damage)
            }
        }
        if isRefused { return }
        if !catalog.endIsKnown, !steps.contains(where: { $0.action == .rebuildHead }) {
            steps.append(
                RepairStep(
                    action: .rebuildHead, address: FileName.head, file: FileName.head, bytes: 0,
                    reason: "one of its two slots can't be read"))
        }
        for name in catalog.temporaries {
            steps.append(
                RepairStep(
                    action: .removeLeftover, address: name, file: name, bytes: 0, reason: "it was never finished"))
        }
    }

    private func action(for damage: LogDamage) -> RepairStep.Action? {
        switch damage.remedy {
        case .cutTail: isRefused ? nil : .cutTail
        case .rebuild where damage.file == FileName.head: isRefused ? nil : .rebuildHead
        case .rebuild where damage.file.hasSuffix(FileName.checkpointSuffix) || damage.position == nil: .setAside
        case .rebuild: isRefused ? nil : .fillHole
        case .setAside: .setAside
        case .salvage, .upgrade: nil
        }
    }
}
