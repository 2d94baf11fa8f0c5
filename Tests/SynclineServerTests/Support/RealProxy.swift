// A real nginx, HAProxy or Caddy that runs the configuration of the page about deployment, at a free port of this
// machine.

import ChildProcesses
import Foundation

@testable import SynclineServer

enum ProxyProgram: String, CaseIterable {
    case nginx, haproxy, caddy

    /// The programs that are installed here.
    static let available: [ProxyProgram] = allCases.filter { program in
        if program.path != nil { return true }
        print("Tests of the page's configuration for \(program.rawValue) are skipped: it is not installed.")
        return false
    }

    var path: String? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(rawValue)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The block of the page that follows the program's name.
    fileprivate var block: String {
        get throws {
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<4 { root.deleteLastPathComponent() }
            let page = root.appendingPathComponent("Sources/Syncline/Syncline.docc/Deploying-the-server.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            let name = [.nginx: "nginx", .haproxy: "HAProxy", .caddy: "Caddy"][self] ?? rawValue
            guard let start = text.firstRange(of: "\n\(name):\n\n```text\n")?.upperBound,
                let end = text[start...].firstRange(of: "\n```")?.lowerBound
            else { throw CocoaError(.fileReadCorruptFile) }
            return String(text[start..<end])
        }
    }

    /// The page's configuration with the paths and ports of a test, and what a machine's own files say around it.
    fileprivate func configuration(_ port: Int, _ server: UInt16, _ folder: String) throws -> String {
        let block = try block.replacing("127.0.0.1:8080", with: "127.0.0.1:\(server)")
        switch self {
        case .nginx:
            let own = block.replacing("listen 443", with: "listen 127.0.0.1:\(port)")
                .replacing("/etc/ssl/", with: folder + "/")
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
            return """
                \(geteuid() == 0 ? "user root;" : "") daemon off; worker_processes 1; pid \(folder)/pid;
                events {}
                http { access_log off; \(places)
                \(own)
                }

                """
        case .haproxy:
            return block.replacing("bind :443", with: "bind 127.0.0.1:\(port)").replacing(
                "/etc/ssl/", with: folder + "/")
                + "\n"
        case .caddy:
            let own = block.replacing(
                "tables.example.org {", with: "https://tables.example.org:\(port) {\n    tls internal")
            return "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n\(own)\n"
        }
    }

    fileprivate func command(_ path: String, _ file: String, _ folder: String) -> String {
        switch self {
        case .nginx: "'\(path)' -p '\(folder)' -e '\(folder)/log' -c '\(file)'"
        case .haproxy: "'\(path)' -db -f '\(file)'"
        case .caddy: "HOME='\(folder)' XDG_DATA_HOME='\(folder)' '\(path)' run --adapter caddyfile --config '\(file)'"
        }
    }
}

final class RealProxy {
    private let folder: TemporaryFolder
    private let port: Int
    /// The proxy ends when this one's input is closed, which the end of this process does too.
    private let child: ChildProcess

    /// Runs it before a server at a port.
    init(_ program: ProxyProgram, server: UInt16) throws {
        folder = try TemporaryFolder()
        let socket = try ListenSocket("127.0.0.1:0")
        port = Int(socket.authority.split(separator: ":").last ?? "") ?? 0
        socket.close()
        let file = folder.path + "/configuration"
        try Array(program.configuration(port, server, folder.path).utf8).write(to: file)
        let script = """
            set -e; cd '\(folder.path)'
            openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=tables.example.org -keyout tables.key \
                -out tables.pem 2>/dev/null
            cat tables.pem tables.key >tables-with-key.pem
            \(program.command(program.path ?? "", file, folder.path)) >>log 2>&1 & P=$!
            trap 'kill $P 2>/dev/null; wait $P 2>/dev/null' EXIT
            until curl -sk --resolve tables.example.org:\(port):127.0.0.1 -o /dev/null https://tables.example.org:\(port)/
            do kill -0 $P || { cat log; exit 1; }; done
            echo ready; cat >/dev/null
            """
        child = try ChildProcess(
            "/bin/sh", ["-c", script], variables: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], input: .pipe)
        guard let line = child.line(), line == "ready" else {
            throw CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: child.rest()])
        }
    }

    deinit {
        child.closeInput()
        child.wait()
    }

    /// The head and the body of an answer to a client's request with the given headers.
    func ask(_ target: String, _ headers: [String] = []) throws -> String {
        let words = headers.flatMap { ["-H", $0] }
        return try ChildProcess.run(
            "/usr/bin/curl",
            ["-sik", "--http1.1", "--resolve", "tables.example.org:\(port):127.0.0.1"] + words
                + ["https://tables.example.org:\(port)\(target)"]
        ).output
    }

    var authority: String { "tables.example.org:\(port)" }
}
