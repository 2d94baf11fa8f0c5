// The result of each of the two decoders in one form, so that they can be compared.

#if !FUZZING
    import SegmentLog
#endif

struct DecodedLog {
    enum Verdict: Comparable { case clean, torn, damaged, newer }

    var records: [SecondDecoder.Record] = []
    var lost: [SequenceRange] = []
    var verdict = Verdict.clean
    var reason = ""

    /// As seen by `LogReader` and `LogVerification`.
    init(first storage: MemoryStorage) {
        do throws(LogError) {
            var cursor = try LogReader.open(storage, showing: .written).cursor()
            while try cursor.nextFrame() {
                let time = cursor.time.rawValue
                cursor.forEachRecord { number, bytes in
                    records.append(.init(number: number.rawValue, time: time, bytes: bytes.withUnsafeBytes(Array.init)))
                }
            }
        } catch {
            raise(error.code == .storeNewer ? .newer : .damaged, "cursor: \(error)")
        }
        do throws(LogError) {
            let report = try LogVerification(storage).run()
            lost = report.holes
            for damage in report.damage {
                switch damage.remedy {
                case .upgrade: raise(.newer, "\(damage)")
                case .salvage: raise(.damaged, "\(damage)")
                case .cutTail: raise(.torn, "\(damage)")
                case .rebuild, .setAside: break
                }
            }
        } catch {
            raise(error.code == .storeNewer ? .newer : .damaged, "verification: \(error)")
        }
    }

    /// As seen by the second decoder.
    init(second storage: MemoryStorage) {
        let second = SecondDecoder(storage.files)
        records = second.records
        lost = second.lost.map { SequenceRange(first: .init(rawValue: $0.first), count: $0.count) }
        switch second.verdict {
        case .clean: break
        case .torn(let reason): raise(.torn, reason)
        case .damaged(let reason): raise(.damaged, reason)
        case .newer(let reason): raise(.newer, reason)
        }
        reason += " at \(LogPosition(segment: second.end.segment, offset: UInt64(second.end.offset)))"
    }

    /// Worse findings replace better ones.
    private mutating func raise(_ verdict: Verdict, _ reason: String) {
        guard verdict > self.verdict else { return }
        (self.verdict, self.reason) = (verdict, reason)
    }

    /// Returns what the decoders disagree about, or nil. In a damaged log, one may have read further; if it was
    /// changed in several places, one may have met damage first and the other a newer version.
    static func disagreement(about storage: MemoryStorage, isOneChange: Bool = true) -> String? {
        let (first, second) = (DecodedLog(first: storage), DecodedLog(second: storage))
        let verdicts = "first: \(first.verdict) (\(first.reason)), second: \(second.verdict) (\(second.reason))"
        let isWhole = first.verdict == .clean || first.verdict == .torn
        if first.verdict != second.verdict && (isWhole || second.verdict < .damaged || isOneChange) { return verdicts }
        if isWhole && first.lost != second.lost { return "holes \(first.lost) and \(second.lost); \(verdicts)" }
        let shared = min(first.records.count, second.records.count)
        if first.records.prefix(shared) != second.records.prefix(shared)
            || isWhole && first.records.count != second.records.count
        {
            return "\(first.records.count) and \(second.records.count) records, not the same; \(verdicts)"
        }
        return nil
    }
}

extension MemoryStorage {
    /// Every file by its name.
    var files: [String: [UInt8]] {
        Dictionary(uniqueKeysWithValues: allNames().files.map { ($0, contents(of: $0) ?? []) })
    }
}
