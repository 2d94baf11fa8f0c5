// Damage of a log as every command shows it: one sentence for people, one object for programs, with the same words.

package import SegmentLog

extension LogDamage {
    /// The position, such as `s7:5209663`, or the file if there is none.
    package var address: String { position?.description ?? file }

    /// The sentence of a report: `s1:5209 damaged 312 bytes: the payload's checksum is wrong (records @41..43)`.
    package var sentence: String {
        let extent = length.rawValue == 0 ? "" : " \(length.rawValue == 1 ? "1 byte" : "\(length)")"
        let lost = records.map { " (\($0.count == 1 ? "record" : "records") \($0))" } ?? ""
        return escaped("\(address) damaged\(extent): \(reason)\(lost)")
    }

    /// The object of a report.
    package var json: JSONValue {
        [
            "address": .string(address),
            "bytes": .number(length.rawValue),
            "reason": .string(reason),
            "repairable": .boolean(isRepairable),
            "file": .string(file),
            "records": .optional(records?.description),
            "remedy": .string(remedy.name),
        ]
    }
}

extension LogDamage.Remedy {
    /// The name that reports use.
    package var name: String {
        switch self {
        case .cutTail: "cut-tail"
        case .rebuild: "rebuild"
        case .salvage: "salvage"
        case .setAside: "set-aside"
        case .upgrade: "upgrade"
        }
    }

    /// What to do about it, in a sentence.
    package var advice: String {
        switch self {
        case .cutTail: "`syncline repair` or the next writer cuts it off and keeps a copy."
        case .rebuild: "Nothing is lost with it. `syncline repair` rebuilds it or moves it into quarantine."
        case .salvage: "`syncline repair --salvage DIR` makes a new store of all that can be read."
        case .setAside: "Its changes are lost. `syncline repair` moves it into quarantine; later changes are then made."
        case .upgrade: "Open it with the version that wrote it, or a newer one."
        }
    }
}
