// Which older checkpoints are kept: as a store makes them one after another, no two neighbours are too far apart.

import LogTesting
import Testing

@testable import SynclineCore

@Suite struct CheckpointKeepingTests {
    /// Makes a checkpoint after each of some steps, and removes those that are not kept.
    private func history(
        _ steps: [UInt64], size: UInt64 = 1, room: UInt64 = .max, _ body: ([UInt64], UInt64) throws -> Void
    ) rethrows {
        var files: [CheckpointFiles] = []
        var newest: UInt64 = 0
        for step in steps {
            newest += step
            let kept = CheckpointKeeping.kept(of: files, after: 0, newest: newest, room: room)
            files.removeAll { !kept.contains($0.through) }
            try body(files.map(\.through), newest)
            files.append(CheckpointFiles(through: newest, files: [newest], size: size))
        }
    }

    @Test(arguments: 0..<20)
    func `distances grow with the way back, and no further`(seed: UInt64) {
        var chance = Chance(seed: seed)
        let steps = (0..<200).map { _ in UInt64(1 + chance.below(30_000)) }
        let longest = steps.max() ?? 0
        history(steps) { kept, newest in
            for (before, next) in zip([0] + kept, kept + [newest]) {
                let allowed = max(CheckpointKeeping.shortest, (newest - before) / 16)
                #expect(next - before <= max(allowed, longest), "\(before) \(next) of \(newest)")
            }
            #expect(kept.count < 120)
        }
    }

    @Test func `a small store keeps none, and the files stay within their limit`() {
        history(Array(repeating: 100, count: 300)) { kept, _ in #expect(kept.isEmpty) }
        history(Array(repeating: 20_000, count: 100), size: 10, room: 65) { kept, newest in
            #expect(kept.count <= 6)
            #expect(newest < 1_000_000 || kept.count >= 3, "\(kept) of \(newest)")
        }
        history(Array(repeating: 50_000, count: 20), size: 10, room: 5) { kept, _ in #expect(kept.isEmpty) }
    }

    @Test func `a file that several readers need counts once`() {
        let files = (1...4).map {
            CheckpointFiles(through: UInt64($0) * 50_000, files: [UInt64($0) * 50_000, 50_000], size: 10)
        }
        #expect(CheckpointKeeping.kept(of: files, after: 0, newest: 250_000, room: 40).count == 4)
        #expect(CheckpointKeeping.kept(of: files, after: 100_000, newest: 250_000, room: 40) == [150_000, 200_000])
    }
}
