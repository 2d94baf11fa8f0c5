// A worker process as its parent sees it: started with a pipe each way, asked one command at a time.

import Foundation
import Synchronization

final class WorkerProcess {
    /// Every worker that runs, so that an interruption can end them.
    private static let running = Mutex<Set<pid_t>>([])

    private let process: pid_t
    private let input: Int32
    private let output: FileHandle
    private var unread: [UInt8] = []
    private var ended = false

    /// Starts a worker for an engine on a directory, which is made.
    convenience init(_ engine: EngineName, in directory: String) throws {
        try self.init("worker", engine.rawValue, in: directory)
    }

    /// Starts a worker of some kind for what is named on a directory, which is made.
    init(_ kind: String, _ name: String, in directory: String) throws {
        try makeDirectories(directory)
        let (childInput, input) = try makePipe()
        let (output, childOutput) = try makePipe()
        self.input = input
        self.output = FileHandle(fileDescriptor: output, closeOnDealloc: true)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, childInput, 0)
        posix_spawn_file_actions_adddup2(&actions, childOutput, 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            close(childInput)
            close(childOutput)
        }
        let words = ["syncline-bench", kind, name, directory]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, arguments, environ)
        guard code == 0 else { throw BenchError("Starting a worker: \(String(cString: strerror(code)))") }
        self.process = process
        Self.running.withLock { _ = $0.insert(process) }
    }

    deinit { kill() }

    /// Asks and waits for the answer.
    @discardableResult
    func ask(_ command: Command) throws -> Reply {
        try send(command)
        return try receive()
    }

    /// The same for commands and answers of any kind.
    func ask<Answer: Decodable>(_ command: some Encodable) throws -> Answer {
        try send(command)
        return try receiveAnswer()
    }

    func send(_ command: some Encodable) throws {
        let line = try [UInt8](JSONEncoder().encode(command)) + [0x0a]
        guard write(input, line, line.count) == line.count else { throw systemFailure("Asking a worker") }
    }

    func receive() throws -> Reply {
        let reply: Reply = try receiveAnswer()
        if let failure = reply.failure { throw BenchError(failure) }
        return reply
    }

    private func receiveAnswer<Answer: Decodable>() throws -> Answer {
        while true {
            if let end = unread.firstIndex(of: 0x0a) {
                let answer = try JSONDecoder().decode(Answer.self, from: Data(unread[..<end]))
                unread.removeSubrange(...end)
                return answer
            }
            let more = output.availableData
            guard !more.isEmpty else { throw BenchError("A worker died") }
            unread += more
        }
    }

    /// Ends the process at once, as the system would; nothing is closed.
    func kill() {
        guard !ended else { return }
        ended = true
        Foundation.kill(process, SIGKILL)
        waitpid(process, nil, 0)
        close(input)
        Self.running.withLock { _ = $0.remove(process) }
    }

    static func killAll() {
        for process in running.withLock({ $0 }) {
            Foundation.kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
    }
}

private func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw systemFailure("Making a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}
