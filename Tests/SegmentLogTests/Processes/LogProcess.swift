// A child process that writes a log, and the connection to it. Starting, waiting and killing are plain calls of the system, so
// that each happens where the test says.

import Foundation

final class LogProcess {
    let identifier: pid_t
    private let connection: Int32
    private var unread: [UInt8] = []
    private var hasEnded = false

    /// Starts `log-process`, which stands beside the tests' own executable.
    init(_ arguments: String...) throws {
        let connection = try LogProcess.connection()
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, connection.child, 0)
        posix_spawn_file_actions_adddup2(&actions, connection.child, 1)
        let path = LogProcess.path
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, path, &actions, nil, &words, environ)
        close(connection.child)
        guard result == 0 else { throw ScenarioFailure("\(path) could not be started: \(result)") }
        (identifier, self.connection) = (child, connection.parent)
    }

    deinit {
        kill()
        close(connection)
    }

    /// Two ends that are connected. Neither stays open in a child that another test starts meanwhile, which would keep
    /// this one's output from ending.
    private static func connection() throws -> (parent: Int32, child: Int32) {
        var ends: [Int32] = [0, 0]
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw ScenarioFailure("no connection: error \(errno)") }
        #if !os(Linux)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        return (ends[0], ends[1])
    }

    private static var path: String {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let tests = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appendingPathComponent("log-process").path
    }

    /// The next line of its output; nil at the end.
    func line() throws -> String? {
        while true {
            if let end = unread.firstIndex(of: 10) {
                defer { unread.removeFirst(end + 1) }
                let line = String(decoding: unread[..<end], as: UTF8.self)
                guard !line.hasPrefix("failed") else { throw ScenarioFailure("the child said: \(line)") }
                return line
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(connection, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            unread += bytes[..<count]
        }
    }

    /// The next transaction it was given; nil at the end of its output.
    func acknowledgement() throws -> ClosedRange<UInt64>? {
        guard let line = try line() else { return nil }
        let numbers = line.split(separator: " ").compactMap { UInt64($0) }
        guard numbers.count == 2 else { return try acknowledgement() }
        return numbers[0]...numbers[1]
    }

    /// Whether it has written something that was not read yet.
    var hasOutput: Bool {
        var descriptor = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        return !unread.isEmpty || poll(&descriptor, 1, 0) > 0
    }

    /// Stops it; when this returns it stands still.
    func suspend() throws {
        var status: Int32 = 0
        _ = signal(SIGSTOP)
        guard waitpid(identifier, &status, WUNTRACED) == identifier, status & 0xff == 0x7f else {
            throw ScenarioFailure("the child ended before it could be stopped: \(status)")
        }
    }

    /// Ends it at once; when this returns it is gone, and with it what it held.
    func kill() {
        _ = signal(SIGKILL)
        wait()
    }

    func wait() {
        guard !hasEnded else { return }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        hasEnded = true
    }

    private func signal(_ number: Int32) -> Int32 {
        guard !hasEnded else { return 0 }
        #if canImport(Darwin)
            return Darwin.kill(identifier, number)
        #else
            return Glibc.kill(identifier, number)
        #endif
    }
}

/// A directory for one test, gone with its end.
final class PrivateDirectory {
    let path: String
    var log: String { path + "/log" }

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("segment-log-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
