// The steps of a repair, decided before anything is changed. The decision is pure: a report in, steps out. No step
// removes acknowledged data.

/// One step of a repair.
package struct RepairStep: Hashable, Sendable {
    package enum Action: Sendable {
        /// Truncates a torn write at the end, keeping a copy.
        case cutTail
        /// Rebuilds HEAD from the segments.
        case rebuildHead
        /// Moves a damaged checkpoint, or a copy of a segment, to quarantine.
        case setAside
        /// Replaces a frame without records, such as an index, by a hole.
        case fillHole
        /// Removes an unfinished file.
        case removeLeftover
    }

    package var action: Action
    package var file: String
    /// The position in the log; nil if the file has no such positions.
    package var position: LogPosition?
    package var length: ByteCount
    package var reason: String
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
                        action: action, file: damage.file, position: damage.position, length: damage.length,
                        reason: damage.reason))
            } else {
                left.append(damage)
            }
        }
        if isRefused { return }
        if !catalog.endIsKnown, !steps.contains(where: { $0.action == .rebuildHead }) {
            steps.append(
                RepairStep(
                    action: .rebuildHead, file: FileName.head, length: .bytes(0),
                    reason: "one of its two slots can't be read"))
        }
        for name in catalog.temporaries {
            steps.append(
                RepairStep(
                    action: .removeLeftover, file: name, length: .bytes(0), reason: "it was never finished"))
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
