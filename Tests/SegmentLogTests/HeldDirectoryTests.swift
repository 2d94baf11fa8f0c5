// A system directory that is held open while its path leads elsewhere.

import SegmentLog
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct HeldDirectoryTests {
    @Test func `reaches the directory it holds, whatever is put in its place`() throws {
        let fixture = try StorageFixture(.posix)
        let path = try #require(fixture.path)
        let storage = POSIXStorage(directory: path + "/log")
        try storage.createDirectory("")
        let held = try storage.held()
        let lock = try #require(try held.lock("LOCK"))
        #expect(try lock.isInPlace())
        #expect(rename(path + "/log", path + "/moved") == 0)
        #expect(try !lock.isInPlace())
        try storage.createDirectory("")
        #expect(try !lock.isInPlace())
        try storage.put([1], in: "a")
        try held.createDirectory("d")
        try held.put([2], in: "d/b")
        try held.rename("d/b", to: "c")
        try held.syncDirectory("")
        #expect(try storage.list() == ["a"])
        #expect(try held.list() == ["LOCK", "c", "d"])
        #expect(refusal { try held.remove("a") } == .notFound)
        #expect(rmdir(path + "/moved/d") == 0)
        try storage.remove("a")
        #expect(rmdir(path + "/log") == 0)
        #expect(rename(path + "/moved", path + "/log") == 0)
        #expect(try lock.isInPlace())
        try held.remove("LOCK")
        #expect(try !lock.isInPlace())
        try storage.put([], in: "LOCK")
        #expect(try !lock.isInPlace())
    }

    @Test func `takes a tilde for the user's own directory`() throws {
        let home = try #require(getenv("HOME").map { String(cString: $0) })
        #expect(POSIXStorage(directory: "~/notes/").location == home + "/notes")
        #expect(POSIXStorage(directory: "~").location == home)
        for path in ["./~/notes", "~notes", "a/~"] { #expect(POSIXStorage(directory: path).location == path) }
    }

    @Test func `names the directory in an error about it`() throws {
        let fixture = try StorageFixture(.posix)
        let path = try #require(fixture.path)
        try fixture.storage.put([], in: "file")
        let storage = POSIXStorage(directory: path + "/file/log")
        do throws(StorageError) {
            try storage.createDirectory("")
            Issue.record("a directory was made in a file")
        } catch {
            #expect(error.name == path + "/file/log")
        }
    }
}
