// The files and environment variables that configure a server.

import CLibrary

/// Identifies a version of a file.
struct FileStamp: Hashable, Sendable {
    var node: UInt64
    var size: Int64
    /// Nanoseconds since 1970.
    var changed: Int64
}

enum SystemFiles {
    static func read(_ path: String) throws(StartFailure) -> [UInt8] {
        guard let file = fopen(path, "rb") else {
            throw StartFailure("\(path) can't be read: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        if ferror(file) != 0 { throw StartFailure("\(path) can't be read") }
        return bytes
    }

    /// Reads a file line by line; `-` is standard input.
    static func forEachLine(of path: String, _ body: (String) -> Void) throws(StartFailure) {
        guard let file = path == "-" ? fdopen(dup(STDIN_FILENO), "rb") : fopen(path, "rb") else {
            throw StartFailure("\(path) can't be read: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var (line, room): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while case let count = getline(&line, &room, file), count > 0, let start = line {
            let bytes = UnsafeRawBufferPointer(start: start, count: count)
            body(String(decoding: bytes.last == 0x0a ? bytes.dropLast() : bytes[...], as: UTF8.self))
        }
        if ferror(file) != 0 { throw StartFailure("\(path) can't be read") }
    }

    /// Creates a file that only its owner can read, if there is none.
    static func createPrivate(_ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
    }

    /// Identifies the file at a path, so that a replacement is noticed; nil if there is none.
    static func stamp(_ path: String) -> FileStamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return FileStamp(
            node: UInt64(status.st_ino), size: Int64(status.st_size),
            changed: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Raises the limit of open files and connections, as far as the system allows; returns the resulting limit.
    static func allowDescriptors(_ count: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else { return count }
        if limit.rlim_cur < rlim_t(count) {
            limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
            setrlimit(openFiles, &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }

    #if canImport(Darwin)
        private static let openFiles = RLIMIT_NOFILE
    #else
        private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
