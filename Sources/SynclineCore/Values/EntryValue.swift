// A value as the key of an entry or a column of a block has it: read in place, without a copy of its bytes.

/// A value of a kind, whose bytes may be elsewhere.
package enum EntryValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case date(Timestamp.Instant)
    case uuid(String)
    case text(UnsafeRawBufferPointer)
    case bytes(UnsafeRawBufferPointer)
}
