// A PostgreSQL for the tests: a cluster in a private folder, reached by a socket in it, removed with the process.

import ChildProcesses
import Foundation
import SynclineGround

#if canImport(Glibc)
    import Glibc
#endif

final class PrivatePostgres: Sendable {
    /// Why there is none, to explain why tests are skipped.
    static let missing = "PostgreSQL is not installed here, or can't be run"

    static let shared: PrivatePostgres? = PrivatePostgres(syncs: false)

    let folder: String
    private let databases = Atomic(0)
    /// The cluster ends when its input is closed, which the end of this process does too.
    private let child: Mutex<ChildProcess>

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
            # One that is killed is started again, unless it never ran.
            while [ ! -e "$D/ends" ]; do
                $U "$P/postgres" -D "$D/data" -k "$D" -h '' -c fsync=$F -c max_connections=200 >>"$D/log" 2>&1 || true
                [ -e "$D/runs" ] || exit
            done &
            until $U "$P/pg_isready" -q -h "$D"; do kill -0 $! || exit 1; done
            touch "$D/runs"; echo ready; cat >/dev/null
            touch "$D/ends"
            # It may be coming up just now.
            while kill -0 $! 2>/dev/null; do
                kill -INT "$(head -n 1 "$D/data/postmaster.pid")" 2>/dev/null || true
                sleep 0.1
            done
            """
        let variables = [
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "D": folder, "U": user, "P": programs, "F": syncs ? "on" : "off",
        ]
        guard let child = try? ChildProcess("/bin/sh", ["-c", script], variables: variables, input: .pipe),
            child.line() == "ready"
        else { return nil }
        self.child = Mutex(child)
    }

    deinit {
        child.withLock { child in
            child.closeInput()
            child.wait()
        }
    }

    /// SYNCLINE_POSTGRES: the folder of another version's programs.
    static var programs: String? {
        if let folder = ProcessInfo.processInfo.environment["SYNCLINE_POSTGRES"] { return folder }
        let places =
            (10...20).reversed().map { "/usr/lib/postgresql/\($0)/bin" } + ["/usr/local/bin", "/opt/homebrew/bin"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }

    func url(_ database: String) -> String {
        "postgresql:///\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))&user=tester"
    }

    /// Kills it, as `kill -9` does. It restarts by itself.
    func crash() {
        guard let text = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8),
            let process = text.split(separator: "\n").first.flatMap({ Int32($0) })
        else { return }
        kill(process, SIGKILL)
    }

    /// Makes it hang, like a machine that is out of memory: nothing is closed, and nothing answered.
    func standStill() throws { try signalAll("STOP") }

    /// Lets it continue.
    func resume() throws { try signalAll("CONT") }

    /// The postmaster and its children; those that it creates in the meantime are caught by the second round.
    private func signalAll(_ signal: String) throws {
        let script = """
            P=$(head -n 1 '\(folder)/data/postmaster.pid'); kill -\(signal) $P
            for C in $(ps -o pid= --ppid $P); do kill -\(signal) $C; done
            # If it runs as another user, the program that started it stops with it, and has to continue.
            [ \(signal) = STOP ] || kill -CONT $(ps -o ppid= -p $P)
            """
        guard try shell(script) == 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    /// The name of a new database, empty or like another one, which must have no connections.
    func newDatabase(template: String = "template0") throws -> String {
        let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
        let programs = PrivatePostgres.programs ?? ""
        guard try shell("\(programs)/createdb -h \(folder) -U tester -T \(template) -l C \(name)") == 0 else {
            throw CocoaError(.fileNoSuchFile)
        }
        return name
    }
}
