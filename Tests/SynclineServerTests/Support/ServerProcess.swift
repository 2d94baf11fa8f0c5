// The real server as a process of its own, which a test may stop or kill.

import Foundation
import SynclineCore
import SynclineWire

@testable import SynclineServer

final class ServerProcess {
    private let process = Process()
    private let errorFile: String
    private let folder: TemporaryFolder
    /// Zero if it did not start.
    private(set) var port: UInt16 = 0

    /// The server that was built with these tests.
    static var program: String {
        get throws {
            let places = CommandLine.arguments + [Bundle.main.executablePath ?? "", Bundle.main.bundlePath]
            for place in places where place.contains(".xctest") {
                var url = URL(fileURLWithPath: place)
                while url.path.contains(".xctest") { url.deleteLastPathComponent() }
                let path = url.appendingPathComponent("syncline-server").path
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }

    init(_ words: [String]) throws {
        folder = try TemporaryFolder()
        errorFile = folder.path + "/errors"
        try [UInt8]().write(to: errorFile)
        process.executableURL = URL(fileURLWithPath: try ServerProcess.program)
        process.arguments = words
        process.environment = [:]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorFile))
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let url = (try? Value(json: Array(line.utf8.prefix { $0 != 0x0a })))?["url"]?.string
        port = url?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }

    deinit { kill() }

    var errors: String { (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? "" }

    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    var processID: Int32 { process.processIdentifier }

    func signal(_ number: Int32) { Foundation.kill(process.processIdentifier, number) }

    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
}
