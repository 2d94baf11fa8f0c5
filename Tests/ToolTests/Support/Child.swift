// The real tool as a process of its own.

import Foundation

final class Child {
    private let process = Process()
    private let inputPipe = Pipe()
    private let outputPipe = Pipe()
    private let errorFile: URL
    private let folder: TemporaryFolder
    private var buffer = Data()

    /// The tool that was built with these tests.
    static var tool: String {
        get throws {
            let places = CommandLine.arguments + [Bundle.main.executablePath ?? "", Bundle.main.bundlePath]
            for place in places where place.contains(".xctest") {
                var url = URL(fileURLWithPath: place)
                while url.path.contains(".xctest") { url.deleteLastPathComponent() }
                let path = url.appendingPathComponent("syncline").path
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }

    init(_ path: String, _ words: [String], variables: [String: String] = [:], directory: String? = nil) throws {
        folder = try TemporaryFolder()
        errorFile = URL(fileURLWithPath: folder.path + "/errors")
        try Data().write(to: errorFile)
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = words
        process.environment = ["PATH": "/usr/bin:/bin"].merging(variables) { $1 }
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        process.standardInput = inputPipe
        process.standardOutput = outputPipe
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        try? outputPipe.fileHandleForWriting.close()
        try? inputPipe.fileHandleForReading.close()
    }

    static func tool(_ words: String..., on log: TestLog, variables: [String: String] = [:]) throws -> Child {
        try Child(try tool, words, variables: ["SYNCLINE_STORE": log.path].merging(variables) { $1 })
    }

    deinit {
        kill()
    }

    func write(_ text: String) throws {
        try inputPipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    func closeInput() throws {
        try inputPipe.fileHandleForWriting.close()
    }

    /// The next line of the output; waits for it. Nil at the end.
    func line() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: 0x0a) {
                defer { buffer = Data(buffer[(end + 1)...]) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let more = outputPipe.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            buffer += more
        }
    }

    /// All that is still to come.
    func rest() throws -> String {
        var text = ""
        while let line = try line() { text += line + "\n" }
        return text
    }

    /// Stops reading, as `head` does.
    func closeOutput() throws {
        try outputPipe.fileHandleForReading.close()
    }

    var errors: String { (try? String(contentsOf: errorFile, encoding: .utf8)) ?? "" }

    func signal(_ number: Int32) {
        Foundation.kill(process.processIdentifier, number)
    }

    func kill() {
        if process.isRunning { signal(SIGKILL) }
    }

    /// The exit code, or the signal's number with a minus.
    func wait() throws -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
}
