// Reports about a log as objects for programs: its summary, its segments and its checkpoints.

import SegmentLog

extension LogSummary {
    var json: JSONValue {
        [
            "store": .string(location),
            "identity": .string(report.identity.description),
            "created": .optional(report.segments.first?.created?.text),
            "epoch": .number(report.segments.map(\.epoch).max() ?? 0),
            "segments": .number(report.segments.count),
            "frames": .number(report.frames),
            "events": .number(report.records),
            "records": records.isEmpty ? .null : .string(records.description),
            "bytes": .number(length.rawValue),
            "fileBytes": .number(fileSize.rawValue),
            "rawBytes": .number(rawLength.rawValue),
            "ratio": ratio.map { .number($0, places: 2) } ?? .null,
            "checkpoints": .array(report.checkpoints.map { .string($0.description) }),
            "holes": .array(report.holes.map { .string($0.description) }),
            "quarantined": .number(quarantined),
            "damage": .array(report.damage.map(\.json)),
        ]
    }
}

extension LogReport.Segment {
    var json: JSONValue {
        [
            "address": .string("s\(ordinal)"),
            "file": .string(name),
            "records": records.isEmpty ? .null : .string(records.description),
            "frames": .number(frames),
            "bytes": .number(length.rawValue),
            "fileBytes": .number(fileSize.rawValue),
            "rawBytes": .number(rawLength.rawValue),
            "ratio": ratio.map { .number($0, places: 2) } ?? .null,
            "sealed": .boolean(isSealed),
            "epoch": .number(epoch),
            "created": .optional(created?.text),
            "noteBytes": note.map { .number($0.bytes.count) } ?? .null,
        ]
    }
}

extension CheckpointEntry {
    var json: JSONValue {
        [
            "address": .string(through.description),
            "file": .string(file),
            "blocks": .number(blocks),
            "bytes": .number(fileSize.rawValue),
            "noteBytes": .number(noteLength),
        ]
    }
}
