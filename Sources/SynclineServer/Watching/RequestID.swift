// The id of a request in the log and in its answer: the client's or a proxy's, if it can be written anywhere, otherwise
// one made by the server.

import SynclineGround
import SynclineTables

struct RequestID: Hashable, Sendable {
    static let header = "X-Request-Id"
    let text: String

    /// An external id: 1 to 128 letters, digits and some punctuation of ASCII.
    init?(_ text: String) {
        let isSane = text.utf8.allSatisfy { byte in
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~:/+=@".utf8.contains(byte)
        }
        guard isSane, (1...128).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    fileprivate init(made text: String) { self.text = text }
}

/// Makes ids that no other process makes: a random part, and a number.
final class RequestIDs: Sendable {
    private let process: String
    private let count = Atomic<UInt64>(0)

    init(_ environment: any ServerEnvironment) {
        process = String(environment.newHexadecimal().suffix(12))
    }

    func make() -> RequestID {
        let number = count.add(1, ordering: .relaxed).newValue
        return RequestID(made: process + "-" + String(number, radix: 16))
    }
}
