// The progress of long commands: what a person at a terminal sees of it, in which commands, and that it is gone at the end.

import Foundation
import SegmentLog
import Syncline
import SynclineGround
import Testing

@testable import SynclineTool

@Suite struct ProgressTests {
    /// A clock that moves by a step each time it is read.
    private final class Watch: Sendable {
        private let time = Mutex(ContinuousClock.now)
        private let step: Duration

        init(step: Duration) { self.step = step }

        func now() -> ContinuousClock.Instant {
            time.withLock { time in
                time = time.advanced(by: step)
                return time
            }
        }
    }

    private static let eraser = "\r\u{1b}[K"

    /// The lines that were shown in one place, one after the other.
    private func shown(
        width: Int = 80, step: Duration, in measure: TaskProgress.Measure = .bytes, _ body: (TaskProgress) -> Void
    ) -> [String] {
        let sink = MemorySink()
        let watch = Watch(step: step)
        let style = TextStyle(isForPeople: true, hasColour: false, width: width)
        let narration = Narration(sink, style: style, isTerminal: true, now: { watch.now() })
        let progress = narration.progress("verifying", total: 0, in: measure)
        body(progress)
        progress.finish()
        return sink.text.components(separatedBy: ProgressTests.eraser)
    }

    @Test func `progress says how much is done, how fast, and how long it will take`() {
        let lines = shown(step: .seconds(1)) { progress in
            for mebibytes in 1...4 { progress.move(to: UInt64(mebibytes) << 20, of: 9 << 20) }
        }
        #expect(
            lines == [
                "", "verifying  0 B of 8.0 MiB, 0 %",
                "verifying  1.0 MiB of 8.0 MiB, 12 %  1.0 MiB/s  7 s left",
                "verifying  2.0 MiB of 8.0 MiB, 25 %  1.0 MiB/s  6 s left",
                "verifying  3.0 MiB of 8.0 MiB, 37 %  1.0 MiB/s  5 s left", "",
            ])
    }

    @Test func `progress is shown after half a second, and at most ten times a second`() {
        let quick = shown(step: .milliseconds(100)) { progress in
            for place in 1...4 { progress.move(to: UInt64(place), of: 100) }
        }
        #expect(quick == [""], "work that ends within half a second shows nothing")
        let often = shown(step: .milliseconds(10)) { progress in
            for place in 1...100 { progress.move(to: UInt64(place), of: 1000) }
        }
        #expect(often.count == 2 + 6)
    }

    @Test func `progress without a total says only what was done`() {
        let lines = shown(step: .seconds(1)) { progress in
            for place in 1...2 { progress.move(to: UInt64(place) << 10, of: 0) }
        }
        #expect(lines == ["", "verifying  1.0 KiB", "verifying  2.0 KiB  2.0 KiB/s", ""])
    }

    @Test func `rows are counted as rows`() {
        let lines = shown(step: .seconds(1), in: .rows) { progress in
            for place in [2000, 4000] { progress.move(to: UInt64(place), of: 10_000) }
        }
        #expect(
            lines == [
                "", "verifying  0 of 8,000 rows, 0 %",
                "verifying  2,000 of 8,000 rows, 25 %  2,000 rows/s  3 s left", "",
            ])
    }

    @Test func `progress of work that begins again is measured from there`() {
        let lines = shown(step: .seconds(1)) { progress in
            for place in [0, 50, 100, 0, 50] { progress.move(to: UInt64(place), of: 100) }
        }
        #expect(lines[3].hasPrefix("verifying  100 B of 100 B, 100 %"))
        #expect(lines[4] == "verifying  0 B of 100 B, 0 %")
        #expect(lines[5] == "verifying  50 B of 100 B, 50 %  50 B/s  1 s left")
    }

    @Test func `progress never takes more than one line of the terminal`() {
        let lines = shown(width: 30, step: .seconds(1)) { progress in
            for place in 1...3 { progress.move(to: UInt64(place) << 30, of: 1 << 40) }
        }
        #expect(lines.count == 5 && lines.allSatisfy { $0.count < 30 })
    }

    // MARK: Commands

    /// The labels that a command shows at a slow terminal, and whether its progress is gone at the end.
    private func labels(_ words: [String], on log: TestLog, input: String = "") async -> (Set<String>, exit: ExitCode) {
        let errors = MemorySink()
        let watch = Watch(step: .seconds(1))
        var host = Host(
            environment: Environment(
                variables: ["SYNCLINE_STORE": log.path, "NO_COLOR": "1"], directory: "/", errorsAreTerminal: true),
            output: MemorySink(), errors: errors, input: MemoryLines(input), clock: log.clock)
        host.now = { watch.now() }
        let exit = await Tool(host).run(words)
        let lines = errors.text.components(separatedBy: ProgressTests.eraser)
        if lines.count > 1 { #expect(lines.last?.contains("%") == false, "\(words): \(errors.text)") }
        let labels = lines.filter { $0.contains("  ") }.map { $0.components(separatedBy: "  ")[0] }
        return (Set(labels), exit)
    }

    private func expect(_ words: String..., on log: TestLog, input: String = "", shows wanted: Set<String>) async {
        let (found, exit) = await labels(words, on: log, input: input)
        #expect(wanted.isSubset(of: found), "\(words) shows \(found.sorted())")
        #expect(exit == .done || exit == .no, "\(words)")
    }

    @Test func `every command that reads a whole log shows how far it is`() async throws {
        let log = try TestLog.story()
        let folder = log.folder.path
        for words in [
            ["inspect"], ["inspect", "segments"], ["inspect", "events"], ["inspect", "operations"], ["stats"],
        ] {
            let found = await labels(words, on: log)
            #expect(found.0.contains("reading") && found.exit == .done, "\(words) shows \(found.0)")
        }
        await expect("verify", on: log, shows: ["verifying"])
        await expect("replay", on: log, shows: ["folding"])
        await expect("replay", "--bisect", "pending gt 90", on: log, shows: ["searching"])
        await expect("replay", "--policy", "merge", on: log, shows: ["folding"])
        await expect("diff", "@4", on: log, shows: ["reading"])
        await expect("blame", "todoitem/a", on: log, shows: ["reading"])
        await expect("why", "todoitem/a", on: log, shows: ["reading"])
        await expect("log", "-n", "3", on: log, shows: ["searching"])
        await expect("repair", on: log, shows: ["verifying"])
        await expect("repair", "--salvage", folder + "/saved", on: log, shows: ["verifying", "rescuing"])
        await expect("report", "-o", folder + "/bug.jsonl", on: log, shows: ["verifying", "writing"])
        await expect("replay", folder + "/bug.jsonl", on: log, shows: ["unpacking"])
        await expect("export", "--format", "events", on: log, shows: ["exporting"])
        for format in ["jsonl", "csv", "sql"] {
            await expect(
                "export", "--format", format, "-o", folder + "/rows." + format, on: log,
                shows: ["reading todoitem", "writing todoitem"])
        }
        await expect("branch", "create", "draft", on: log, shows: ["reading"])
        await expect("compact", on: log, shows: ["opening", "compacting"])
        let events = await Call.tool("export", "--format", "events", on: log).output
        await expect("import", "-s", folder + "/copy", on: log, input: events, shows: ["reading"])
    }

    @Test func `a list on the same terminal is not disturbed by progress`() async throws {
        let log = try TestLog.story()
        let errors = MemorySink()
        let watch = Watch(step: .seconds(1))
        var host = Host(
            environment: Environment(
                variables: ["SYNCLINE_STORE": log.path], directory: "/", outputIsTerminal: true,
                errorsAreTerminal: true), output: MemorySink(), errors: errors, input: MemoryLines(), clock: log.clock)
        host.now = { watch.now() }
        #expect(await Tool(host).run(["export", "--format", "events"]) == .done)
        #expect(await Tool(host).run(["export"]) == .done)
        #expect(!errors.text.contains("exporting") && !errors.text.contains("todoitem"))
    }

    @Test func `without a terminal no progress is shown`() async throws {
        let log = try TestLog.story()
        let errors = MemorySink()
        let watch = Watch(step: .seconds(1))
        var host = Host(
            environment: Environment(variables: ["SYNCLINE_STORE": log.path], directory: "/"), output: MemorySink(),
            errors: errors, input: MemoryLines(), clock: log.clock)
        host.now = { watch.now() }
        #expect(await Tool(host).run(["verify"]) == .done)
        #expect(errors.text == "")
    }
}
