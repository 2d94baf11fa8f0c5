// Chooses which older checkpoints are kept, so that a past state can be folded from one close before it. The
// distance between them grows with their age, and their total size is limited.

package enum CheckpointKeeping {
    /// The minimum distance between two checkpoints, in events: about half a second of folding.
    package static let shortest: UInt64 = 1 << 15
    /// For older checkpoints, the distance is this part of their age.
    private static let part: UInt64 = 16

    /// The checkpoints that stay, each by the last event it covers.
    /// - Parameters:
    ///   - checkpoints: All that can be read.
    ///   - first: The event before the first that is left.
    ///   - newest: The last event that the newest checkpoint covers.
    ///   - room: How many bytes their files may have together.
    package static func kept(
        of checkpoints: [CheckpointFiles], after first: UInt64, newest: UInt64, room: UInt64
    ) -> Set<UInt64> {
        let all = checkpoints.map(\.through).filter { $0 > first && $0 < newest }.sorted()
        let sizes = Dictionary(checkpoints.map { ($0.through, $0.size) }, uniquingKeysWith: max)
        var distance = shortest
        while true {
            let kept = thinned(all, after: first, newest: newest, distance)
            let files = Set(checkpoints.filter { kept.contains($0.through) }.flatMap(\.files))
            if kept.isEmpty || files.reduce(0, { $0 + (sizes[$1] ?? 0) }) <= room { return kept }
            distance = distance.multipliedReportingOverflow(by: 2).partialValue
        }
    }

    /// Returns the fewest checkpoints without too large a distance between them, as far as possible.
    private static func thinned(
        _ all: [UInt64], after first: UInt64, newest: UInt64, _ distance: UInt64
    ) -> Set<UInt64> {
        var kept: Set<UInt64> = []
        var last = first
        for (checkpoint, next) in zip(all, all.dropFirst() + [newest])
        where next - last > max(distance, (newest - last) / part) {
            kept.insert(checkpoint)
            last = checkpoint
        }
        return kept
    }
}
