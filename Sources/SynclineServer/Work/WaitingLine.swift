// A first-in, first-out queue.

struct WaitingLine<Element> {
    private var elements: [Element?] = []
    /// The index of the first element; earlier ones were removed.
    private var begin = 0

    var count: Int { elements.count - begin }
    var first: Element? { begin < elements.count ? elements[begin] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() -> Element? {
        guard begin < elements.count else { return nil }
        defer { drop() }
        return elements[begin].take()
    }

    /// Frees the place of the first element. Once half of the places are free, the rest move up.
    private mutating func drop() {
        begin += 1
        guard begin * 2 >= elements.count else { return }
        elements.removeFirst(begin)
        begin = 0
    }
}

extension WaitingLine: Sendable where Element: Sendable {}
