// A frame of a list in words and as JSON.

import SegmentLog

extension FrameSummary {
    /// The name of the frame's kind, or its number if the kind is unknown.
    var kindName: String { kind.map { "\($0)" } ?? "\(kindNumber)" }

    /// The frame's position in its transaction.
    var transaction: String {
        switch (continuesFromPrevious, continuesInNext) {
        case (false, false): "whole"
        case (false, true): "begins"
        case (true, true): "continues"
        case (true, false): "ends"
        }
    }
}

extension FrameContent {
    /// The time at which records were written.
    var time: WallTime? { if case .records(let time) = self { time } else { nil } }

    /// What else there is to say: `epoch 3`, `@41..43 lost`.
    var detail: String? {
        switch self {
        case .records: return nil
        case .hole(let lost): return "\(lost) lost"
        case .filler: return "filler"
        case .session(let session):
            let cut = session.cut.map { ", cut \(session.cutLength) bytes at \($0)" } ?? ""
            return "epoch \(session.epoch), \(session.time.text)\(cut)"
        case .index(let places, let note):
            let note = note.map { ", a note of \($0.bytes.count) bytes through \($0.through)" } ?? ""
            return counted(UInt64(places), "place") + note
        case .seal(let last): return "through \(last)"
        case .fragment(let record): return "part of \(record)"
        }
    }
}

extension FrameEntry {
    /// - Parameter block: Where it is in a checkpoint.
    func json(_ block: CheckpointFrame? = nil) -> JSONValue {
        [
            "address": .string(block?.address ?? summary.position.description),
            "kind": .string(summary.kindName),
            "records": summary.records.isEmpty ? .null : .string(summary.records.description),
            "bytes": .number(summary.length.rawValue),
            "storedBytes": .number(summary.storedLength.rawValue),
            "rawBytes": .number(summary.rawLength.rawValue),
            "codec": .string(summary.codec),
            "lag": .number(summary.durableLag),
            "transaction": .string(summary.transaction),
            "masked": .boolean(summary.isMasked),
            "time": .optional(content?.time?.text),
            "detail": .optional(block?.role?.rawValue ?? content?.detail),
        ]
    }
}
