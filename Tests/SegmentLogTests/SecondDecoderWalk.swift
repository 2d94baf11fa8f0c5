// The second decoder's walk through one file: frame after frame, holding each against the one before, joining fragments
// and transactions. It stops at the first frame that does not fit.

struct SecondWalk {
    let header: SecondSegmentHeader
    let bytes: [UInt8]

    private(set) var records: [SecondDecoder.Record] = []
    private(set) var lost: [(first: UInt64, count: UInt64)] = []
    private(set) var blocks: [[UInt8]] = []
    /// Where the next frame begins, the record it must carry and the chain value.
    private(set) var at = 512
    private(set) var next: UInt64
    private(set) var chain: UInt32
    private(set) var isSealed = false
    /// Where the open transaction began, if there is one.
    private(set) var transaction: (offset: Int, number: UInt64)?

    private var pending: [SecondDecoder.Record] = []
    private var fragments: [UInt8] = []
    /// Where the walk stood before a frame of the open transaction whose payload can't be read: damage there, if the
    /// transaction has an end.
    private var spoiled:
        (at: Int, next: UInt64, chain: UInt32, transaction: (offset: Int, number: UInt64)?, why: SecondRefusal)?
    private let isCheckpoint: Bool
    private let isLast: Bool

    init(_ header: SecondSegmentHeader, _ bytes: [UInt8], isLast: Bool) {
        self.header = header
        self.bytes = bytes
        self.isLast = isLast
        isCheckpoint = header.isCheckpoint
        next = isCheckpoint ? header.number &+ 1 : header.number
        chain = header.previousChain
    }

    /// Walks to `limit`. Returns what stopped it earlier, or nil.
    mutating func run(to limit: Int) -> SecondRefusal? {
        while at < limit {
            do throws(SecondRefusal) {
                guard let frame = SecondFrame(bytes, at: at, seed: header.seed) else { throw .broken("no frame") }
                try checkPlace(of: frame)
                guard frame.length <= limit - at else { throw .broken("beyond the end") }
                try frame.checkBody(in: bytes)
                try take(frame)
            } catch {
                return error
            }
        }
        return at == limit ? nil : .broken("does not end where its successor says")
    }

    /// Returns what any frame header after the failure says was durable.
    var attestedBehind: UInt64 {
        var highest: UInt64 = 0
        var offset = at + 8
        while offset + 40 <= bytes.count {
            if let frame = SecondFrame(bytes, at: offset, seed: header.seed) {
                let (durable, none) = (frame.first &- 1).subtractingReportingOverflow(UInt64(frame.lag))
                if !none { highest = max(highest, durable) }
            }
            offset += 8
        }
        return highest
    }

    /// Returns whether the header belongs here.
    private func checkPlace(of frame: SecondFrame) throws(SecondRefusal) {
        guard !(isSealed && isLast) else { throw .broken("after the seal") }
        guard frame.hasFittingLength, frame.raw <= 1_048_576, frame.first > 0,
            frame.first <= UInt64.max - UInt64(frame.count), frame.flags & 0x80 == 0
        else {
            throw .broken("frame fields")
        }
        guard frame.chain == chain else { throw .broken("out of the chain") }
        guard frame.first == next else { throw .broken("not the expected record") }
        try frame.checkKind()
        guard frame.continues == (transaction != nil) else { throw .broken("not the expected transaction") }
    }

    /// Steps over a whole frame. Its payload is read only if records depend on it.
    private mutating func take(_ frame: SecondFrame) throws(SecondRefusal) {
        do throws(SecondRefusal) {
            try read(frame)
        } catch {
            guard frame.goesOn || spoiled != nil else { throw error }
            spoiled = spoiled ?? (at, next, chain, transaction, error)
            (chain, next) = (frame.sum, next + UInt64(frame.count))
        }
        if !frame.goesOn, let spoiled {
            (at, next, chain, transaction) = (spoiled.at, spoiled.next, spoiled.chain, spoiled.transaction)
            throw spoiled.why
        }
        at += frame.length
        if frame.goesOn {
            transaction = transaction ?? (frame.offset, frame.first)
        } else {
            transaction = nil
            records += pending
            pending = []
        }
    }

    private mutating func read(_ frame: SecondFrame) throws(SecondRefusal) {
        var chain = frame.sum
        var next = next
        var payload = SecondBytes(try frame.payload(in: bytes))
        switch frame.kind {
        case 1:
            let time = Int64(bitPattern: try payload.integer(8))
            var body = SecondBytes(fragments + payload.rest())
            for _ in 0..<frame.count {
                pending.append(.init(number: next, time: time, bytes: try body.record()))
                next += 1
            }
            try body.checkEnd()
            fragments = []
        case 10: fragments += payload.rest()
        case 5: blocks.append(payload.rest())
        case 7: isSealed = true
        case 9:
            let mode = try payload.integer(1)
            let value = try UInt32(payload.integer(4))
            let count = try payload.varint()
            guard mode < 2, mode == 1 || value == 0, payload.rest().allSatisfy({ $0 == 0x5A }) else {
                throw .broken("hole")
            }
            if mode == 1 { chain = value }
            let (sum, overflow) = next.addingReportingOverflow(count)
            guard !overflow else { throw .broken("hole") }
            if count > 0 { lost.append((next, count)) }
            next = sum
        default: break
        }
        self.chain = chain
        self.next = next
    }
}
