// Walks the frames of one file forward, checks each against the previous one, and finds the next frame after damage.

import SynclineGround

package struct FrameWalker {
    package enum Step {
        /// An intact frame, at the offset where it starts.
        case frame(FrameHeader, at: UInt64)
        /// Not the expected frame. The walker does not move.
        case fault(FrameFault)
    }

    package let window: FileWindow
    package let seed: UInt32
    package private(set) var offset: UInt64
    package private(set) var expected: FrameExpectation

    package init(_ window: FileWindow, seed: UInt32, from offset: UInt64, expecting expected: FrameExpectation) {
        self.window = window
        self.seed = seed
        self.offset = offset
        self.expected = expected
    }

    package mutating func next() throws(LogError) -> Step {
        switch FrameCheck.header(
            try window.bytes(at: offset, Format.frameOverhead), seed: seed, expecting: expected)
        {
        case .failure(let fault):
            return .fault(fault)
        case .success(let header):
            let bytes = try window.bytes(at: offset, header.frameLength)
            if let fault = FrameCheck.body(bytes, of: header) { return .fault(fault) }
            var hole: HolePayload?
            if header.knownKind == .hole {
                hole = HolePayload(of: header, bytes.slice(Format.frameHeaderLength, Int(header.storedLength)))
                if hole == nil { return .fault(.malformed) }
            }
            expected = FrameCheck.expectation(after: header, hole: hole)
            defer { offset += UInt64(header.frameLength) }
            return .frame(header, at: offset)
        }
    }

    /// Returns the stored payload of the frame just walked over; valid until the window moves.
    package func stored(_ header: FrameHeader, at offset: UInt64) throws(LogError) -> UnsafeRawBufferPointer {
        try window.bytes(at: offset, header.frameLength).slice(Format.frameHeaderLength, Int(header.storedLength))
    }

    /// Continues at another position.
    package mutating func move(to offset: UInt64, expecting expected: FrameExpectation) {
        self.offset = offset
        self.expected = expected
    }

    /// Returns the first position from `start` on, in steps of 8, at which a header of this log verifies, and the
    /// header.
    package func search(from start: UInt64) throws(LogError) -> (offset: UInt64, header: FrameHeader)? {
        try window.firstFrame(from: start) { try? FrameHeader($0, seed: seed) }.map { ($0.offset, $0.found) }
    }

    /// Returns whether there are only zeros from `start` to the end of the file.
    package func onlyZeros(from start: UInt64) throws(LogError) -> Bool {
        var offset = start
        while true {
            let bytes = try window.bytes(at: offset, 1 << 16)
            if bytes.isEmpty { return true }
            if !bytes.isAllZero { return false }
            offset += UInt64(bytes.count)
        }
    }
}

extension FileWindow {
    /// Returns the first position from `start` on, in steps of 8, at which a frame's magic is followed by what `find`
    /// accepts, and its result. `find` is given the 40 bytes of a header.
    func firstFrame<Found>(
        from start: UInt64, _ find: (UnsafeRawBufferPointer) -> Found?
    ) throws(LogError) -> (offset: UInt64, found: Found)? {
        var offset = start
        while true {
            let bytes = try bytes(at: offset, 1 << 16)
            guard bytes.count >= Format.frameHeaderLength else { return nil }
            var index = 0
            while index + Format.frameHeaderLength <= bytes.count {
                if bytes.number(UInt32.self, at: index) == Format.frameMagic,
                    let found = find(bytes.slice(index, Format.frameHeaderLength))
                {
                    return (offset + UInt64(index), found)
                }
                index += 8
            }
            offset += UInt64(index)
        }
    }
}
