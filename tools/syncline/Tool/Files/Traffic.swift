// Recorded traffic: its file, the commands it belongs to, and reading it back as sessions.

import SegmentLog
import Syncline

enum Traffic {
    /// The file next to the log.
    static func file(store directory: String) -> String { directory + "/traffic.jsonl" }

    /// The recording of a store; nil if recording is off.
    static func recording(store directory: String) throws -> TrafficRecording? {
        guard case .string(let text)? = try StoreSecrets(store: directory).read()[member: "record"],
            let limit = limit(text)
        else { return nil }
        return TrafficRecording(file: file(store: directory), limit: .bytes(limit))
    }

    /// `8 MiB` in bytes; nil for anything else, and for `off`.
    static func limit(_ text: String) -> UInt64? {
        let words = text.split(separator: " ")
        guard let number = words.first.flatMap({ UInt64($0) }), number > 0, words.count == 2 else { return nil }
        switch words[1] {
        case "KiB": return number << 10
        case "MiB": return number <= 1024 ? number << 20 : nil
        default: return nil
        }
    }
}
