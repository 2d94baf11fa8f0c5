// The assembler alone: which frames return records, which nothing yet, and which an error.

import SegmentLog
import Testing

@Suite struct RecordAssemblerTests {
    private static let inside: FrameFlags = [.continuesFromPrevious, .continuesInNext]

    /// Feeds the frames; returns the records of each data frame as strings, or its fault.
    private func assemble(
        limit: Int = 100, _ frames: [(header: FrameHeader, payload: String?)]
    ) -> [Result<[String], RecordFault>] {
        var assembler = RecordAssembler(recordLimit: limit)
        return frames.compactMap { header, payload in
            let bytes = payload.map { Array($0.utf8) }
            do throws(RecordFault) {
                return try RecordAssemblerTests.take(header, bytes, &assembler).map(Result.success)
            } catch {
                return .failure(error)
            }
        }
    }

    private static func take(
        _ header: FrameHeader, _ bytes: [UInt8]?, _ assembler: inout RecordAssembler
    ) throws(RecordFault) -> [String]? {
        let buffer = ByteBuffer(capacity: 64)
        bytes?.withUnsafeBytes { buffer.append($0) }
        guard let records = try assembler.take(header, bytes == nil ? nil : buffer.bytes) else { return nil }
        var wire = RecordWire(records.wire)
        var texts: [String] = []
        while let record = wire.next() { texts.append(String(decoding: record, as: UTF8.self)) }
        return texts
    }

    private func frame(
        _ kind: FrameKind, _ number: UInt64, _ payload: String?, _ flags: FrameFlags = [], count: UInt16 = 1
    ) -> (header: FrameHeader, payload: String?) {
        var header = FrameHeader(kind: kind, firstSequence: SequenceNumber(rawValue: number))
        (header.flags, header.recordCount) = (flags, kind == .data ? count : 0)
        return (header, payload)
    }

    private func data(
        _ number: UInt64, _ wire: String, _ flags: FrameFlags = [], count: UInt16 = 1
    ) -> (header: FrameHeader, payload: String?) {
        // The payload begins with eight bytes of time.
        frame(.data, number, "8 bytes." + wire, flags, count: count)
    }

    @Test func `a data frame alone is its own records`() {
        #expect(assemble([data(1, "\u{1}a\u{2}bc", count: 2)]) == [.success(["a", "bc"])])
    }

    @Test func `fragments are the beginning of the first record`() {
        let frames = [
            frame(.fragment, 4, "\u{5}ab", .continuesInNext), frame(.fragment, 4, "c", Self.inside),
            data(4, "de\u{1}f", .continuesFromPrevious, count: 2), data(6, "\u{1}g"),
        ]
        #expect(assemble(frames) == [.success(["abcde", "f"]), .success(["g"])])
    }

    @Test func `other frames are passed over`() {
        #expect(assemble([frame(.session, 1, "x"), frame(.seal, 1, nil), data(1, "\u{1}a")]) == [.success(["a"])])
    }

    @Test func `the fault of a record is reported once, at the frame that ends it`() {
        let after = data(2, "\u{1}a")
        func faults(_ frames: (header: FrameHeader, payload: String?)...) -> [Result<[String], RecordFault>] {
            assemble(limit: 4, frames + [after])
        }
        let rest = data(1, "\u{1}a", .continuesFromPrevious)
        let begun = frame(.fragment, 1, "\u{3}ab", .continuesInNext)
        #expect(faults(frame(.fragment, 1, nil, .continuesInNext), rest) == [.failure(.undecodable), .success(["a"])])
        #expect(faults(frame(.data, 1, nil)) == [.failure(.undecodable), .success(["a"])])
        #expect(faults(frame(.data, 1, "short")) == [.failure(.tooShort), .success(["a"])])
        #expect(faults(data(1, "\u{2}a")) == [.failure(.misfit), .success(["a"])])
        #expect(faults(begun, rest) == [.failure(.misfit), .success(["a"])])
        #expect(
            faults(begun, frame(.fragment, 1, "cdef", Self.inside), rest) == [.failure(.tooLarge), .success(["a"])])
        #expect(
            faults(frame(.fragment, 1, "\u{5}abcd", .continuesInNext), data(1, "e", .continuesFromPrevious))
                == [.failure(.tooLarge), .success(["a"])])
        // Its end is missing, or the rest is another record's.
        #expect(faults(begun, data(1, "\u{1}a")) == [.failure(.unfinished), .success(["a"])])
        #expect(faults(begun, data(3, "c", .continuesFromPrevious)) == [.failure(.unfinished), .success(["a"])])
    }

    @Test func `the largest record is allowed, and what was begun can be forgotten`() {
        let largest = [
            frame(.fragment, 1, "\u{4}abc", .continuesInNext), data(1, "d", .continuesFromPrevious),
        ]
        #expect(assemble(limit: 4, largest) == [.success(["abcd"])])
        var assembler = RecordAssembler()
        let begun = frame(.fragment, 1, nil, .continuesInNext)
        #expect((try? RecordAssemblerTests.take(begun.header, nil, &assembler)) == .some(nil))
        assembler.reset()
        let next = data(1, "\u{1}a")
        #expect((try? RecordAssemblerTests.take(next.header, next.payload.map { Array($0.utf8) }, &assembler)) == ["a"])
    }
}
