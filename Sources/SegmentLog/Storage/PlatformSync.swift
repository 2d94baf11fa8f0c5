// Makes a file durable on each platform: one call for files, one for directories, each returning 0 or an error
// number. Calls are never repeated, not even when interrupted: a failed sync may have dropped what it did not write.
// The Darwin half can't be built on Linux, so it follows its manual closely.

import CLibrary

/// The sync calls of a platform.
enum PlatformSync {
    /// Makes a file's content and length durable as the level requires.
    static func sync(descriptor: Int32, level: SyncLevel) -> Int32 {
        #if canImport(Darwin)
            switch level {
            case .durable: return full(descriptor)
            case .ordered:
                if fcntl(descriptor, F_BARRIERFSYNC) != -1 { return 0 }
                // A file system without the barrier gets the stronger call.
                return errno == ENOTSUP ? full(descriptor) : errno
            }
        #else
            // Flushes the drive's cache too, and skips the file's times, which saves a journal commit. There is no
            // barrier, so both levels are the same.
            return fdatasync(descriptor) == 0 ? 0 : errno
        #endif
    }

    /// Makes a directory's entries durable.
    static func syncDirectory(descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            return full(descriptor)
        #else
            return fsync(descriptor) == 0 ? 0 : errno
        #endif
    }

    #if canImport(Darwin)
        /// `fsync` hands bytes to the drive but does not flush the drive's cache; only these `fcntl` calls do.
        private static func full(_ descriptor: Int32) -> Int32 {
            if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
            // Falls back only if the file system has no such call; any other failure is reported.
            guard errno == ENOTSUP else { return errno }
            return fsync(descriptor) == 0 ? 0 : errno
        }
    #endif
}
