// A report that arrives in parts, read line by line as they come.

struct ReportArrival {
    private let name: String
    private let folder: ScratchFolder
    private var reading: ReportReading?
    /// The beginning of a line whose end has not arrived.
    private var rest: [UInt8] = []
    private var searched = 0
    private(set) var received: UInt64 = 0

    /// The first line of a report is short; a later one has at most a record.
    private static let headLimit = 1 << 20
    private static let lineLimit = 257 << 20

    init(name: String) throws {
        self.name = name
        folder = try ScratchFolder()
    }

    /// Takes further bytes. After an error nothing is left.
    mutating func add(_ bytes: [UInt8]) throws {
        received += UInt64(bytes.count)
        rest += bytes
        do {
            var start = 0
            while let end = rest[max(start, searched)...].firstIndex(of: 0x0a) {
                try add(line: Array(rest[start..<end]))
                start = end + 1
                searched = start
            }
            rest.removeFirst(start)
            searched = rest.count
            if rest.count > (reading == nil ? ReportArrival.headLimit : ReportArrival.lineLimit) {
                try add(line: rest)
                (rest, searched) = ([], 0)
            }
        } catch {
            giveUp()
            throw error
        }
    }

    private mutating func add(line: [UInt8]) throws {
        if reading == nil {
            reading = try ReportReading(line, name: name, store: folder.path + "/store")
        } else {
            try reading?.add(line)
        }
    }

    /// The report, and the folder that it is in.
    mutating func finish() throws -> (Report, ScratchFolder) {
        do {
            if !rest.isEmpty || reading == nil { try add(line: rest) }
            guard let report = try reading?.finish() else { throw ToolError.usage("there is no report") }
            return (report, folder)
        } catch {
            giveUp()
            throw error
        }
    }

    func giveUp() { reading?.giveUp() }
}
