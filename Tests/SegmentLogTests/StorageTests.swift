// What every storage guarantees: the system's disk, the tree in memory and the simulated disk pass the same tests,
// so that what is proved on a simulated disk holds on a real one.

import LogTesting
import SegmentLog
import SynclineGround
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct `Every storage` {
    @Test(arguments: StorageKind.allCases)
    func `gives back what was written`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let file = try fixture.storage.openForWriting("a", create: true)
        #expect(try file.size() == 0)
        try file.put([1, 2, 3, 4, 5])
        try file.put([9, 9], at: 1)
        try file.sync(.durable)
        try file.sync(.ordered)
        #expect(try file.size() == 5)
        #expect(try file.allBytes() == [1, 9, 9, 4, 5])
        #expect(try fixture.storage.bytes(of: "a") == [1, 9, 9, 4, 5])
    }

    @Test(arguments: StorageKind.allCases)
    func `reads the bytes before the end and nothing after it`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let file = try fixture.storage.put([1, 2, 3, 4, 5], in: "a")
        #expect(try file.read(10, at: 0) == [1, 2, 3, 4, 5])
        #expect(try file.read(10, at: 3) == [4, 5])
        #expect(try file.read(2, at: 1) == [2, 3])
        #expect(try file.read(0, at: 1) == [])
        for offset in [5, 6, 1 << 40, UInt64(Int64.max), .max] {
            #expect(try file.read(10, at: offset) == [])
        }
    }

    @Test(arguments: StorageKind.allCases)
    func `fills with zeros what a write skips`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let file = try fixture.storage.put([1, 2], in: "a")
        try file.put([7], at: 5000)
        #expect(try file.size() == 5001)
        #expect(try file.allBytes() == [1, 2] + [UInt8](repeating: 0, count: 4998) + [7])
    }

    @Test(arguments: StorageKind.allCases)
    func `cuts a file and grows it with zeros`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let file = try fixture.storage.put([1, 2, 3, 4, 5], in: "a")
        try file.resize(to: 2)
        #expect(try file.allBytes() == [1, 2])
        try file.resize(to: 6000)
        #expect(try file.allBytes() == [1, 2] + [UInt8](repeating: 0, count: 5998))
        try file.resize(to: 0)
        #expect(try file.size() == 0)
    }

    @Test(arguments: StorageKind.allCases)
    func `refuses to write beyond the largest file`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let file = try fixture.storage.put([1], in: "a")
        #expect(refusal { try file.put([2], at: .max) } == .other)
        #expect(refusal { try file.resize(to: .max) } == .other)
        #expect(try file.allBytes() == [1])
    }

    @Test(arguments: StorageKind.allCases)
    func `takes an empty write for nothing`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let file = try fixture.storage.put([1], in: "a")
        #expect(try file.write(UnsafeRawBufferPointer(start: nil, count: 0), at: 100) == 0)
        #expect(try file.size() == 1)
    }

    @Test(arguments: StorageKind.allCases)
    func `makes a file only when asked to and keeps one that is there`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        #expect(refusal { _ = try storage.openForReading("a") } == .notFound)
        #expect(refusal { _ = try storage.openForWriting("a", create: false) } == .notFound)
        #expect(try storage.list() == [])
        try storage.put([1, 2, 3], in: "a")
        #expect(try storage.openForWriting("a", create: true).allBytes() == [1, 2, 3])
        #expect(try storage.openForWriting("a", create: false).allBytes() == [1, 2, 3])
    }

    @Test(arguments: StorageKind.allCases)
    func `lists the names of one directory`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        #expect(try storage.list() == [])
        try storage.createDirectory("d")
        try storage.createDirectory("d/e")
        for name in ["b", "a", "d/c", "d/e/f"] { try storage.put([], in: name) }
        #expect(try storage.list() == ["a", "b", "d"])
        #expect(try storage.list("d") == ["c", "e"])
        #expect(try storage.list("d/e") == ["f"])
        #expect(refusal { _ = try storage.names(in: "none") } == .notFound)
        #expect(refusal { _ = try storage.names(in: "a") } == .notADirectory)
        #expect(refusal { _ = try storage.names(in: "none/e") } == .notFound)
    }

    @Test(arguments: StorageKind.allCases)
    func `lists many names`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let names = (0..<700).map { "file-with-a-long-name-\($0)" }
        for name in names { try fixture.storage.openForWriting(name, create: true).close() }
        #expect(try fixture.storage.list() == names.sorted())
    }

    @Test(arguments: StorageKind.allCases)
    func `makes a directory only if nothing exists at its path`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        try storage.createDirectory("")
        try storage.createDirectory("d")
        try storage.createDirectory("d")
        try storage.put([1], in: "a")
        #expect(refusal { try storage.createDirectory("a") } == .notADirectory)
        #expect(refusal { try storage.createDirectory("none/d") } == .notFound)
        #expect(refusal { try storage.createDirectory("a/d") } == .notADirectory)
        #expect(try storage.list() == ["a", "d"])
    }

    @Test(arguments: StorageKind.allCases)
    func `syncs only directories that are there`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        try storage.createDirectory("d")
        try storage.put([1], in: "a")
        try storage.syncDirectory("")
        try storage.syncDirectory("d")
        #expect(refusal { try storage.syncDirectory("none") } == .notFound)
        #expect(refusal { try storage.syncDirectory("a") } == .notADirectory)
    }

    @Test(arguments: StorageKind.allCases)
    func `does not take a directory for a file`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        try storage.createDirectory("d")
        try storage.put([1], in: "a")
        #expect(refusal { _ = try storage.openForReading("d") } == .other)
        #expect(refusal { _ = try storage.openForWriting("d", create: true) } == .other)
        #expect(refusal { _ = try storage.openForReading("") } == .other)
        #expect(refusal { try storage.rename("a", to: "d") } == .other)
        #if os(Linux)
            #expect(refusal { try storage.remove("d") } == .other)
        #endif
        #expect(try storage.list() == ["a", "d"])
    }

    @Test(arguments: StorageKind.allCases)
    func `does not take a file for a directory`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        try storage.put([1], in: "a")
        #expect(refusal { _ = try storage.openForReading("a/b") } == .notADirectory)
        #expect(refusal { _ = try storage.openForWriting("a/b", create: true) } == .notADirectory)
        #expect(refusal { try storage.rename("a", to: "a/b") } == .notADirectory)
        #expect(refusal { try storage.remove("a/b") } == .notADirectory)
        #expect(refusal { _ = try storage.lock("a/b") } == .notADirectory)
        #expect(refusal { _ = try storage.openForWriting("none/b", create: true) } == .notFound)
    }

    @Test(arguments: StorageKind.allCases)
    func `renames a file over another`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        let moved = try storage.put([1], in: "a")
        let replaced = try storage.put([2], in: "b")
        try storage.rename("a", to: "b")
        #expect(try storage.list() == ["b"])
        #expect(try storage.bytes(of: "b") == [1])
        #expect(refusal { _ = try storage.openForReading("a") } == .notFound)
        // Open files follow the file, not the name.
        try moved.put([3])
        #expect(try storage.bytes(of: "b") == [3])
        #expect(try replaced.allBytes() == [2])
        try storage.rename("b", to: "b")
        #expect(try storage.bytes(of: "b") == [3])
        #expect(refusal { try storage.rename("a", to: "c") } == .notFound)
        #expect(refusal { try storage.rename("b", to: "none/c") } == .notFound)
    }

    @Test(arguments: StorageKind.allCases)
    func `renames a file into another directory`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        try storage.createDirectory("d")
        try storage.put([1, 2], in: "a")
        try storage.rename("a", to: "d/b")
        #expect(try storage.list() == ["d"])
        #expect(try storage.bytes(of: "d/b") == [1, 2])
        try storage.rename("d/b", to: "a")
        #expect(try storage.list() == ["a", "d"])
        #expect(try storage.list("d") == [])
    }

    @Test(arguments: StorageKind.allCases)
    func `removes a name while open files live on`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        let file = try storage.put([1], in: "a")
        try storage.remove("a")
        try storage.syncDirectory("")
        #expect(try storage.list() == [])
        #expect(refusal { try storage.remove("a") } == .notFound)
        try file.put([2, 3])
        #expect(try file.allBytes() == [2, 3])
        try storage.put([9], in: "a")
        #expect(try file.allBytes() == [2, 3])
    }

    @Test(arguments: StorageKind.allCases)
    func `refuses every call on a closed file`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let file = try fixture.storage.put([1, 2, 3], in: "a")
        file.close()
        file.close()
        // On the system's disk this one gets the number that the first had.
        let other = try fixture.storage.put([4, 5, 6], in: "b")
        let calls: [() throws -> Void] = [
            { _ = try file.size() }, { _ = try file.read(1, at: 0) }, { try file.put([9]) },
            { try file.resize(to: 0) }, { try file.sync(.durable) },
        ]
        for call in calls {
            #expect { try call() } throws: { error in
                (error as? StorageError)?.number == EBADF && (error as? StorageError)?.name == "a"
            }
        }
        #expect(try other.allBytes() == [4, 5, 6])
        #expect(try fixture.storage.bytes(of: "a") == [1, 2, 3])
    }

    @Test(arguments: StorageKind.allCases)
    func `gives a lock to one at a time`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        let first = try #require(try storage.lock("LOCK"))
        #expect(first.isOwned)
        #expect(try storage.lock("LOCK") == nil)
        let other = try #require(try storage.lock("OTHER"))
        first.release()
        #expect(!first.isOwned)
        first.release()
        let second = try #require(try storage.lock("LOCK"))
        // Releasing again must not release what another owner has taken since.
        first.release()
        #expect(try storage.lock("LOCK") == nil)
        #expect(second.isOwned && other.isOwned)
        #expect(try storage.list() == ["LOCK", "OTHER"])
    }

    @Test(arguments: StorageKind.allCases)
    func `releases a lock that is not kept`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        do { _ = try #require(try fixture.storage.lock("LOCK")) }
        #expect(try fixture.storage.lock("LOCK") != nil)
    }

    @Test(arguments: StorageKind.allCases)
    func `keeps the last note about the holder of a lock`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        let lock = try #require(try fixture.storage.lock("LOCK"))
        func firstLine() throws -> String {
            String(decoding: try fixture.storage.bytes(of: "LOCK").prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
        lock.note("pid 4711 on a machine with a long name")
        lock.note("pid 4712")
        #expect(try firstLine() == "pid 4712")
        lock.release()
        lock.note("other")
        #expect(try firstLine() == "pid 4712")
    }

    @Test(arguments: StorageKind.allCases)
    func `says which call was refused on which name and why`(kind: StorageKind) throws {
        let fixture = try StorageFixture(kind)
        #expect { _ = try fixture.storage.openForReading("a/b") } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.operation == "open" && error.name == "a/b" && error.number == ENOENT
                && error.reason == "No such file or directory"
        }
        #expect(throws: StorageError(number: ENOENT, operation: "list", name: "c")) {
            try fixture.storage.names(in: "c")
        }
    }

    @Test(arguments: StorageKind.allCases)
    func `serves many readers beside one writer`(kind: StorageKind) async throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        let file = try storage.put([UInt8](repeating: 1, count: 64), in: "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<4 {
                group.addTask {
                    let own = try storage.openForReading("a")
                    for round in 0..<200 {
                        let bytes = try (reader.isMultiple(of: 2) ? own : file).read(64, at: UInt64(round % 64))
                        #expect(bytes.count == 64 - round % 64 || bytes.count == 64)
                        #expect(bytes.allSatisfy { $0 == 1 })
                    }
                }
            }
            group.addTask {
                for round in 1..<200 { try file.put([UInt8](repeating: 1, count: 64), at: UInt64(round * 64)) }
            }
            try await group.waitForAll()
        }
        #expect(try file.size() == 200 * 64)
    }

    @Test(arguments: StorageKind.allCases)
    func `closes a file under its readers without harm`(kind: StorageKind) async throws {
        let fixture = try StorageFixture(kind)
        let storage = fixture.storage
        try storage.put([UInt8](repeating: 1, count: 64), in: "a")
        try storage.put([UInt8](repeating: 2, count: 64), in: "b")
        for _ in 0..<50 {
            let file = try storage.openForReading("a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<50 {
                            guard let bytes = try? file.read(64, at: 0) else { return }
                            #expect(bytes == [UInt8](repeating: 1, count: 64))
                        }
                    }
                }
                group.addTask {
                    file.close()
                    let other = try storage.openForReading("b")
                    #expect(try other.read(64, at: 0) == [UInt8](repeating: 2, count: 64))
                }
                try await group.waitForAll()
            }
        }
    }

    /// The simulated disk and the tree in memory against the real one, over random calls.
    @Test(arguments: [StorageKind.memory, .faulty], 0..<20)
    func `answers random calls as the system does`(kind: StorageKind, seed: UInt64) throws {
        let (real, other) = (try StorageFixture(.posix), try StorageFixture(kind))
        var left = RandomCalls(seed: seed, on: real.storage)
        var right = RandomCalls(seed: seed, on: other.storage)
        for step in 0..<300 {
            let (expected, answer) = (left.step(), right.step())
            try #require(answer == expected, "seed \(seed), step \(step)")
        }
    }
}

/// Calls chosen by a seed, each with its result as a string.
private struct RandomCalls {
    private let storage: any LogStorage
    private var numbers: Chance
    private var open: [any WritableFile] = []
    private var locks: [any FileLock] = []

    init(seed: UInt64, on storage: any LogStorage) {
        numbers = Chance(seed: seed)
        self.storage = storage
    }

    mutating func step() -> String {
        let names = ["a", "b", "d", "d/a", "d/e", "none/a", "a/b"]
        let (name, newName) = (names.randomElement(using: &numbers) ?? "", names.randomElement(using: &numbers) ?? "")
        let number = UInt64.random(in: 0..<1500, using: &numbers)
        let call = Int.random(in: 0..<14, using: &numbers)
        do {
            switch call {
            case 0: return "\(try storage.names(in: name).sorted())"
            case 1: return "\(try storage.names(in: "").sorted())"
            case 2: try storage.createDirectory(number < 1000 ? "d" : name.hasPrefix("d") ? "d/e" : "none/e")
            case 3: try storage.syncDirectory(name)
            case 4: return "\(try storage.bytes(of: name))"
            case 5: open.append(try storage.openForWriting(name, create: number < 1000))
            // The system renames directories, too; the log never does.
            case 6 where name != "d" && name != "d/e": try storage.rename(name, to: newName)
            case 7: try storage.remove(name)
            case 8:
                guard let lock = try storage.lock(name) else { return "taken" }
                locks.append(lock)
            case 9 where !locks.isEmpty: locks.remove(at: Int(number) % locks.count).release()
            case 10 where !open.isEmpty: return try use(open[Int(number) % open.count], number)
            case 11 where !open.isEmpty: open[Int(number) % open.count].close()
            case 12 where !open.isEmpty: open.remove(at: Int(number) % open.count)
            default: open.append(try storage.openForWriting(number < 1000 ? "a" : "b", create: true))
            }
            return "done"
        } catch {
            guard let error = error as? StorageError else { return "\(error)" }
            return "\(error.operation) \(error.name): \(error.kind) \(error.number)"
        }
    }

    private func use(_ file: any WritableFile, _ number: UInt64) throws -> String {
        switch number % 4 {
        case 0: try file.put([UInt8](repeating: UInt8(number & 255), count: Int(number)), at: 1500 - number)
        case 1: try file.resize(to: number)
        case 2: try file.sync(.durable)
        default: break
        }
        return "\(try file.size()) \(try file.allBytes())"
    }
}

@Suite struct `The system's storage` {
    @Test func `makes its directory with the parents`() throws {
        let fixture = try StorageFixture(.posix)
        let path = try #require(fixture.path)
        let storage = POSIXStorage(directory: path + "/x//y/z/")
        #expect(refusal { _ = try storage.names(in: "") } == .notFound)
        #expect(refusal { try storage.syncDirectory("") } == .notFound)
        try storage.createDirectory("")
        try storage.createDirectory("")
        #expect(storage.location == path + "/x//y/z")
        #expect(try storage.list() == [])
        #expect(try fixture.storage.list("x") == ["y"])
        try fixture.storage.put([1], in: "file")
        #expect(refusal { try POSIXStorage(directory: path + "/file").createDirectory("") } == .notADirectory)
        #expect(refusal { try POSIXStorage(directory: path + "/file/z").createDirectory("") } == .notADirectory)
    }

    @Test func `shares locks between its copies`() throws {
        let fixture = try StorageFixture(.posix)
        let again = POSIXStorage(directory: try #require(fixture.path))
        let lock = try #require(try fixture.storage.lock("LOCK"))
        #expect(try again.lock("LOCK") == nil)
        lock.release()
        #expect(try again.lock("LOCK") != nil)
    }

    #if os(Linux)
        @Test func `opens files that a new program does not inherit`() throws {
            let fixture = try StorageFixture(.posix)
            let path = try #require(fixture.path)
            let files: [any AnyObject] = [
                try fixture.storage.put([1], in: "a"), try fixture.storage.openForReading("a"),
                try #require(try fixture.storage.lock("LOCK")),
            ]
            var seen = 0
            for name in try POSIXStorage(directory: "/proc/self/fd").names(in: "") {
                var target = [CChar](repeating: 0, count: 4096)
                guard let number = Int32(name), readlink("/proc/self/fd/\(name)", &target, 4095) > 0 else { continue }
                let length = target.firstIndex(of: 0) ?? 0
                let text = String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
                guard text.hasPrefix(path + "/") else { continue }
                seen += 1
                #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
            }
            #expect(seen == files.count)
        }

        @Test func `reports a full disk as such`() throws {
            let file = try POSIXStorage(directory: "/dev").openForWriting("full", create: false)
            #expect(refusal { try file.put([1]) } == .diskFull)
        }

        @Test func `keeps its lock when a forked child ends`() throws {
            let fixture = try StorageFixture(.posix)
            let lock = try #require(try fixture.storage.lock("LOCK"))
            typealias Fork = @convention(c) () -> pid_t
            let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
            let child = fork()
            if child == 0 {
                // Only the calling thread exists in the child: a lock that another held at the fork is never
                // released.
                alarm(60)
                let isOwned = lock.isOwned
                lock.release()
                _exit(isOwned ? 1 : 0)
            }
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child)
            #expect(status == 0)
            #expect(lock.isOwned)
            #expect(try fixture.storage.lock("LOCK") == nil)
        }

        @Test func `names no network for a local directory`() throws {
            let fixture = try StorageFixture(.posix)
            let path = try #require(fixture.path)
            let isLocal = networkFileSystemType(at: path, mounts: "disk / ext4 rw 0 0") == nil
            #expect(isLocal)
            #expect(POSIXStorage(directory: "/proc/self").networkFileSystem() == nil)
            #expect(POSIXStorage(directory: "/proc/self/none/at/all").networkFileSystem() == nil)
        }
    #endif

    @Test func `finds the mount that holds a path`() {
        let mounts = """
            /dev/sda / ext4 rw 0 0
            server:/home /home nfs4 rw 0 0
            /dev/sdb /home/local ext4 rw 0 0
            //server/share /mnt/my\\040share cifs rw 0 0
            tmpfs /twice tmpfs rw 0 0
            host /twice 9p rw 0 0
            host /over 9p rw 0 0
            tmpfs /over tmpfs rw 0 0
            user@host: /ssh fuse.sshfs rw 0 0
            short
            """
        let types = [
            "/": nil, "/home": "nfs4", "/home/x/y": "nfs4", "/homes": nil, "/home/local": nil, "/home/local/x": nil,
            "/home/locality": "nfs4", "/mnt/my share/log": "cifs", "/mnt/my": nil, "/twice/x": "9p", "/over/x": nil,
            "/ssh/log": "fuse.sshfs",
        ]
        for (path, type) in types { #expect(networkFileSystemType(at: path, mounts: mounts) == type, "\(path)") }
        #expect(networkFileSystemType(at: "/x", mounts: "") == nil)
    }

    @Test(arguments: [
        (ENOENT, StorageError.Kind.notFound), (EEXIST, .exists), (EACCES, .permission), (EPERM, .permission),
        (ENOTDIR, .notADirectory), (EROFS, .readOnly), (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EIO, .inputOutput),
        (EBADF, .other), (EFBIG, .other), (0, .other),
    ])
    func `knows the kinds of the system's errors`(number: Int32, kind: StorageError.Kind) {
        let error = StorageError(number: number, operation: "open", name: "a")
        #expect(error.kind == kind)
        #expect(error.number == number)
        #expect(!error.reason.isEmpty)
    }
}

@Suite struct `The tree in memory` {
    @Test func `is copied with nothing shared`() throws {
        let storage = MemoryStorage()
        try storage.createDirectory("d")
        let file = try storage.put([1], in: "d/a")
        let lock = try storage.lock("LOCK")
        let copy = storage.copy()
        try file.put([2])
        try storage.remove("LOCK")
        #expect(copy.contents(of: "d/a") == [1])
        #expect(copy.allNames().files == ["LOCK", "d/a"])
        #expect(copy.allNames().directories == ["d"])
        #expect(try copy.lock("LOCK") != nil)
        #expect(lock?.isOwned == true)
    }

    @Test func `gives and takes whole contents`() throws {
        let storage = MemoryStorage()
        #expect(storage.contents(of: "d/e/a") == nil)
        storage.setContents([1, 2], of: "d/e/a")
        #expect(storage.contents(of: "d/e/a") == [1, 2])
        #expect(storage.contents(of: "d") == nil)
        #expect(try storage.list("d") == ["e"])
        let file = try storage.openForReading("d/e/a")
        storage.setContents([3], of: "d/e/a")
        #expect(try file.allBytes() == [3])
    }
}
