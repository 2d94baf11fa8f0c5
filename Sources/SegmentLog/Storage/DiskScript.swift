// A test's control of the calls of a disk in memory: each is announced to it, and it decides the result.

/// What a disk does instead of a call's work.
package struct DiskFault: Sendable {
    /// How many bytes a read or a write moves at most.
    package var most: Int
    /// Thrown after that; nil if the call succeeds.
    package var error: StorageError?
    /// What a failed sync does to a file.
    package var effect: (@Sendable (inout MemoryDisk, Int) -> Void)?

    package init(
        most: Int, error: StorageError? = nil, effect: (@Sendable (inout MemoryDisk, Int) -> Void)? = nil
    ) {
        self.most = most
        self.error = error
        self.effect = effect
    }
}

package protocol DiskScript: Sendable {
    /// Hears of a call; returns what the disk does instead of its work, or nil for nothing.
    mutating func begin(_ operation: String, _ name: String, detail: () -> String) -> DiskFault?

    /// Hears how many bytes were read and written.
    mutating func count(read: Int, written: Int)
}
