// A program that a test starts, talks to, stops and kills. Starting and waiting are plain system calls, so each
// happens where the test says. A child inherits only the three descriptors it is given, so that another child can't
// delay the end of its pipes.

public import Foundation

public final class ChildProcess {
    /// What a child reads from or writes to.
    public enum Stream {
        case nothing
        /// A pipe whose other end the test has.
        case pipe
        /// A descriptor of the test.
        case descriptor(Int32)
        /// Kept for the test to read at any time.
        case kept
        /// For its errors: the same place as its output.
        case output
    }

    public let identifier: pid_t
    private var input: Int32?
    private var output: Int32?
    private let keptErrors: Int32?
    private var unread: [UInt8] = []
    private var end: Int32?

    /// - Parameter variables: Its whole environment.
    public init(
        _ path: String, _ words: [String] = [], variables: [String: String], directory: String? = nil,
        input: Stream = .nothing, output: Stream = .pipe, errors: Stream = .nothing
    ) throws {
        _ = ChildProcess.toleratesClosedPipes
        var actions = SpawnActions()
        defer { actions.destroy() }
        if let directory { actions.enter(directory) }
        self.input = try actions.connect(0, to: input)
        self.output = try actions.connect(1, to: output)
        keptErrors = try actions.connect(2, to: errors)
        identifier = try actions.spawn(path, [path] + words, variables.map { "\($0)=\($1)" })
    }

    deinit {
        kill()
        closeInput()
        closeOutput()
        if let keptErrors { close(keptErrors) }
    }

    /// Writing to a child that no longer reads is an error here, not a signal that ends the tests.
    private static let toleratesClosedPipes: Void = { _ = System.signal(SIGPIPE, SIG_IGN) }()

    /// Runs a program to its end; returns its output including its errors, and how it ended.
    public static func run(
        _ path: String, _ words: [String] = [], variables: [String: String] = ProcessInfo.processInfo.environment,
        directory: String? = nil
    ) throws -> (output: String, exit: Int32) {
        let child = try ChildProcess(path, words, variables: variables, directory: directory, errors: .output)
        return (child.rest(), child.wait())
    }

    /// The directory of the programs built with these tests.
    public static var builds: URL {
        get throws {
            let places = CommandLine.arguments + [Bundle.main.executablePath ?? "", Bundle.main.bundlePath]
            for place in places where place.contains(".xctest") {
                var url = URL(fileURLWithPath: place)
                while url.path.contains(".xctest") { url.deleteLastPathComponent() }
                return url
            }
            throw ChildFailure("these tests are not in a bundle")
        }
    }

    // MARK: Talking

    public func write(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { System.write(input ?? -1, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw ChildFailure("nothing reads \"\(text)\": error \(errno)") }
            bytes = bytes.dropFirst(count)
        }
    }

    public func closeInput() {
        if let input { _ = close(input) }
        input = nil
    }

    /// Stops reading, as `head` does.
    public func closeOutput() {
        if let output { _ = close(output) }
        output = nil
    }

    /// Waits for the next line of the output and returns it; nil at the end.
    public func line() -> String? {
        while true {
            if let end = unread.firstIndex(of: 0x0a) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            guard readMore() else { return nil }
        }
    }

    /// Returns all remaining output.
    public func rest() -> String {
        while readMore() {}
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }

    /// Whether there is unread output.
    public var hasOutput: Bool {
        var descriptor = pollfd(fd: output ?? -1, events: Int16(POLLIN), revents: 0)
        return !unread.isEmpty || poll(&descriptor, 1, 0) > 0
    }

    /// Its errors so far, if they are kept.
    public var errors: String {
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while let keptErrors {
            let count = pread(keptErrors, &bytes, bytes.count, off_t(text.count))
            if count <= 0 { break }
            text += bytes[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func readMore() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(output ?? -1, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            unread += bytes[..<count]
            return true
        }
    }

    // MARK: Ending

    public func signal(_ number: Int32) {
        if end == nil { _ = System.kill(identifier, number) }
    }

    /// Stops it; when this returns it no longer runs.
    public func suspend() throws {
        var status: Int32 = 0
        signal(SIGSTOP)
        guard waitpid(identifier, &status, WUNTRACED) == identifier, status & 0xff == 0x7f else {
            throw ChildFailure("it ended before it could be stopped: \(status)")
        }
    }

    /// Kills it; when this returns it is gone and has released everything.
    public func kill() {
        signal(SIGKILL)
        wait()
    }

    /// Its exit code, or the negative number of the signal that ended it.
    @discardableResult
    public func wait() -> Int32 {
        if let end { return end }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        let code = signal == 0 ? status >> 8 & 0xff : -signal
        end = code
        return code
    }
}

/// Why a child could not be started or spoken to.
public struct ChildFailure: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
