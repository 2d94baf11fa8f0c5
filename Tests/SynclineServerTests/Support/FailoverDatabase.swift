// Databases that fail over to a copy that lacks writes: a file or a database that was copied earlier, and a PostgreSQL with
// a real standby.

import ChildProcesses
import Foundation
import SynclineGround
import SynclineTables
import Testing

@testable import SynclineServer

/// A database at one address, which continues as a copy of itself.
protocol FailoverDatabase: AnyObject {
    /// Reaches whichever copy is in use.
    var database: any SQLDatabase { get }
    /// Whether a process that starts after the failover can notice it.
    var isNoticedAtStart: Bool { get }
    /// Later changes are not in the copy.
    func copy() throws
    /// The copy takes over.
    func failOver() throws
}

/// Forwards to a database that a test exchanges.
final class MovableDatabase: SQLDatabase {
    let dialect: SQLDialect
    private let current: Mutex<any SQLDatabase>

    init(_ database: any SQLDatabase) {
        dialect = database.dialect
        current = Mutex(database)
    }

    func move(to database: any SQLDatabase) { current.withLock { $0 = database } }

    private var now: any SQLDatabase { current.withLock { $0 } }

    func read<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try now.read(body)
    }

    func write<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try now.write(body)
    }

    func check() throws(StoreFailure) { try now.check() }
    func checkWrites() throws(StoreFailure) { try now.checkWrites() }
    func interrupt() { now.interrupt() }
    func close() { now.close() }
    var pools: [PoolUse] { now.pools }
}

/// A copy that was made earlier: `VACUUM INTO`, or a database made from a template.
final class CopiedDatabase: FailoverDatabase {
    private let movable: MovableDatabase
    private let backend: TestBackend
    private let folder: TemporaryFolder
    private var name: String
    private var next: any SQLDatabase
    private var count = 0

    init(_ backend: TestBackend) throws {
        self.backend = backend
        folder = try TemporaryFolder()
        name = backend == .sqlite ? "" : try #require(PrivatePostgres.shared).newDatabase()
        let first: any SQLDatabase =
            backend == .sqlite
            ? try SQLiteDatabase(path: folder.path + "/0.db")
            : try PostgresDatabase(
                url: try #require(PrivatePostgres.shared).url(name), connections: 4, limits: .patient)
        (movable, next) = (MovableDatabase(first), first)
    }

    var database: any SQLDatabase { movable }
    var isNoticedAtStart: Bool { backend == .postgres }

    func copy() throws {
        count += 1
        if backend == .sqlite {
            let path = "\(folder.path)/\(count).db"
            try movable.carryOut(["VACUUM INTO '\(path)'"])
            next = try SQLiteDatabase(path: path)
        } else {
            let cluster = try #require(PrivatePostgres.shared)
            // A template must have no connections; a tick may open one.
            var copied: String?
            for _ in 0..<20 where copied == nil {
                movable.close()
                copied = try? cluster.newDatabase(template: name)
            }
            name = try #require(copied)
            next = try PostgresDatabase(url: cluster.url(name), connections: 4, limits: .patient)
        }
    }

    func failOver() throws {
        movable.close()
        movable.move(to: next)
    }
}

/// A primary and its asynchronous standby, one of which takes over from the other again and again.
final class ReplicatedPostgres: FailoverDatabase {
    private let folder: String
    private let programs: String
    private var primary = "a"
    private var standby = "b"
    /// The servers end when this one's input is closed, which the end of this process does too.
    private let child: ChildProcess
    let database: any SQLDatabase

    init() throws {
        programs = try #require(PrivatePostgres.programs)
        folder = FileManager.default.temporaryDirectory.path + "/pg-\(UUID().uuidString.prefix(8))"
        let script = """
            set -e; umask 077; mkdir -p "$D"; [ -z "$U" ] || chown postgres "$D"; cd /
            end() {
                for S in a b; do kill -QUIT "$(head -n 1 "$D/$S/postmaster.pid")" 2>/dev/null || true; done
                until [ ! -e "$D/a/postmaster.pid" ] && [ ! -e "$D/b/postmaster.pid" ]; do sleep 0.1; done
                rm -rf "$D"
            }
            trap end EXIT
            $U "$P/initdb" -D "$D/a" -A trust -U tester -E UTF8 --no-sync >"$D/log" 2>&1
            $U "$P/pg_ctl" -D "$D/a" -w -l "$D/servers.log" -o "-k $D -p 1 -h '' -c fsync=off" start >/dev/null
            $U "$P/createdb" -h "$D" -p 1 -U tester -T template0 -l C tables
            echo ready; cat >/dev/null
            """
        child = try ChildProcess(
            "/bin/sh", ["-c", script],
            variables: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "D": folder, "P": programs, "U": ReplicatedPostgres.user,
            ], input: .pipe)
        guard child.line() == "ready" else { throw CocoaError(.executableLoad) }
        let place = folder.replacing("/", with: "%2F")
        database = try PostgresDatabase(
            url: "postgresql:///tables?host=\(place),\(place)&port=1,2&user=tester&target_session_attrs=read-write",
            connections: 4, limits: .patient)
    }

    deinit {
        child.closeInput()
        child.wait()
    }

    /// PostgreSQL does not run as root.
    private static let user = geteuid() == 0 ? "runuser -u postgres --" : ""
    let isNoticedAtStart = true

    private func port(_ server: String) -> Int { server == "a" ? 1 : 2 }

    private func run(_ commands: String) throws {
        let script = "set -e; cd /; D='\(folder)'; P='\(programs)'; U='\(Self.user)'; exec >>$D/log 2>&1; \(commands)"
        guard try shell(script) == 0 else { throw CocoaError(.executableLoad) }
    }

    private func start(_ server: String) -> String {
        "$U $P/pg_ctl -D $D/\(server) -w -l $D/servers.log -o \"-k $D -p \(port(server)) -h '' -c fsync=off\" start"
    }

    /// The standby follows until here.
    func copy() throws {
        try run(
            """
            rm -rf $D/\(standby)
            $U $P/pg_basebackup -h $D -p \(port(primary)) -U tester -D $D/\(standby) -R -c fast --no-sync
            \(start(standby)); $U $P/pg_ctl -D $D/\(standby) -w -m fast stop
            """)
    }

    /// The standby itself, which runs from here on.
    func standbyDatabase(_ role: String = "tester") throws -> any SQLDatabase {
        try run(start(standby))
        let place = folder.replacing("/", with: "%2F")
        return try PostgresDatabase(
            url: "postgresql:///tables?host=\(place)&port=\(port(standby))&user=\(role)", connections: 4,
            limits: .patient)
    }

    func failOver() throws {
        try stopPrimary()
        try run(start(standby))
        try promote()
    }

    func stopPrimary() throws { try run("$U $P/pg_ctl -D $D/\(primary) -w -m immediate stop") }

    /// Makes the standby, which runs, the primary.
    func promote() throws {
        try run("$U $P/pg_ctl -D $D/\(standby) -w promote")
        (primary, standby) = (standby, primary)
    }
}
