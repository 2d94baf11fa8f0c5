// Programs built with these tests, run to their end or line by line.

import ChildProcesses
import Foundation
import Testing

extension ChildProcess {
    /// Runs a program in a directory to its end, as a shell does.
    static func run(
        _ path: String, _ words: [String] = [], in directory: URL, adding variables: [String: String] = [:]
    ) throws -> (output: String, exit: Int32) {
        let variables = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        return try run(path, words, variables: variables, directory: directory.path)
    }
}

/// A program whose output is read until an expected line.
struct Session {
    private let child: ChildProcess

    init(_ program: String, _ words: [String], in directory: URL) throws {
        let path = try ChildProcess.builds.appending(path: program).path
        child = try ChildProcess(
            path, words, variables: ProcessInfo.processInfo.environment, directory: directory.path, input: .pipe)
    }

    func type(_ line: String) throws { try child.write(line + "\n") }

    /// Reads up to a line that contains a string, and returns it. Fails if the output ends before.
    @discardableResult
    func line(with text: String) throws -> String {
        var read: [String] = []
        while let line = child.line() {
            if line.contains(text) { return line }
            read.append(line)
        }
        Issue.record("no line with \"\(text)\" in:\n\(read.joined(separator: "\n"))")
        throw CocoaError(.fileReadUnknown)
    }

    /// Kills it as `kill -9` does.
    func kill() { child.kill() }

    /// Its exit code.
    func end() -> Int32 { child.wait() }
}

/// A table server for a test.
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
