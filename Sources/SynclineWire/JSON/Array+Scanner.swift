// JSON from the other side of a connection.

import SynclineGround

extension [UInt8] {
    /// Parses received bytes, without a byte order mark, as JSON.
    func withScanner<Result>(
        _ body: (inout JSONScanner) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        try withBytes { (bytes: UnsafeRawBufferPointer) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) { scanner.offset = 3 }
            return try body(&scanner)
        }
    }
}
