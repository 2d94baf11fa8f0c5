// Shrinks a failing history: removes operations and faults as long as it still fails. The rest is printed with the
// command that repeats it.

import SegmentLog

extension SimulationPlan {
    func failure() -> SimulationFailure? {
        do throws(SimulationFailure) {
            try Simulation(self).run()
            return nil
        } catch {
            return error
        }
    }

    /// Returns a plan that also fails, in which no single part can be removed.
    func shrunk() -> SimulationPlan {
        var smallest = self
        if let step = failure()?.step, step < operations.count {
            smallest.keep(if: Array(operations[...step]))
        }
        var size = max(1, smallest.operations.count / 2)
        while true {
            var start = 0
            var changed = false
            while start < smallest.operations.count {
                var fewer = smallest.operations
                fewer.removeSubrange(start..<min(start + size, fewer.count))
                if smallest.keep(if: fewer) { changed = true } else { start += size }
            }
            if size > 1 { size /= 2 } else if !changed { break }
        }
        for index in smallest.operations.indices {
            for ease in SimulationPlan.easings {
                var easier = smallest.operations
                ease(&easier[index])
                smallest.keep(if: easier)
            }
        }
        return smallest
    }

    private static let easings: [@Sendable (inout SimulationOperation) -> Void] = [
        { $0.aside = nil }, { $0.fault = nil }, { $0.trim = nil }, { $0.ending = nil },
        { if $0.ending != nil { $0.ending = .powerLossKeepingNothing } }, { if $0.ending != nil { $0.ending = .kill } },
    ]

    @discardableResult
    private mutating func keep(if operations: [SimulationOperation]) -> Bool {
        var candidate = self
        candidate.operations = operations
        guard candidate.failure() != nil else { return false }
        self = candidate
        return true
    }

    /// The failure, the shortest history found for it, and how to repeat it.
    var report: String {
        let small = shrunk()
        let failure = small.failure() ?? failure()
        let steps = small.operations.enumerated().map { "  \($0): \($1)" }.joined(separator: "\n")
        return """
            seed \(seed): \(failure.map(\.description) ?? "no failure")
            segments of \(configuration.segmentSize), \(configuration.zeroAhead) of zeros ahead
            \(steps)
            repeat with: SYNCLINE_SEED=\(seed) swift test --filter Simulation
            """
    }
}
