// Which failures are told one by one: the first few of a kind at once, and of the others how many there were. A database that
// is gone fails every request, and must not fill a disk with it.

struct TroubleLimiter: Sendable {
    private struct Spell {
        var start: ContinuousClock.Instant
        var told = 0
        var leftOut = 0
    }

    private var spells: [String: Spell] = [:]
    /// So many of a kind are told in so long.
    static let (most, length) = (5, Duration.seconds(10))

    enum Verdict: Hashable {
        /// It is told, and before it how many were not.
        case told(leftOut: Int)
        /// The first that is not told: at the end of the spell somebody must ask how many there were.
        case firstLeftOut
        case leftOut
    }

    mutating func judge(_ kind: String, now: ContinuousClock.Instant) -> Verdict {
        var spell = spells[kind] ?? Spell(start: now)
        defer { spells[kind] = spell }
        if spell.start + Self.length <= now {
            let leftOut = spell.leftOut
            spell = Spell(start: now, told: 1)
            return .told(leftOut: leftOut)
        }
        if spell.told < Self.most {
            spell.told += 1
            return .told(leftOut: 0)
        }
        spell.leftOut += 1
        return spell.leftOut == 1 ? .firstLeftOut : .leftOut
    }

    /// How many of each kind were not told so far; from here on they count anew.
    mutating func takeLeftOut() -> [(kind: String, count: Int)] {
        let leftOut = spells.filter { $0.value.leftOut > 0 }.map { (kind: $0.key, count: $0.value.leftOut) }
        for (kind, _) in leftOut { spells[kind]?.leftOut = 0 }
        return leftOut.sorted { $0.kind < $1.kind }
    }
}
