// The durability of an append, as a command line names it.

import SegmentLog

extension Durability {
    static let names = ["durable", "ordered", "buffered"]

    /// The level with a name that the parser has checked.
    init(name: String) {
        switch name {
        case "ordered": self = .ordered
        case "buffered": self = .buffered
        default: self = .durable
        }
    }
}
