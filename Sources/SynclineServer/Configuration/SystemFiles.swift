// The files and variables a server is configured by.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
