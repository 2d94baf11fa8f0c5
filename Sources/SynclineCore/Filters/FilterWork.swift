// What it takes to evaluate a filter, and its bounds. A filter's text bounds how many functions it calls, not how large the
// texts are that they make: two letters may become a thousand, again and again.

/// Why a filter can't be evaluated to its end.
package enum FilterFailure: Error, Hashable, Sendable {
    /// The texts that it makes of one row are too large.
    case tooLarge
    /// Whoever asked wants no more.
    case stopped
}

/// The work that a filter makes, one thread's. A failure is kept: what is evaluated behind it is null and means nothing.
package final class FilterWork {
    /// How many bytes of text a filter may make of one row.
    package static let textLimit = 16 << 20

    package private(set) var failure: FilterFailure?
    private var made = 0
    private let goesOn: (() -> Bool)?

    /// - Parameter goesOn: Asked before each row and each function.
    package init(goesOn: (() -> Bool)? = nil) {
        self.goesOn = goesOn
    }

    func beginRow() {
        made = 0
        if failure == nil, goesOn?() == false { failure = .stopped }
    }

    /// Whether a function may still be called.
    var mayGoOn: Bool {
        if failure == nil, goesOn?() == false { failure = .stopped }
        return failure == nil
    }

    /// Whether so many bytes more may be made.
    func mayMake(_ bytes: Int) -> Bool {
        made += bytes
        if made > FilterWork.textLimit { failure = failure ?? .tooLarge }
        return failure == nil
    }
}
