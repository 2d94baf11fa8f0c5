// Compresses answers with gzip for clients that accept it. A row has a tag that names its bytes, so it is not
// compressed; neither are short answers and answers that stay on this machine.

import CZlib
import SynclineWire

enum Gzip {
    /// Shorter answers fit into one packet uncompressed.
    static let threshold = 1400

    /// The answer in an encoding that its client accepts.
    static func encoded(_ response: HTTPResponse, for headers: [HTTPHeader]) -> HTTPResponse {
        guard response.status == 200, response.body.count >= threshold, !response.headers.contains("ETag") else {
            return response
        }
        var response = response
        // Caches must keep both forms apart.
        if let place = response.headers.firstIndex(where: { $0.isNamed("Vary") }) {
            response.headers[place].value += ", Accept-Encoding"
        } else {
            response.headers.append(HTTPHeader("Vary", "Accept-Encoding"))
        }
        guard accepts(headers), let body = compressed(response.body) else { return response }
        response.body = body
        response.headers.append(HTTPHeader("Content-Encoding", "gzip"))
        return response
    }

    /// Whether a client accepts gzip and prefers it to no encoding.
    static func accepts(_ headers: [HTTPHeader]) -> Bool {
        var qualities: [String: Double] = [:]
        for header in headers where header.isNamed("Accept-Encoding") {
            for element in header.value.split(separator: ",") {
                let parts = element.split(separator: ";").map(\.trimmed)
                guard let name = parts.first else { continue }
                let quality = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
                qualities[name.lowercased()] = quality.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            }
        }
        let gzip = qualities["gzip"] ?? qualities["x-gzip"] ?? qualities["*"] ?? 0
        return gzip > 0 && gzip >= qualities["identity"] ?? 0
    }

    /// Nil if memory can't be allocated.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // The fastest level: most of the gain for a third of the work.
        guard syncline_gzip_begin(&stream, 1) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let limit = Int(deflateBound(&stream, UInt(bytes.count)))
        var isWhole = false
        let compressed = [UInt8](unsafeUninitializedCapacity: limit) { memory, count in
            bytes.withUnsafeBufferPointer { bytes in
                stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.avail_in = UInt32(clamping: bytes.count)
                stream.next_out = memory.baseAddress
                stream.avail_out = UInt32(clamping: limit)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
            count = Int(stream.total_out)
        }
        return isWhole ? compressed : nil
    }
}
