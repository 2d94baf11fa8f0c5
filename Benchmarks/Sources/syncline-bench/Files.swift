// The few file calls the benchmark needs around the engines.

import Glibc

/// A small file's text.
func contents(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
    return String(decoding: text, as: UTF8.self)
}

func writeFile(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw systemFailure("Writing \(path)") }
    let written = text.utf8.withContiguousStorageIfAvailable { fwrite($0.baseAddress, 1, $0.count, file) }
    guard fclose(file) == 0, written == nil || written == text.utf8.count else {
        throw systemFailure("Writing \(path)")
    }
}

/// An absolute path without links; nil if nothing exists there.
func resolvedPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

func makeDirectories(_ path: String) throws {
    var prefix = path.hasPrefix("/") ? "" : "."
    for component in path.split(separator: "/") {
        prefix += "/" + component
        guard mkdir(prefix, 0o755) == 0 || errno == EEXIST else { throw systemFailure("Making \(prefix)") }
    }
}

/// The names in a directory, without those of itself and its parent.
func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

/// Removes a file, or a directory with all that is in it; does nothing if it does not exist.
func removeTree(_ path: String) {
    if unlink(path) == 0 || errno == ENOENT { return }
    for name in names(in: path) { removeTree(path + "/" + name) }
    rmdir(path)
}

/// Copies a directory of files and directories.
func copyTree(_ source: String, to target: String) throws {
    try makeDirectories(target)
    for name in names(in: source) {
        let from = source + "/" + name
        let to = target + "/" + name
        var status = stat()
        guard stat(from, &status) == 0 else { throw systemFailure("Copying \(from)") }
        if status.st_mode & S_IFMT == S_IFDIR { try copyTree(from, to: to) } else { try copyFile(from, to: to) }
    }
}

private func copyFile(_ source: String, to target: String) throws {
    let from = open(source, O_RDONLY)
    let to = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer {
        close(from)
        close(to)
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    while true {
        let count = read(from, buffer.baseAddress, buffer.count)
        if count == 0 { return }
        guard count > 0, write(to, buffer.baseAddress, count) == count else { throw systemFailure("Copying \(source)") }
    }
}

/// The disk blocks a directory takes, in bytes.
func diskUse(of path: String) -> Int {
    var status = stat()
    guard lstat(path, &status) == 0 else { return 0 }
    guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_blocks) * 512 }
    return names(in: path).reduce(0) { $0 + diskUse(of: path + "/" + $1) }
}

func systemFailure(_ doing: String) -> BenchError { BenchError("\(doing): \(String(cString: strerror(errno)))") }

extension String {
    var lastComponent: String { split(separator: "/").last.map(String.init) ?? self }
    var parentDirectory: String { "/" + split(separator: "/").dropLast().joined(separator: "/") }
    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
