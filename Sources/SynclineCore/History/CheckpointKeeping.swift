// Which older checkpoints stay, so that a state of the past is folded from one that lies not far before it. The further back,
// the greater the distance between them; and all of them together are no larger than what they are given room for.

package enum CheckpointKeeping {
    /// How many events two of them are apart, at the least: so many are folded in half a second.
    package static let shortest: UInt64 = 1 << 15
    /// Further back, the distance is this part of the way.
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

    /// The fewest of some checkpoints between which no distance is too great, as far as they allow.
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
