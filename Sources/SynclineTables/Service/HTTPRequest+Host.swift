// The names of hosts that clients and proxies send.

package import SynclineWire

extension HTTPRequest {
    /// Whether a header names a host in a form that links may repeat.
    package static func isHost(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 <= 10 || [0x2d, 0x2e, 0x5b, 0x5d, 0x5f].contains(byte)
            }
    }
}
