// The kinds of values that a column of an index has. They decide whether the order of the index is that of SQL.

import SynclineGround

/// What a column of an index has besides null.
package struct IndexContent: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let bool = IndexContent(.bool)
    package static let number = IndexContent(.number)
    package static let date = IndexContent(.date)
    package static let string = IndexContent(.string)
    package static let bytes = IndexContent(.bytes)
    /// Arrays or objects.
    package static let structure = IndexContent(.structure)
    /// Dates with a part of a millisecond.
    package static let fineDate = IndexContent(rawValue: 1 << 9)
    /// Strings that may look like numbers.
    package static let numericString = IndexContent(rawValue: 1 << 10)
    /// Strings or bytes that were cut off.
    package static let cut = IndexContent(rawValue: 1 << 11)
    /// Numbers that no double holds.
    package static let wideNumber = IndexContent(rawValue: 1 << 12)
    package static let uuid = IndexContent(.uuid)
    package static let decimal = IndexContent(.decimal)
    /// Values that do not fit the column's type.
    package static let unfit = IndexContent(.unfit)
    /// Any values.
    package static let unknown = IndexContent(rawValue: 1 << 13 - 1)

    /// Values of a kind.
    package init(_ kind: PlaceKind) {
        self.init(rawValue: 1 << kind.rawValue)
    }
}

extension StateReader {
    /// What the first column of an index may have: found by a few searches, which do not look at single values.
    package func contentOfFirstColumn(_ table: String, _ index: TableIndex) throws(SyncError) -> IndexContent {
        let prefix = index.prefix(table)
        func has(from low: [UInt8], to high: [UInt8]) throws(SyncError) -> Bool {
            try snapshot.isAnything(from: prefix + low, before: prefix + high)
        }
        var content: IndexContent = []
        for kind in PlaceKind.allCases where try has(from: [kind.tags.lowerBound], to: [kind.tags.upperBound]) {
            content.insert(IndexContent(kind))
        }
        if content.contains(.date) { content.insert(.fineDate) }
        if content.contains(.number) {
            let (low, high) = (IndexPlace(.number(-0x1p63)).bytes, IndexPlace(.number(0x1p63)).bytes)
            let isBelow = try has(from: [SortTag.number], to: low)
            let isAbove = try has(from: high, to: [SortTag.number + 1])
            if isBelow || isAbove { content.insert(.wideNumber) }
        }
        if content.contains(.decimal) { content.insert(.wideNumber) }
        if !content.isDisjoint(with: [.string, .bytes]) { content.insert(.cut) }
        let (first, last) = IndexContent.numericBeginnings
        if try has(from: [SortTag.string, first], to: [SortTag.string, last + 1]) { content.insert(.numericString) }
        return content
    }

    /// What each column of an index has, found by reading all of its entries. Nil if `isWanted`, which is called from
    /// time to time, returns false.
    /// - Parameter isNumber: Whether a string looks like a number.
    package func contents(
        _ table: String, _ index: TableIndex, isNumber: (UnsafeRawBufferPointer) -> Bool, while isWanted: () -> Bool
    ) throws(SyncError) -> [IndexContent]? {
        let prefix = index.prefix(table)
        var contents: [IndexContent] = index.columns.map { _ in [] }
        var count = 0
        var isStopped = false
        try snapshot.forEach(prefix: prefix) { key, _ throws(SyncError) in
            count += 1
            isStopped = count & 4095 == 0 && !isWanted()
            var place = ByteReader(key, at: prefix.count)
            do throws(MalformedBytes) {
                for column in contents.indices { try contents[column].add(&place, isNumber) }
            } catch {
                throw .malformed("an index")
            }
            return !isStopped
        }
        return isStopped ? nil : contents
    }
}

extension IndexContent {
    /// Strings that look like numbers begin with a space, a sign, a point or a digit.
    static let numericBeginnings = (first: UInt8(ascii: "\t"), last: UInt8(ascii: "9"))

    /// Adds the value of a place, and steps over it.
    fileprivate mutating func add(
        _ reader: inout ByteReader, _ isNumber: (UnsafeRawBufferPointer) -> Bool
    ) throws(MalformedBytes) {
        let start = reader.offset
        let isCut = try reader.skipSortValue() != nil
        let place = Bytes(rebasing: reader.bytes[start..<reader.offset])
        guard let tag = place.first, let kind = PlaceKind(tag) else { return }
        insert(IndexContent(kind))
        if isCut { insert(.cut) }
        switch kind {
        // The nanoseconds are the last four bytes.
        case .date:
            if place.suffix(4).reduce(0, { $0 << 8 | UInt32($1) }) % 1_000_000 != 0 { insert(.fineDate) }
        case .string:
            if isCut || isNumber(Bytes(rebasing: place[1..<place.count - 2])) { insert(.numericString) }
        // Its digits follow.
        case .number: if place.count > 11 { insert(.wideNumber) }
        // More than 15 digits may be more than a double has.
        case .decimal: if place.count > 2 + 2 + 8 { insert(.wideNumber) }
        case .bool, .bytes, .structure, .uuid, .unfit: break
        }
    }
}

extension StateSnapshot {
    /// Whether there is a key in a range.
    fileprivate func isAnything(from start: [UInt8], before end: [UInt8]) throws(SyncError) -> Bool {
        var isFound = false
        try forEach(from: start) { key, _ in
            isFound = end.withBytes { key.compare($0) < 0 }
            return false
        }
        return isFound
    }
}
