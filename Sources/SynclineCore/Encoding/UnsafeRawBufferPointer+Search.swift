// The search for some bytes in others.

import CAtomics

extension UnsafeRawBufferPointer {
    /// Returns the first place, from one on, at which others begin.
    @inline(__always)
    func firstPlace(of other: UnsafeRawBufferPointer, from place: Int) -> Int? {
        guard let start = baseAddress, place < count else { return nil }
        return catomics_find(start + place, count - place, other.baseAddress, other.count).map { $0 - start }
    }
}
