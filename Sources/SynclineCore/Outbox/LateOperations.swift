// Operations that were found before their turn, the first of which comes out first: a binary heap.

struct LateOperations {
    private var heap: [PlannedOperation] = []

    mutating func insert(_ operation: PlannedOperation) {
        heap.append(operation)
        var place = heap.count - 1
        while place > 0, heap[place].position < heap[(place - 1) / 2].position {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Removes the first operation; nil if there is none.
    mutating func takeFirst() -> PlannedOperation? {
        if heap.isEmpty { return nil }
        heap.swapAt(0, heap.count - 1)
        let first = heap.removeLast()
        var place = 0
        while true {
            let children = heap.indices.dropFirst(2 * place + 1).prefix(2)
            guard let least = children.min(by: { heap[$0].position < heap[$1].position }),
                heap[least].position < heap[place].position
            else { return first }
            heap.swapAt(place, least)
            place = least
        }
    }

    /// Removes the first operation if it is before a place.
    mutating func takeFirst(before place: Position) -> PlannedOperation? {
        guard let first = heap.first, first.position < place else { return nil }
        return takeFirst()
    }
}
