// Finds a string within others in one pass (Knuth, Morris and Pratt). UTF-8 shows where a letter begins, so
// searching bytes finds letters.

struct TextSearch {
    private let part: [UInt8]
    /// How much of the part still matches if the byte after its first n does not.
    private let kept: [Int]

    init(_ part: String) {
        self.part = Array(part.utf8)
        var kept = [Int](repeating: 0, count: self.part.count + 1)
        var fits = 0
        for place in self.part.indices.dropFirst() {
            while fits > 0, self.part[place] != self.part[fits] { fits = kept[fits] }
            if self.part[place] == self.part[fits] { fits += 1 }
            kept[place + 1] = fits
        }
        self.kept = kept
    }

    /// Returns the first occurrence of the part at or after a position; an empty part occurs everywhere.
    func first(in text: UnsafeBufferPointer<UInt8>, from start: Int = 0) -> Int? {
        if part.isEmpty { return start }
        var fits = 0
        for place in start..<max(start, text.count) {
            while fits > 0, text[place] != part[fits] { fits = kept[fits] }
            if text[place] == part[fits] { fits += 1 }
            if fits == part.count { return place + 1 - fits }
        }
        return nil
    }

    /// Calls `body` with each occurrence of the part, from the first to the last. Occurrences do not overlap.
    func forEach(in text: UnsafeBufferPointer<UInt8>, _ body: (Int) -> Void) {
        if part.isEmpty { return }
        var start = 0
        while let place = first(in: text, from: start) {
            body(place)
            start = place + part.count
        }
    }
}
