// A watch on the files of a directory: inotify on Linux, vnode events on Apple platforms. There, a directory reports
// files that are created, renamed and removed; a file that only grows, such as the newest segment, is watched itself.

import CLibrary
import Dispatch
import SynclineGround

/// Watches folders of a directory, whether or not they exist yet.
package final class DirectoryWatch: Sendable {
    private let source: WatchSource

    /// Calls `changed` on a queue of its own after changes, several of which may share one call. Returns nil if the system can't
    /// watch the directory.
    package init?(_ path: String, _ folders: [String], _ changed: @escaping @Sendable () -> Void) {
        let paths = folders.map { $0.isEmpty ? path : path + "/" + $0 }
        guard let source = WatchSource(paths, changed) else { return nil }
        self.source = source
    }

    deinit { stop() }

    /// Ends the calls.
    package func stop() { source.stop() }
}

#if canImport(Darwin)
    /// One vnode source for each folder, and one for the newest segment in it.
    private final class WatchSource: Sendable {
        private struct Sources {
            var all: [String: any DispatchSourceFileSystemObject] = [:]
            var isStopped = false
        }

        private let sources = Mutex(Sources())
        private let paths: [String]
        private let changed: @Sendable () -> Void
        private let queue = DispatchQueue(label: "SegmentLog.DirectoryWatch")

        init?(_ paths: [String], _ changed: @escaping @Sendable () -> Void) {
            self.paths = paths
            self.changed = changed
            renew()
            if sources.withLock({ $0.all.isEmpty }) { return nil }
        }

        /// Watches the present files.
        private func renew() {
            let wanted = paths + paths.compactMap(WatchSource.newestSegment)
            sources.withLock { sources in
                if sources.isStopped { return }
                for (path, source) in sources.all where !wanted.contains(path) {
                    source.cancel()
                    sources.all[path] = nil
                }
                for path in wanted where sources.all[path] == nil { sources.all[path] = watch(path) }
            }
        }

        private func watch(_ path: String) -> (any DispatchSourceFileSystemObject)? {
            let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend, .rename, .delete], queue: queue)
            source.setEventHandler { [weak self] in
                self?.renew()
                self?.changed()
            }
            source.setCancelHandler { close(descriptor) }
            source.activate()
            return source
        }

        private static func newestSegment(in path: String) -> String? {
            let names = (try? POSIXStorage(directory: path).names(in: "")) ?? []
            return names.filter { FileName.parseSegment($0) != nil }.max().map { path + "/" + $0 }
        }

        func stop() {
            sources.withLock { sources in
                sources.isStopped = true
                for source in sources.all.values { source.cancel() }
                sources.all = [:]
            }
        }
    }
#else
    /// One inotify descriptor for all folders.
    private final class WatchSource: Sendable {
        private let stopped = Atomic<Bool>(false)
        private let cancel: @Sendable () -> Void

        private static let events = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)

        init?(_ paths: [String], _ changed: @escaping @Sendable () -> Void) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            guard WatchSource.watch(paths, descriptor) else {
                close(descriptor)
                return nil
            }
            let queue = DispatchQueue(label: "SegmentLog.DirectoryWatch")
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler {
                let buffer = ByteBuffer(capacity: 4096)
                while read(descriptor, buffer.free(4096).baseAddress, 4096) > 0 {}
                // Adds those that have been created, and changes nothing for the others.
                _ = WatchSource.watch(paths, descriptor)
                changed()
            }
            source.setCancelHandler { close(descriptor) }
            source.activate()
            // Sources may be cancelled from any thread.
            nonisolated(unsafe) let kept = source
            cancel = { kept.cancel() }
        }

        /// Returns whether any of the folders is watched.
        private static func watch(_ paths: [String], _ descriptor: Int32) -> Bool {
            var count = 0
            for path in paths where inotify_add_watch(descriptor, path, events) >= 0 { count += 1 }
            return count > 0
        }

        func stop() {
            if !stopped.exchange(true, ordering: .acquiringAndReleasing) { cancel() }
        }
    }
#endif
