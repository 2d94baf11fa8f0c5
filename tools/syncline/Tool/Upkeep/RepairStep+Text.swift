// A step of a repair as `repair` shows it: one sentence for people, one object for programs.

import SegmentLog

extension RepairStep.Action {
    /// The name that reports use.
    fileprivate var name: String {
        switch self {
        case .cutTail: "cut-tail"
        case .rebuildHead: "rebuild-head"
        case .setAside: "set-aside"
        case .fillHole: "fill-hole"
        case .removeLeftover: "remove-leftover"
        }
    }
}

extension RepairStep {
    /// The position, or the file if there is none.
    var address: String { position?.description ?? file }

    var json: JSONValue {
        [
            "action": .string(action.name),
            "address": .string(address),
            "file": .string(file),
            "bytes": .number(length.rawValue),
            "reason": .string(reason),
        ]
    }

    /// Returns the step as a sentence, before or after it is done.
    func sentence(isDone: Bool) -> String {
        let place = "\(counted(length.rawValue, "byte")) at \(address)"
        switch action {
        case .cutTail: return (isDone ? "cut " : "would cut ") + "\(place), keeping a copy in quarantine"
        case .rebuildHead: return (isDone ? "rebuilt " : "would rebuild ") + "HEAD"
        case .setAside: return (isDone ? "moved " : "would move ") + "\(file) into quarantine"
        case .fillHole:
            return (isDone ? "covered " : "would cover ") + "\(place) with a hole, keeping a copy in quarantine"
        case .removeLeftover: return (isDone ? "removed " : "would remove ") + "the leftover \(file)"
        }
    }
}
