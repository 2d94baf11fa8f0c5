// How a platform makes a file durable: one call for files, one for directories, each returning 0 or an error number.
// Never repeated here, not even when interrupted: a failed sync may have dropped what it did not write.
// The Darwin half can be built and tried only there, so it is kept to what its manual says.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The sync calls of a platform.
protocol DurableSync {
    /// Makes a file's content and length durable as far as the level says.
    static func sync(descriptor: Int32, level: SyncLevel) -> Int32
    /// Makes a directory's entries durable.
    static func syncDirectory(descriptor: Int32) -> Int32
}

#if canImport(Darwin)
    /// `fsync` hands bytes to the drive but does not empty the drive's cache; only these `fcntl` calls reach further.
    enum PlatformSync: DurableSync {
        static func sync(descriptor: Int32, level: SyncLevel) -> Int32 {
            switch level {
            case .durable: return full(descriptor)
            case .ordered:
                if fcntl(descriptor, F_BARRIERFSYNC) != -1 { return 0 }
                // A file system without the barrier gets the stronger call.
                return errno == ENOTSUP ? full(descriptor) : errno
            }
        }

        static func syncDirectory(descriptor: Int32) -> Int32 { full(descriptor) }

        private static func full(_ descriptor: Int32) -> Int32 {
            if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
            // Only a file system that has no such call falls back; any other failure is a failure.
            guard errno == ENOTSUP else { return errno }
            return fsync(descriptor) == 0 ? 0 : errno
        }
    }
#else
    /// `fdatasync` empties the drive's cache too, and skips the file's times, which saves a journal commit. There is
    /// no barrier, so both levels are the same.
    enum PlatformSync: DurableSync {
        static func sync(descriptor: Int32, level: SyncLevel) -> Int32 {
            fdatasync(descriptor) == 0 ? 0 : errno
        }

        static func syncDirectory(descriptor: Int32) -> Int32 {
            fsync(descriptor) == 0 ? 0 : errno
        }
    }
#endif
