// A program that was built with these tests, talked to line by line.

import Foundation
import Testing

final class Session {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer = Data()

    init(_ program: String, _ words: [String], in directory: URL) throws {
        process.executableURL = try Child.builds.appending(path: program)
        process.arguments = words
        process.currentDirectoryURL = directory
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try output.fileHandleForWriting.close()
        try input.fileHandleForReading.close()
    }

    deinit { kill() }

    func type(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Reads up to a line that holds a text, and returns it. An end before it is a failure.
    @discardableResult
    func line(with text: String) throws -> String {
        var read: [String] = []
        while let line = line() {
            if line.contains(text) { return line }
            read.append(line)
        }
        Issue.record("no line with \"\(text)\" in:\n\(read.joined(separator: "\n"))")
        throw CocoaError(.fileReadUnknown)
    }

    private func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 0x0a) {
                defer { buffer = Data(buffer[(end + 1)...]) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            buffer += more
        }
    }

    /// Ends it as `kill -9` does.
    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Its exit code.
    func end() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}

/// A table server of a test's own.
struct TableServer {
    private let session: Session
    let url: String

    init(in directory: URL) throws {
        session = try Session(
            "syncline-server",
            ["--store", "sqlite:server.db", "--listen", "127.0.0.1:0", "--table", "todoitem", "--log", "none"],
            in: directory)
        let line = try session.line(with: "\"url\"")
        url = try #require(line.split(separator: "\"").first { $0.hasPrefix("http://") }.map(String.init))
    }

    func stop() { session.kill() }
}
