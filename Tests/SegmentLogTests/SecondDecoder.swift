// A second decoder of the log, written from docs/FORMAT.md alone and sharing nothing with the first: neither
// checksums nor decompression nor the rule for where a log ends. It takes the files of a log as bytes and returns
// which records it has, where it ends, and whether that end is clean, torn, damaged, or by a newer version. It is
// deliberately plain and slow. Frames and headers are read in SecondDecoderFrames.swift.

struct SecondDecoder {
    struct Record: Equatable {
        var number: UInt64
        var time: Int64
        var bytes: [UInt8]
    }

    enum Verdict: Equatable {
        case clean, torn(String), damaged(String), newer(String)
    }

    private(set) var records: [Record] = []
    /// Records that are lost according to holes: the first, and their number.
    private(set) var lost: [(first: UInt64, count: UInt64)] = []
    /// Where the log ends, or where reading had to stop.
    private(set) var end: (segment: UInt64, offset: Int) = (0, 0)
    /// The number of the record expected there.
    private(set) var next: UInt64 = 1
    private(set) var verdict = Verdict.clean

    private let head: SecondHead?

    init(_ files: [String: [UInt8]]) {
        head = files["HEAD"].flatMap(SecondHead.init)
        do {
            try readSegments(files)
        } catch {
            verdict =
                switch error {
                case .broken(let reason): .damaged(reason)
                case .newer(let reason): .newer(reason)
                }
        }
    }

    // MARK: - Segments

    private mutating func readSegments(_ files: [String: [UInt8]]) throws(SecondRefusal) {
        let names = SecondDecoder.segments(files)
        guard let oldest = names.first, let newest = names.last else { throw .broken("no segments") }
        end = (oldest.ordinal, 0)
        next = oldest.first
        for name in names {
            // A newer version takes precedence over damage.
            do throws(SecondRefusal) {
                _ = try SecondSegmentHeader(files[name.text] ?? [], magic: SecondSegmentHeader.segmentMagic)
            } catch {
                if case .newer = error { throw error }
            }
        }
        var walk: SecondWalk?
        for (index, name) in names.enumerated() {
            end = (name.ordinal, 0)
            let bytes = files[name.text] ?? []
            let header = try SecondSegmentHeader(bytes, magic: SecondSegmentHeader.segmentMagic)
            try header.check(name)
            if let head, head.identity != header.identity { throw .broken("HEAD is another log's") }
            if let before = walk {
                guard name.ordinal == names[index - 1].ordinal + 1 else { throw .broken("a segment is missing") }
                guard header.identity == before.header.identity else { throw .broken("another log's segment") }
                guard header.previousLength == UInt64(before.at), header.previousChain == before.chain else {
                    throw .broken("does not follow its predecessor")
                }
                guard header.number == before.next else { throw .broken("first record is not the next") }
            }
            let isLast = index == names.count - 1
            var this = SecondWalk(header, bytes, isLast: isLast)
            var limit = bytes.count
            if !isLast, let length = SecondSegmentHeader.previousLength(in: files[names[index + 1].text] ?? []) {
                // The successor says where this one ends.
                limit = Int(min(length, UInt64(limit)))
            }
            let failure = this.run(to: limit)
            records += this.records
            lost += this.lost
            end = (name.ordinal, this.transaction?.offset ?? this.at)
            next = this.transaction?.number ?? this.next
            if isLast {
                verdict = try judge(this, failure)
                if let head, newest.ordinal < head.newest { throw .broken("the newest segments are missing") }
                if let head, oldest.first > head.floor { throw .broken("the oldest segments are missing") }
            } else if let failure {
                throw failure
            } else if this.transaction != nil {
                throw .broken("a transaction crosses the end of a segment")
            }
            walk = this
        }
    }

    /// The segments in order, without copies of them under other names.
    private static func segments(_ files: [String: [UInt8]]) -> [SecondName] {
        let names = files.keys.compactMap(SecondName.init).sorted { ($0.ordinal, $0.first) < ($1.ordinal, $1.first) }
        let headers = names.map { name in
            try? SecondSegmentHeader(files[name.text] ?? [], magic: SecondSegmentHeader.segmentMagic)
        }
        let known = zip(names, headers).filter { name, header in header.map { (try? $0.check(name)) != nil } ?? false }
        return zip(names, headers).filter { name, header in
            guard let header, (try? header.check(name)) == nil else { return true }
            return !known.contains { name, other in
                other?.identity == header.identity && (name.ordinal, name.first) == (header.ordinal, header.number)
            }
        }.map(\.0)
    }

    // MARK: - The end

    /// "Where the log ends", rules 1 to 7: `walk.at` is F, `next` is S.
    private func judge(_ walk: SecondWalk, _ failure: SecondRefusal?) throws(SecondRefusal) -> Verdict {
        let (bytes, at) = (walk.bytes, walk.at)
        if let failure, case .newer = failure { throw failure }
        let attested = max(head?.durable ?? 0, walk.header.durable, walk.attestedBehind)
        if next <= attested { throw .broken("acknowledged records are damaged") }
        let onlyZeros = bytes[at...].allSatisfy { $0 == 0 }
        if onlyZeros, walk.transaction == nil { return .clean }
        if walk.isSealed { throw .broken("bytes after the seal") }
        if head?.isClosed == true { throw .broken("closed cleanly, yet the end is not") }
        if onlyZeros { return .torn("a transaction without its end") }

        let frame = SecondFrame(bytes, at: at, seed: walk.header.seed).flatMap { $0.hasFittingLength ? $0 : nil }
        if at + (frame?.length ?? 48) > bytes.count { return .torn("the file ends inside a frame") }
        let stretch = frame?.length ?? 40
        var start = at
        while start < at + stretch {
            let stop = min(at + stretch, (start / 512 + 1) * 512)
            if bytes[start..<stop].allSatisfy({ $0 == 0 }) { return .torn("a sector of a frame is missing") }
            start = stop
        }
        let trailer = frame.map { at + $0.length - 5..<at + $0.length } ?? at + 40..<bytes.count
        if bytes[trailer].allSatisfy({ $0 == 0 }) { return .torn("the trailer is missing") }
        throw failure ?? .broken("does not end")
    }

    // MARK: - Checkpoints

    /// The blocks of a checkpoint, and the last record it covers.
    static func checkpoint(_ bytes: [UInt8]) throws(SecondRefusal) -> (covers: UInt64, blocks: [[UInt8]]) {
        let header = try SecondSegmentHeader(bytes, magic: SecondSegmentHeader.checkpointMagic)
        var walk = SecondWalk(header, bytes, isLast: true)
        if let failure = walk.run(to: bytes.count) { throw failure }
        guard walk.isSealed else { throw .broken("not sealed") }
        return (header.number, walk.blocks)
    }
}
