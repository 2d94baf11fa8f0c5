// The newest records' bytes, from which the next segment's dictionary is made. Raw recent records compress small
// frames as well as a trained dictionary does, so there is no training.

struct RecentRecords {
    private var bytes: [UInt8] = []

    /// Fewer bytes are not worth a frame.
    private static let least = 1024

    mutating func append(_ records: UnsafeRawBufferPointer) {
        let limit = Format.dictionaryLimit
        if records.count >= limit {
            bytes.removeAll(keepingCapacity: true)
            bytes.append(contentsOf: records.suffix(limit))
            return
        }
        bytes.append(contentsOf: records)
        if bytes.count > 4 * limit { bytes.removeFirst(bytes.count - limit) }
    }

    var dictionary: [UInt8] {
        bytes.count < RecentRecords.least ? [] : Array(bytes.suffix(Format.dictionaryLimit))
    }
}
