// `scenario`: runs conformance scenarios, each on a store of its own in memory.

import SegmentLog
import SynclineTesting

enum ScenarioCommand {
    static let command = Command(
        "scenario", "run conformance scenarios",
        details: ["If this version can't run a step, its scenario fails, and the message names the step."],
        operands: [Operand("FILE", "a JSON array of scenarios", isRequired: true, repeats: true)],
        examples: [Example("syncline scenario conformance/*.json", "run all scenarios")],
        result: #"{"passed":n,"failed":n,"failures":[{"file","name","reason"}]}"#,
        exits: [Exit(.no, "at least one scenario failed")]
    ) { arguments, context in
        var passed = 0
        var failures: [JSONValue] = []
        for file in arguments.operands {
            for scenario in try read(file) {
                let reason: String
                switch await ScenarioRunner.run(scenario) {
                case .passed:
                    passed += 1
                    continue
                case .failed(let why): reason = why
                case .unsupported(let step): reason = "the step \"\(step)\" is not supported"
                }
                failures.append([
                    "file": .string(file), "name": .string(scenario.name), "reason": .string(reason),
                ])
                try context.output.line("failed: \(escaped(scenario.name)): \(escaped(reason))")
            }
        }
        try context.output.line("\(passed) passed, \(failures.count) failed")
        try context.output.value([
            "passed": .number(passed), "failed": .number(failures.count), "failures": .array(failures),
        ])
        return failures.isEmpty ? .done : .no
    }

    private static func read(_ path: String) throws -> [Scenario] {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { String(path[...$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        do {
            let file = try POSIXStorage(directory: directory).openForReading(name)
            defer { file.close() }
            let size = Int(try file.size())
            let bytes = try [UInt8](unsafeUninitializedCapacity: size) { room, count in
                count = try file.read(into: UnsafeMutableRawBufferPointer(room), at: 0)
            }
            return try Scenario.parse(bytes)
        } catch let error as StorageError {
            throw ToolError("io-error", "\(escaped(path)) can't be read: \(error.reason)")
        } catch {
            throw ToolError("invalid-item", "\(escaped(path)) contains no scenarios: \(error)")
        }
    }
}
