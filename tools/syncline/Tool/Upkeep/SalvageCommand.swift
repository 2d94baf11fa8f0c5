// `repair --salvage`: creates a new store from the whole data of a damaged one, and lists the rest.

import SegmentLog
import Syncline

/// The result of a salvage.
struct SalvageCommand {
    private let directory: String
    private let damage: [LogDamage]
    private var events: UInt64 = 0
    /// Readable events that are in the first state of the new store and not in its history.
    private var folded: UInt64 = 0
    private let endIsKnown: Bool
    private var first = SequenceNumber.first
    private var lost: [SequenceRange] = []
    private var leftOut: [SequenceRange] = []
    private var foreign: [String] = []
    private var settingsAreLost = false
    private var branches = BranchRescue()
    /// The files with changes of other processes: copied, or unreadable.
    private var waiting = WaitingChanges.Copy()

    static func run(from storage: POSIXStorage, to directory: String, _ context: Context) throws -> ExitCode {
        let draft = try StoreDraft(of: directory) {
            ToolError(
                "store-exists", "\(directory) is not empty",
                hint: "Name a new directory with --salvage.")
        }
        do {
            // What a writer appends or removes meanwhile would be in one part of the result and not in another.
            let exclusion = try WriterExclusion(storage)
            defer { withExtendedLifetime(exclusion) {} }
            let report = try SalvageCommand(from: storage, to: draft.storage, named: directory, context)
            try copyFilesBesideLog(from: storage, to: draft.storage)
            try draft.putInPlace()
            return try report.show(context)
        } catch {
            draft.remove()
            throw error
        }
    }

    /// Copies the secrets and the recorded traffic.
    private static func copyFilesBesideLog(from storage: POSIXStorage, to fresh: POSIXStorage) throws {
        for name in SyncDatabase.filesBesideLog.flatMap({ [$0, $0 + ".old"] }) {
            guard let bytes = try WholeFile(name, in: storage).read() else { continue }
            try WholeFile(name, in: fresh, isPrivate: true).replace(with: bytes)
        }
    }

    private init(from storage: POSIXStorage, to fresh: POSIXStorage, named directory: String, _ context: Context) throws
    {
        self.directory = directory
        damage = try context.whileReading("verifying") {
            try HistoryStart.checked(try LogInspection(storage).verify(), storage)
        }
        let rescue = try context.whileReading("rescuing") {
            try Rescue.run(from: storage, to: fresh, now: context.clock.now().rawValue)
        }
        if let rescue {
            events = rescue.events
            folded = rescue.folded
            endIsKnown = rescue.endIsKnown
            first = SequenceNumber(rawValue: rescue.first)
            lost = rescue.lost
            leftOut = SequenceRange.joining(rescue.leftOut)
            foreign = rescue.foreign
            settingsAreLost = rescue.settingsAreLost
            waiting = try WaitingChanges.copy(from: storage, of: rescue.identity, to: fresh)
            branches = try BranchRescue(from: storage, to: fresh)
        } else {
            let salvage = try LogSalvage.copy(from: storage, to: fresh)
            events = salvage.records
            lost = salvage.lost
            endIsKnown = salvage.endIsKnown
        }
    }

    private func show(_ context: Context) throws -> ExitCode {
        let salvaged: JSONValue = [
            "store": .string(directory), "events": .number(events), "folded": .number(folded),
            "first": .string(first.description),
            "lost": .array(lost.map { .string($0.description) }),
            "leftOut": .array(leftOut.map { .string($0.description) }),
            "foreign": .array(foreign.map { .string($0) }), "branches": .array(branches.copied.map { .string($0) }),
            "settings": settingsAreLost ? "lost" : "kept",
            "waiting": .number(waiting.files), "unreadable": .array(unreadable.map { .string($0) }),
        ]
        try context.output.value([
            "repaired": [], "left": .array(damage.map(\.json)), "dryRun": .boolean(false),
            "endIsKnown": .boolean(endIsKnown), "salvaged": salvaged,
        ])
        let style = context.output.style
        for damage in damage { try context.output.line(style.marked(damage)) }
        try context.output.line(
            style.paint("copied", .good) + "  \(counted(events, "record")) into \(escaped(directory))")
        if first > .first {
            try context.output.line("  its history begins with \(first); earlier events are part of its first state")
        }
        if folded > 0 {
            try context.output.line(
                "  \(counted(folded, "earlier event")) can be read, and listed only in the damaged store")
        }
        try tell("lost", lost, "", context)
        try tell("left out", leftOut, ": they depend on lost events", context)
        if settingsAreLost {
            try context.output.line(
                style.paint("lost", .bad) + "    the settings: set the backend and the protocol before a sync")
        }
        for name in branches.copied { try context.output.line("  copied the branch \(name)") }
        for name in branches.damaged {
            try context.output.line("  the branch \(name) is damaged; it stays in the damaged store")
        }
        if waiting.files > 0 {
            try context.output.line(
                "  copied \(counted(UInt64(waiting.files), "file")) with changes of other processes")
        }
        for name in waiting.unreadable {
            try context.output.line("  \(escaped(name)) can't be read: changes of another process are missing")
        }
        for name in foreign { try context.output.line("  \(escaped(name)) belongs to another log") }
        if !endIsKnown { try context.output.line(RepairCommand.unknownEnd) }
        return !settingsAreLost && lost.isEmpty && leftOut.isEmpty && unreadable.isEmpty && endIsKnown ? .done : .no
    }

    /// The damaged content that is not copied.
    private var unreadable: [String] { waiting.unreadable + branches.damaged.map { "\(Branches.folder)/\($0)" } }

    private func tell(_ word: String, _ ranges: [SequenceRange], _ reason: String, _ context: Context) throws {
        if ranges.isEmpty { return }
        let list = ranges.map(\.description).joined(separator: ", ")
        try context.output.line(context.output.style.paint(word, .bad) + "    \(list)\(reason)")
    }
}

extension SequenceRange {
    /// Numbers in ascending order, as ranges.
    fileprivate static func joining(_ numbers: [UInt64]) -> [SequenceRange] {
        var ranges: [SequenceRange] = []
        for number in numbers.map(SequenceNumber.init(rawValue:)) {
            if let last = ranges.last, last.last.next == number {
                ranges[ranges.count - 1].last = number
            } else {
                ranges.append(SequenceRange(first: number, last: number))
            }
        }
        return ranges
    }
}
