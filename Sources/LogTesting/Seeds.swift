// The seeds of random tests. In the environment, SYNCLINE_SEED=n repeats one, SYNCLINE_SEEDS=n runs n of them, from
// SYNCLINE_FIRST_SEED on, and SYNCLINE_LONG=1 a night's worth.

import CLibrary

package enum Seeds {
    /// - Parameters:
    ///   - usual: How many a test runs if the environment says nothing.
    ///   - optimized: The same in an optimized build.
    package static func some(_ usual: UInt64, optimized: UInt64? = nil, night: UInt64? = nil) -> ClosedRange<UInt64> {
        if let one = number("SYNCLINE_SEED") { return one...one }
        var count = number("SYNCLINE_SEEDS")
        if let night, number("SYNCLINE_LONG") == 1 { count = night }
        #if DEBUG
            let own = usual
        #else
            let own = optimized ?? usual
        #endif
        let first = number("SYNCLINE_FIRST_SEED") ?? 1
        return first...first + max(1, count ?? own) - 1
    }

    /// The seed of a test that runs once.
    package static func one(_ usual: UInt64 = 1) -> UInt64 { number("SYNCLINE_SEED") ?? usual }

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
