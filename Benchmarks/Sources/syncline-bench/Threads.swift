// Plain threads for writers that block. The start routine is a function of its own: a C callback belongs to no actor.

import Glibc

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private nonisolated func startThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}

/// Runs a body on this many threads and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) throws {
    var threads: [pthread_t] = []
    var failure: Int32 = 0
    for _ in 0..<count {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(ThreadBody(body))
        failure = pthread_create(&thread, nil, startThread, argument.toOpaque())
        guard failure == 0 else {
            argument.release()
            break
        }
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
    guard failure == 0 else { throw BenchError("No thread: \(String(cString: strerror(failure)))") }
}
