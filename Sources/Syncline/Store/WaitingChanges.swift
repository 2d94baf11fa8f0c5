// The changes that wait in a store's folder of tributaries, for code that inspects, checks or rescues a store.

package import SegmentLog
package import SynclineCore

/// The changes of one process that are not in the log yet.
package struct WaitingChanges: Hashable, Sendable {
    /// The process, as the names of its files say it.
    package var process: String
    /// The number of files, each with the changes of one commit.
    package var files = 0
    /// The number of changes of rows, as far as the files can be read.
    package var changes = 0

    /// Returns what waits, by process. Files that were just taken in may be counted, changes for another log are not.
    package static func all(_ storage: any LogStorage) throws(SyncError) -> [WaitingChanges] {
        let identity = try storage.openLog().identity
        var all: [String: WaitingChanges] = [:]
        for name in try Tributaries.all(storage) {
            let file = try? TributaryFile(name, in: storage)
            if let file, file.identity != identity { continue }
            let process = name.processText
            all[process, default: WaitingChanges(process: process)].files += 1
            for (_, transaction) in (try? file?.transactions()) ?? [] {
                all[process]?.changes += transaction.changes.count
            }
        }
        return all.values.sorted { $0.process < $1.process }
    }

    /// Returns the files that can't be read. Later changes of their processes wait, too.
    package static func damage(_ storage: any LogStorage) throws(SyncError) -> [LogDamage] {
        var damage: [LogDamage] = []
        for name in try Tributaries.all(storage) {
            do throws(SyncError) {
                _ = try TributaryFile(name, in: storage)?.transactions()
            } catch {
                guard error.code == .storeCorrupt else { throw error }
                damage.append(
                    LogDamage(file: name.path, reason: "changes of another process can't be read", remedy: .setAside))
            }
        }
        return damage
    }

    /// What became of the files when a store was rescued.
    package struct Copy: Hashable, Sendable {
        /// How many files were copied.
        package var files = 0
        /// The files that can't be read. Their changes are not in the rescued store.
        package var unreadable: [String] = []

        package init() {}
    }

    /// Copies what waits for a log into a store that was rescued from it. Files that can't be read stay, and so do
    /// changes for another log.
    package static func copy(
        from storage: any LogStorage, of log: LogIdentity, to rescued: any LogStorage
    ) throws(SyncError) -> Copy {
        let names = try Tributaries.all(storage)
        var copy = Copy()
        if names.isEmpty { return copy }
        try rescued.makeFolder(FileName.tributaries)
        let identity = try rescued.openLog().identity
        for name in names {
            do throws(SyncError) {
                // Of an identity that was recognised by the checksums of frames, only the seed is known.
                guard var file = try TributaryFile(name, in: storage), file.identity.seed == log.seed else { continue }
                _ = try file.transactions()
                file.identity = identity
                try rescued.replace(file: name.path, with: file.bytes)
                copy.files += 1
            } catch {
                guard error.code == .storeCorrupt else { throw error }
                copy.unreadable.append(name.path)
            }
        }
        return copy
    }
}
