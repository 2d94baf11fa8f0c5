// Memory in pieces: each has one owner, keeps what is written to it, and is used again.

import Testing

@testable import SynclineGround

@Suite struct BlockMemoryTests {
    @Test func `memory of every size keeps what is written to it`() {
        let sizes = [1, 64, 1087, 1088, 1089, 4095, 4096, 4352, 4353, 8448, 8449]
        var held: [(memory: UnsafeMutableRawBufferPointer, byte: UInt8)] = []
        defer { for (memory, _) in held { BlockMemory.deallocate(memory) } }
        for step in 0..<4000 {
            if held.count > 300 {
                let (memory, byte) = held.remove(at: step * 7919 % held.count)
                #expect(memory.allSatisfy { $0 == byte })
                BlockMemory.deallocate(memory)
            }
            let memory = BlockMemory.allocate(byteCount: sizes[step % sizes.count])
            #expect(memory.count == sizes[step % sizes.count])
            let byte = UInt8(truncatingIfNeeded: step)
            memory.initializeMemory(as: UInt8.self, repeating: byte)
            held.append((memory, byte))
        }
        #expect(held.allSatisfy { held in held.memory.allSatisfy { $0 == held.byte } })
    }

    @Test(arguments: [4352, 8448]) func `pieces are apart, and slabs without used pieces are given back`(_ size: Int) {
        var slabs = Slabs(size)
        var pieces = (0..<1000).map { _ in slabs.take() }
        let starts = pieces.map { UInt(bitPattern: $0.start) }.sorted()
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= size })
        #expect(starts.allSatisfy { $0 % 8 == 0 })
        let most = slabs.count
        #expect(most > 30)
        // From all slabs.
        for place in stride(from: 998, through: 0, by: -2) { slabs.put(pieces.remove(at: place)) }
        // What was freed is used before another slab is made.
        pieces += (0..<500).map { _ in slabs.take() }
        #expect(slabs.count <= most)
        #expect(Set(pieces.map(\.start)).count == 1000)
        for piece in pieces { slabs.put(piece) }
        #expect(slabs.count == 1)
        slabs.put(slabs.take())
        #expect(slabs.count == 1)
    }
}
