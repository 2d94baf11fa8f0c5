// An app's changes to a row it had read.

import SynclineGround

extension [Value.Member] {
    /// Returns the members that differ in another list; missing ones are null. If two have the same name, the last
    /// one counts.
    package func changes(to other: [Value.Member]) -> [Value.Member] {
        let (before, after) = (values, other.values)
        let changed = after.filter { $0.value != before[$0.key] ?? .null }
        let names = other.map(\.name).filter { changed[$0] != nil }
        let lost = map(\.name).filter { after[$0] == nil && before[$0]?.isNull == false }
        var seen: Set<ExactString> = []
        return (names + lost).filter { seen.insert(ExactString($0)).inserted }.map {
            Value.Member($0, after[$0] ?? .null)
        }
    }

    private var values: [ExactString: Value] {
        Dictionary(map { (ExactString($0.name), $0.value) }) { $1 }
    }
}
