// First in, first out.

struct WaitingLine<Element> {
    private var elements: [Element?] = []
    /// Those before it are gone.
    private var begin = 0

    var count: Int { elements.count - begin }
    var first: Element? { begin < elements.count ? elements[begin] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() -> Element? {
        guard begin < elements.count else { return nil }
        defer { drop() }
        return elements[begin].take()
    }

    /// The place of the first is free. Once half of the places are, the rest move up.
    private mutating func drop() {
        begin += 1
        guard begin * 2 >= elements.count else { return }
        elements.removeFirst(begin)
        begin = 0
    }
}

extension WaitingLine: Sendable where Element: Sendable {}
