// Programs that were built with these tests, and scripts of the tree, run to their end.

import Foundation

enum Child {
    /// Where the programs are that were built with these tests.
    static var builds: URL {
        get throws {
            let places = CommandLine.arguments + [Bundle.main.executablePath ?? "", Bundle.main.bundlePath]
            for place in places where place.contains(".xctest") {
                var url = URL(fileURLWithPath: place)
                while url.path.contains(".xctest") { url.deleteLastPathComponent() }
                return url
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }

    /// Runs a program to its end: its output, with what it says to its errors among it, and its exit code.
    static func run(
        _ program: String, _ words: [String] = [], in directory: URL, variables: [String: String] = [:]
    ) throws -> (output: String, exit: Int32) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = words
        process.currentDirectoryURL = directory
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
    }
}

/// A directory of a test's own.
struct ScratchDirectory: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "syncline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
