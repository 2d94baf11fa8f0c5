// What goes wrong inside, for whoever runs the server: a line on standard error, never a word to a client.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum Diagnostics {
    static func note(_ text: String) {
        write("syncline-server: \(text)\n", to: STDERR_FILENO)
    }

    /// Writes a line in one piece, as far as the system takes it.
    static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let start = rest.baseAddress, !rest.isEmpty {
                #if canImport(Darwin)
                    let written = Darwin.write(descriptor, start, rest.count)
                #else
                    let written = Glibc.write(descriptor, start, rest.count)
                #endif
                if written <= 0 { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            }
        }
    }
}
