// A link from one part of a memory table to another.

import CAtomics

/// An address, or nil, in eight bytes of memory that the caller owns: aligned, and zero at the beginning.
struct AtomicLink {
    private let word: UnsafeMutablePointer<UInt64>

    @inline(__always)
    init(at place: UnsafeMutableRawPointer) {
        word = place.assumingMemoryBound(to: UInt64.self)
    }

    /// The address. What was written to the target before it was linked is visible.
    @inline(__always)
    var target: UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(catomics_load(word, AtomicLink.acquire)))
    }

    /// The address, for the writer, which made the link itself.
    @inline(__always)
    var ownTarget: UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(catomics_load(word, AtomicLink.relaxed)))
    }

    /// Links to a target that is complete.
    @inline(__always)
    func set(_ target: UnsafeMutableRawPointer?) {
        catomics_store(word, UInt64(UInt(bitPattern: target)), AtomicLink.release)
    }

    // The compiler's numbers; see CAtomics.h.
    private static var relaxed: Int32 { 0 }
    private static var acquire: Int32 { 2 }
    private static var release: Int32 { 3 }
}
