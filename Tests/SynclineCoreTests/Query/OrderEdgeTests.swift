// The quick comparison with the last wanted row never excludes a row that the order would let in.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct OrderEdgeTests {
    @Test(arguments: [false, true])
    func `a value that is said to come after the edge does so in the order`(isDescending: Bool) {
        var chance = Chance(seed: isDescending ? 2 : 1)
        var decided = 0
        for _ in 0..<10 {
            let values = (0..<60).map { _ in chance.once(in: 3) ? OrderEdgeTests.plain(&chance) : chance.value() }
            for last in values {
                let position = OrderEdgeTests.position(last, isDescending)
                guard let edge = OrderEdge(position + Array("id".utf8), isDescending: isDescending, .any) else {
                    continue
                }
                for value in values where OrderEdgeTests.isAfter(edge, value) {
                    decided += 1
                    let other = OrderEdgeTests.position(value, isDescending)
                    #expect(position.lexicographicallyPrecedes(other), "\(value) is not after \(last)")
                }
            }
        }
        #expect(decided > 1000)
    }

    @Test(arguments: [false, true])
    func `values of the frequent forms are compared without their positions`(isDescending: Bool) throws {
        var chance = Chance(seed: isDescending ? 4 : 3)
        for _ in 0..<1000 {
            let kind = chance.below(3)
            let (last, value) = (OrderEdgeTests.plain(&chance, kind), OrderEdgeTests.plain(&chance, kind))
            let position = OrderEdgeTests.position(last, isDescending)
            let edge = try #require(OrderEdge(position, isDescending: isDescending, .any))
            let isAfter = position.lexicographicallyPrecedes(OrderEdgeTests.position(value, isDescending))
            #expect(OrderEdgeTests.isAfter(edge, value) == isAfter, "\(value) and \(last)")
        }
    }

    private static func isAfter(_ edge: OrderEdge, _ value: Value) -> Bool {
        var writer = ByteWriter()
        writer.append(value: value)
        // What follows in the row.
        writer.append(fixed: 0x4040_4040_4040_4040)
        return writer.withView { edge.isBefore($0) }
    }

    private static func position(_ value: Value, _ isDescending: Bool) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(sortOf: value, as: .any)
        if isDescending { writer.invert(from: 0) }
        return writer.bytes
    }

    /// An integer, an instant or a short string, of few so that some are equal.
    private static func plain(_ chance: inout Chance, _ kind: Int? = nil) -> Value {
        switch kind ?? chance.below(3) {
        case 0: .integer(Int64(chance.below(200)) - 100)
        case 1: .string(TextForm.text(ofMilliseconds: Int64(chance.below(100)) * 86_400_000))
        default: .string(String((0..<chance.below(4)).map { _ in chance.pick(["a", "b", "é", "0"]) }))
        }
    }
}
