// Messages to the person who starts the server, before it serves: a line on standard error. ServerLog.swift writes all
// other messages.

import CLibrary

enum Diagnostics {
    static func note(_ text: String) {
        write(LogText.escaped("syncline-server: \(text)") + "\n", to: STDERR_FILENO)
    }

    static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }

    /// Writes all bytes, as far as the descriptor accepts them; returns whether it did.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                #if canImport(Darwin)
                    let written = Darwin.write(descriptor, start, rest.count)
                #else
                    let written = Glibc.write(descriptor, start, rest.count)
                #endif
                if written > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                } else if errno == EAGAIN {
                    // Another process made the descriptor non-blocking.
                    var question = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&question, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
