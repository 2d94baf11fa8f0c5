// Sets up a child's descriptors. All others that are open here are not inherited.

import CSpawn
import Foundation

/// The system calls that have the names of a child's own methods.
enum System {
    #if canImport(Darwin)
        static let kill = Darwin.kill
        static let signal = Darwin.signal
        static let write = Darwin.write
    #else
        static let kill = Glibc.kill
        static let signal = Glibc.signal
        static let write = Glibc.write
    #endif
}

struct SpawnActions {
    #if canImport(Darwin)
        private var actions: posix_spawn_file_actions_t?
    #else
        private var actions = posix_spawn_file_actions_t()
    #endif
    /// The child's ends of its pipes.
    private var ends: [Int32] = []

    init() {
        posix_spawn_file_actions_init(&actions)
    }

    mutating func destroy() {
        posix_spawn_file_actions_destroy(&actions)
        for end in ends { close(end) }
    }

    mutating func enter(_ directory: String) {
        syncline_spawn_enter(&actions, directory)
    }

    /// What the test keeps of it, if anything: its end of a pipe, or the file.
    mutating func connect(_ number: Int32, to stream: ChildProcess.Stream) throws -> Int32? {
        switch stream {
        case .nothing:
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        case .kept:
            let file = try SpawnActions.namelessFile()
            posix_spawn_file_actions_adddup2(&actions, file, number)
            return file
        case .descriptor(let descriptor):
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        case .output:
            posix_spawn_file_actions_adddup2(&actions, 1, number)
        case .pipe:
            let (reading, writing) = try SpawnActions.pipe()
            let (child, test) = number == 0 ? (reading, writing) : (writing, reading)
            ends.append(child)
            posix_spawn_file_actions_adddup2(&actions, child, number)
            return test
        }
        return nil
    }

    /// In a process group of its own, as a shell starts it, with no signal ignored or blocked.
    mutating func spawn(_ path: String, _ words: [String], _ variables: [String]) throws -> pid_t {
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
        #else
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var flags = Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        syncline_spawn_close_others(&actions, &attributes, &flags)
        posix_spawnattr_setflags(&attributes, flags)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, path, &actions, &attributes, &arguments, &environment)
        guard code == 0 else { throw ChildFailure("\(path) could not be started: error \(code)") }
        return child
    }

    private static func namelessFile() throws -> Int32 {
        var path = Array((FileManager.default.temporaryDirectory.path + "/child-XXXXXX").utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else { throw ChildFailure("no file: error \(errno)") }
        unlink(path)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard syncline_pipe(&ends) == 0 else { throw ChildFailure("no pipe: error \(errno)") }
        return (ends[0], ends[1])
    }
}
