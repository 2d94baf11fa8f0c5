// What all workloads share: the directory, the device, and whose turn it is.

import Foundation

struct Runner {
    let options: Options
    /// A directory of this run alone.
    let directory: String
    let device: BlockDevice?
    private let start = monotonicNanoseconds()

    init(_ options: Options = Options(), in directory: String, on device: BlockDevice?) {
        self.options = options
        self.directory = directory
        self.device = device
    }

    func tables(of workload: Workload) throws -> [Table] {
        switch workload {
        case .recover: try [recover()] + [recoverLastSegment()].compactMap(\.self)
        case .scan: try [scan()]
        case .follow: try [follow()]
        default: try AppendCase.cases(of: workload, quick: options.quick).map(run)
        }
    }

    /// Every round begins with another row, so that none is always measured in another's wake.
    func turns(of count: Int, _ round: Int) -> [Int] { (0..<count).map { ($0 + round - 1) % count } }

    /// Runs the body with a directory that is removed afterwards in any case.
    func inFreshDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
        let fresh = directory + "/data"
        removeTree(fresh)
        try makeDirectories(fresh)
        defer { removeTree(fresh) }
        return try body(fresh)
    }

    /// Prints to standard error what runs now.
    func progress(_ text: String) {
        let seconds = formatted(Double(monotonicNanoseconds() - start) / 1e9)
        FileHandle.standardError.write(Data("… \(seconds) s: \(text)\n".utf8))
    }
}
