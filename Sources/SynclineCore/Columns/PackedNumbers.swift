// Numbers of a few bits, one for each row of a block. Those of up to eight bits are in planes: the lowest bits of all rows,
// then the next ones, so that one instruction looks at 64 rows. Others are one after another.

enum PackedNumbers {
    static let mostPlanes = 8

    /// How many bytes the numbers of some rows take.
    static func size(_ rows: Int, _ width: Int) -> Int {
        width <= mostPlanes ? width * ((rows + 7) / 8) : (rows * width + 7) / 8
    }
}

/// Numbers in planes. Bits of rows beyond the last one may be set.
struct BitPlanes {
    private let start: UnsafeRawPointer
    private let stride: Int
    let width: Int

    /// Nil for numbers that are not in planes.
    init?(_ block: borrowing ColumnBlock, at start: Int, width: Int) {
        guard width <= PackedNumbers.mostPlanes, let memory = block.bytes.baseAddress else { return nil }
        (self.start, self.width, stride) = (memory + start, width, (block.rows + 7) / 8)
    }

    /// The bits of a plane for the 64 rows of a word.
    @inline(__always)
    func bits(_ plane: Int, _ word: Int) -> UInt64 {
        UInt64(littleEndian: start.loadUnaligned(fromByteOffset: plane * stride + word * 8, as: UInt64.self))
    }

    /// The rows of a word whose number is less than another, and those that have it.
    @inline(__always)
    func comparison(with number: UInt64, _ word: Int) -> (less: UInt64, equal: UInt64) {
        var (less, equal): (UInt64, UInt64) = (0, .max)
        for plane in (0..<width).reversed() {
            let bits = bits(plane, word)
            if number >> UInt64(plane) & 1 != 0 {
                less |= equal & ~bits
                equal &= bits
            } else {
                equal &= ~bits
            }
        }
        return (less, equal)
    }

    /// Keeps the rows whose number compares so with another.
    func keep(_ bits: borrowing RowBits, _ comparison: FilterExpression.Comparison, _ number: UInt64) {
        if number >> UInt64(width) != 0 {
            switch comparison {
            case .equal, .greater, .greaterOrEqual: bits.removeAll()
            case .notEqual, .less, .lessOrEqual: break
            }
            return
        }
        bits.keepWords { word in
            let (less, equal) = self.comparison(with: number, word)
            return switch comparison {
            case .equal: equal
            case .notEqual: ~equal
            case .less: less
            case .lessOrEqual: less | equal
            case .greater: ~(less | equal)
            case .greaterOrEqual: ~less
            }
        }
    }

    /// The sum of the numbers of rows.
    func sum(of rows: borrowing RowBits) -> UInt64 {
        var sum: UInt64 = 0
        rows.forEachWord { word, wanted in
            for plane in 0..<width {
                sum += UInt64((bits(plane, word) & wanted).nonzeroBitCount) << UInt64(plane)
            }
        }
        return sum
    }

    /// Keeps the rows with the least or the greatest number of all.
    func keepBest(_ rows: borrowing RowBits, isGreatest: Bool) {
        for plane in (0..<width).reversed() {
            var hasBetter = false
            rows.forEachWord { word, wanted in
                if (isGreatest ? bits(plane, word) : ~bits(plane, word)) & wanted != 0 { hasBetter = true }
            }
            if hasBetter { rows.keepWords { isGreatest ? bits(plane, $0) : ~bits(plane, $0) } }
        }
    }
}
