// What waits in a store's folder of tributaries, for those who look at a store, check it, or rescue it.

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

    /// Returns what waits, by process. Files that were just taken in may be counted.
    package static func all(_ storage: any LogStorage) throws(SyncError) -> [WaitingChanges] {
        var all: [String: WaitingChanges] = [:]
        for name in try Tributaries.all(storage) {
            let process = name.processText
            all[process, default: WaitingChanges(process: process)].files += 1
            let transactions = (try? TributaryFile(name, in: storage)?.transactions()) ?? []
            for (_, transaction) in transactions { all[process]?.changes += transaction.changes.count }
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
                    LogDamage(file: name.path, reason: "changes of another process can't be read", remedy: .rebuild))
            }
        }
        return damage
    }

    /// Copies what waits into a store that was rescued from this one, and returns how many files these are. Files that can't be
    /// read stay.
    package static func copy(from storage: any LogStorage, to rescued: any LogStorage) throws(SyncError) -> Int {
        let names = try Tributaries.all(storage)
        if names.isEmpty { return 0 }
        return try mapErrors { () throws(LogError) in
            let identity = try LogReader.open(rescued).identity
            try Tributaries.makeFolder(rescued)
            var count = 0
            for name in names {
                guard var file = try? TributaryFile(name, in: storage) else { continue }
                file.identity = identity
                try WholeFile(name.path, in: rescued).replace(with: file.bytes)
                count += 1
            }
            return count
        }
    }
}
