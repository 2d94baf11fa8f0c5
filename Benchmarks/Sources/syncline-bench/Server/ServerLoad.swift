// Many clients that ask at once, each on a thread and a connection of its own.

import Glibc
import Synchronization

struct LoadResult: Sendable {
    var requests = 0
    var seconds = 0.0
    var latency = Histogram()
}

enum ServerLoad {
    /// Lets clients send what `request` makes of the number of a request, until the time or the numbers are used up.
    static func run(
        port: UInt16, clients: Int, seconds: Double, count: Int = .max, expecting status: Int,
        _ request: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> LoadResult {
        let next = Atomic(0)
        let result = Mutex(LoadResult())
        let failure = Mutex<String?>(nil)
        let start = monotonicNanoseconds()
        let end = start + UInt64(seconds * 1e9)
        try onThreads(clients) {
            var latency = Histogram()
            do {
                let connection = try LoadConnection(port: port)
                while monotonicNanoseconds() < end {
                    let number = next.add(1, ordering: .relaxed).oldValue
                    guard number < count else { break }
                    let bytes = request(number)
                    let before = monotonicNanoseconds()
                    let answer = try connection.exchange(bytes)
                    latency.add(monotonicNanoseconds() - before)
                    guard answer.status == status else {
                        let text = String(decoding: connection.buffer[answer.body].prefix(200), as: UTF8.self)
                        throw BenchError("Status \(answer.status) instead of \(status): \(text)")
                    }
                }
            } catch {
                failure.withLock { $0 = "\(error)" }
            }
            result.withLock { result in
                result.requests += latency.total
                result.latency.add(latency)
            }
        }
        if let failure = failure.withLock({ $0 }) { throw BenchError(failure) }
        return result.withLock { result in
            result.seconds = Double(monotonicNanoseconds() - start) / 1e9
            return result
        }
    }
}
