// The entry points for the fuzzer (tools/fuzz). The target's name is in SYNCLINE_FUZZ_TARGET; if SYNCLINE_FUZZ_SEEDS
// names a directory, the initial inputs are written into it.

#if FUZZING
    @preconcurrency import Glibc

    private let target: FuzzTarget = {
        guard let name = getenv("SYNCLINE_FUZZ_TARGET").map({ String(cString: $0) }),
            let target = FuzzTarget(rawValue: name)
        else { fatalError("SYNCLINE_FUZZ_TARGET is none of \(FuzzTarget.allCases.map(\.rawValue))") }
        return target
    }()

    @_cdecl("LLVMFuzzerInitialize")
    public func initializeFuzzer(
        _ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?
    ) -> CInt {
        guard let directory = getenv("SYNCLINE_FUZZ_SEEDS").map({ String(cString: $0) }) else { return 0 }
        for (index, seed) in target.seeds.enumerated() {
            guard let file = fopen("\(directory)/seed-\(index)", "w") else { fatalError("can't write to \(directory)") }
            fwrite(seed, 1, seed.count, file)
            fclose(file)
        }
        return 0
    }

    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
        if let failure = target.run(Array(UnsafeBufferPointer(start: data, count: size))) { fatalError(failure) }
        return 0
    }
#endif
