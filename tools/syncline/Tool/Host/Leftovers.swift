// Files and folders under temporary names, which are removed if a signal ends the process, so that Ctrl-C leaves nothing
// half written. A command that handles signals itself removes its own.

import CLibrary
import Dispatch
import Syncline
import SynclineGround

package enum Leftovers {
    private static let paths = Mutex<Set<String>>([])
    private static let isGuarded = Mutex(false)

    /// Called by the process before it runs a command. In a test nothing listens to signals.
    package static func guardProcess() { isGuarded.withLock { $0 = true } }

    /// Notes a path that has to go if the process ends now.
    static func add(_ path: String) {
        paths.withLock { _ = $0.insert(path) }
        let isFirst = isGuarded.withLock { guarded in
            defer { guarded = false }
            return guarded
        }
        if isFirst { listen() }
    }

    /// Notes that a path is complete, or gone.
    static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    /// Removes a file, or a folder with everything in it.
    static func discard(_ path: String) {
        DraftFolder.removeTree(path)
        forget(path)
    }

    // MARK: Signals

    /// A handler may do next to nothing, so it only writes the signal's number into a pipe.
    private static let handlersEnd = Atomic<Int32>(-1)

    private static func listen() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        handlersEnd.store(ends[1], ordering: .releasing)
        let readersEnd = ends[0]
        let reading = DispatchSource.makeReadSource(fileDescriptor: readersEnd, queue: .global())
        // Kept by its own handler for as long as the process lives.
        nonisolated(unsafe) let kept = reading
        reading.setEventHandler {
            defer { withExtendedLifetime(kept) {} }
            var number: UInt8 = 0
            guard read(readersEnd, &number, 1) == 1 else { return }
            // What is being written at the moment may appear once more.
            for _ in 0..<3 { for path in paths.withLock({ $0 }) { DraftFolder.removeTree(path) } }
            signal(Int32(number), SIG_DFL)
            kill(getpid(), Int32(number))
        }
        reading.activate()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // Another handler exists, or it is ignored.
            let before = signal(number, passOn)
            if !isDefault(before) { signal(number, before) }
        }
    }

    fileprivate static func tell(_ number: Int32) {
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(handlersEnd.load(ordering: .acquiring), &byte, 1)
    }

    private static func isDefault(_ handler: sighandler_t?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_DFL, to: Int.self)
    }
}

private nonisolated func passOn(_ number: Int32) { Leftovers.tell(number) }
