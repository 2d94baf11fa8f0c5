// The entry point for the fuzzer of blocks in columns (tools/fuzz): the first bytes choose a block, each three that follow
// change a byte of it. An input that begins with a zero is a block itself.

#if FUZZING
    import SynclineGround

    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
        let bytes = Array(UnsafeBufferPointer(start: data, count: size))
        guard bytes.count > 3 else { return 0 }
        if bytes[0] == 0 {
            _ = DamagedBlock.read(bytes, [])
            return 0
        }
        let number = Int(bytes[0])
        let changes = stride(from: 3, to: bytes.count - 2, by: 3).map { place in
            DamagedBlock.Change(offset: Int(bytes[place]) << 8 | Int(bytes[place + 1]), byte: bytes[place + 2])
        }
        _ = block(number).read(changing: changes, cutting: bytes[2] < 200 ? 0 : Int(bytes[2]))
        return 0
    }

    nonisolated(unsafe) private var blocks: [Int: DamagedBlock] = [:]

    /// A block is made once.
    private func block(_ number: Int) -> DamagedBlock {
        if let known = blocks[number] { return known }
        var chance = Chance(seed: UInt64(number))
        // Small ones, so that millions are read in minutes.
        let new = DamagedBlock(&chance, most: 9)
        blocks[number] = new
        return new
    }
#endif
