// What bounds the exchange with a server: how long is waited, how much is taken, and how far a pull goes. Every limit is
// here; that a redirect is not followed is not one of them, it is a rule.

public import SegmentLog
package import SynclineCore
import SynclineWire

/// How long a store waits for its server, and how much it takes from it.
///
/// What is cut off by a limit loses nothing: a request that was cut off counts as one whose answer was lost, and a pull
/// that was cut off keeps its pages.
public struct NetworkLimits: Hashable, Sendable {
    /// How long making a connection may take. URLSession has no such limit; there ``stall`` bounds it.
    public var connect = Duration.seconds(10)
    /// How long a connection may be silent within a request. A stream of events is bounded by this alone.
    public var stall = Duration.seconds(60)
    /// How long a whole request with its answer may take.
    public var total = Duration.seconds(100)
    /// How long an unused connection is kept open for the next request.
    public var idle = Duration.seconds(118)
    /// The longest wait that a server may ask for with `Retry-After` before another try. If it asks for more, the push or
    /// pull stops instead.
    public var longestWait = Duration.milliseconds(ServerReply.usualLongestWait)
    /// The largest body of an answer, unpacked.
    public var body = ByteCount.mebibytes(256)
    /// The most bytes of headers in an answer.
    public var headers = ByteCount.mebibytes(1)
    /// How many requests reading one list may take. It bounds a list that never ends; a pull with a query id that was cut
    /// off continues where it stopped.
    public var pages = 100_000

    /// The usual limits.
    public init() {}
}

extension NetworkLimits {
    /// What the transport is told.
    var transport: TransportLimits {
        var limits = TransportLimits()
        limits.connect = connect
        limits.stall = stall
        limits.total = total
        limits.idle = idle
        limits.responseSize = Int(clamping: body.rawValue)
        limits.headerSize = Int(clamping: headers.rawValue)
        return limits
    }

    /// In milliseconds.
    var longestWaitMilliseconds: Int64 {
        let (seconds, attoseconds) = longestWait.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// Refuses limits that let nothing through.
    func check() throws(SyncError) {
        let times = [connect, stall, total, idle]
        let isFine =
            times.allSatisfy { $0 > .zero && $0 <= NetworkLimits.longest } && longestWait >= .zero
            && longestWait <= NetworkLimits.longest && body.rawValue > 0 && headers.rawValue > 0 && pages > 0
        guard isFine else {
            throw SyncError(
                .invalidConfiguration, "a network limit is not valid",
                hint: "Times are more than nothing and at most a year; sizes and pages are 1 or more.")
        }
    }

    private static let longest = Duration.seconds(366 * 86_400)

    /// The limits as the store's setting `limits` has them: an object of seconds, bytes and a number of pages. What is not
    /// named stays as usual.
    package init(_ value: Value) throws(SyncError) {
        guard case .object(let members) = value else { throw NetworkLimits.refusal("it is not an object") }
        for member in members {
            let number: Double
            switch member.value {
            case .integer(let value): number = Double(value)
            case .double(let value) where value.isFinite: number = value
            default: throw NetworkLimits.refusal("\"\(member.name)\" is not a number")
            }
            guard number >= 0, number < 1e15 else { throw NetworkLimits.refusal("\"\(member.name)\" is out of range") }
            let time = Duration.milliseconds(Int64((min(number, 1e12) * 1000).rounded()))
            switch member.name {
            case "connect": connect = time
            case "stall": stall = time
            case "total": total = time
            case "idle": idle = time
            case "wait": longestWait = time
            case "body": body = .bytes(UInt64(number))
            case "headers": headers = .bytes(UInt64(number))
            case "pages": pages = Int(number)
            default: throw NetworkLimits.refusal("there is no limit \"\(member.name)\"")
            }
        }
        try check()
    }

    private static func refusal(_ reason: String) -> SyncError {
        SyncError(
            .invalidConfiguration, "the limits are not valid: \(reason)",
            hint:
                #"Write them as {"connect":10,"stall":60,"total":100,"idle":118,"wait":300,"body":268435456,"headers":1048576,"pages":100000}, or some of them."#
        )
    }

    /// Why a pull that asks for one more page stops; nil if it may.
    func refusal(ofRequest number: Int, table: String) -> SyncError? {
        if number <= pages { return nil }
        return SyncError(
            .serverError, "the list of \(table) did not end within \(pages) pages",
            hint: "Pages that were stored stay. Pull again to continue, or allow more pages in the limits.")
    }
}
