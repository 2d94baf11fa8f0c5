// A string that is compared by its bytes. Swift's strings are also equal if Unicode calls them equivalent, for example two
// spellings of an accented letter. A store tells such ids and names apart, so they must not be keys or be compared as
// strings.

/// A string that is compared by its UTF-8.
public struct ExactString: Hashable, Comparable, Sendable {
    public let text: String

    @inlinable public init(_ text: String) {
        self.text = text
    }

    @inlinable public static func == (left: ExactString, right: ExactString) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    public static func < (left: ExactString, right: ExactString) -> Bool {
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in UnsafeRawBufferPointer(left).isBefore(UnsafeRawBufferPointer(right)) }
        }
    }

    @inlinable public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Sequence<String> {
    /// The strings, compared by their UTF-8.
    @inlinable public var exact: Set<ExactString> { Set(map(ExactString.init)) }

    /// Whether one of them has the same UTF-8.
    @inlinable public func containsExactly(_ text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

extension Set<ExactString> {
    /// Whether one of them has the same UTF-8.
    @inlinable public func contains(_ text: String) -> Bool { contains(ExactString(text)) }
}

extension Dictionary where Key == ExactString {
    /// The value for a string with the same UTF-8.
    @inlinable public subscript(text: String) -> Value? {
        get { self[ExactString(text)] }
        set { self[ExactString(text)] = newValue }
    }
}

extension String {
    /// Whether two strings have the same UTF-8. `==` tells most strings apart at once, and also takes different bytes of
    /// the same characters for equal.
    @inlinable @inline(__always) public func hasSameBytes(as other: String) -> Bool {
        self == other && (hasSameBits(as: other) || hasSameUTF8(as: other))
    }

    /// Whether both are the same short string, which is its own memory, or share their memory.
    @inlinable @inline(__always) func hasSameBits(as other: String) -> Bool {
        #if _pointerBitWidth(_64)
            unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self)
        #else
            false
        #endif
    }

    @usableFromInline func hasSameUTF8(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // The memory of strings is compared much faster than their views.
        let areSame = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable {
                UnsafeRawBufferPointer(mine).hasSameBytes(as: UnsafeRawBufferPointer($0))
            }
        }
        return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
