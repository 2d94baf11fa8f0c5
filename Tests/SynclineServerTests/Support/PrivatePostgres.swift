// A PostgreSQL of the tests' own: a cluster in a private folder, reached by a socket in it, gone with the process.

import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

final class PrivatePostgres: Sendable {
    /// Why there is none, for those who wonder that tests are skipped.
    static let missing = "PostgreSQL is not installed here, or can't be run"

    static let shared: PrivatePostgres? = PrivatePostgres(syncs: false)

    let folder: String
    private let databases = Atomic(0)
    // The cluster ends when this is closed, which the end of the process does too.
    private let lifeline: Int32

    /// - Parameter syncs: Whether commits reach the disk, for tests that kill it.
    init?(syncs: Bool) {
        guard let programs = PrivatePostgres.programs else { return nil }
        folder = FileManager.default.temporaryDirectory.path + "/pg-\(UUID().uuidString.prefix(8))"
        // PostgreSQL does not run as root: another user does it then.
        let user = geteuid() == 0 ? "runuser -u postgres --" : ""
        let script = """
            set -e; umask 077; mkdir -p "$D"; [ -z "$U" ] || chown postgres "$D"; cd /
            trap 'rm -rf "$D"' EXIT
            $U "$P/initdb" -D "$D/data" -A trust -U tester -E UTF8 --no-sync >"$D/log" 2>&1
            # One that is killed is started again.
            while [ ! -e "$D/ends" ]; do
                $U "$P/postgres" -D "$D/data" -k "$D" -h '' -c fsync=$F -c max_connections=200 >>"$D/log" 2>&1 || true
            done &
            until $U "$P/pg_isready" -q -h "$D"; do kill -0 $! || exit 1; done
            echo ready; cat >/dev/null
            touch "$D/ends"; kill -INT "$(head -n 1 "$D/data/postmaster.pid")"; wait $! || true
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.environment = [
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "D": folder, "U": user, "P": programs, "F": syncs ? "on" : "off",
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        lifeline = dup(input.fileHandleForWriting.fileDescriptor)
        // No child of the tests may hold it open.
        _ = fcntl(lifeline, F_SETFD, FD_CLOEXEC)
        guard (try? process.run()) != nil else { return nil }
        try? input.fileHandleForWriting.close()
        guard String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "ready\n" else {
            return nil
        }
    }

    deinit { close(lifeline) }

    private static var programs: String? {
        let places =
            (10...20).reversed().map { "/usr/lib/postgresql/\($0)/bin" } + ["/usr/local/bin", "/opt/homebrew/bin"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }

    func url(_ database: String) -> String {
        "postgresql:///\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))&user=tester"
    }

    /// Kills it, as `kill -9` does. It comes up again by itself.
    func crash() {
        guard let text = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8),
            let process = text.split(separator: "\n").first.flatMap({ Int32($0) })
        else { return }
        kill(process, SIGKILL)
    }

    /// The name of a new, empty database.
    func newDatabase() throws -> String {
        let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let programs = PrivatePostgres.programs ?? ""
        process.arguments = ["-c", "exec \(programs)/createdb -h \(folder) -U tester -T template0 -l C \(name)"]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileNoSuchFile) }
        return name
    }
}
