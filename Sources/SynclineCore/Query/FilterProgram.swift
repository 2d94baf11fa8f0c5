// A filter made ready for many rows: a column compared with a plain literal is decided on the encoded value, in place;
// everything else is left to the evaluator. Both say the same of every row.

/// A column's place, looked up once for each shape that comes by.
final class ColumnPlace {
    let name: String
    private var shape: Shape?
    private var place: Int?

    init(_ name: String) {
        self.name = name
    }

    func place(in shape: Shape) -> Int? {
        if self.shape !== shape {
            self.shape = shape
            place = shape.place(of: name)
        }
        return place
    }
}

/// A filter, compiled.
final class FilterProgram {
    private indirect enum Step {
        case and(Step, Step)
        case or(Step, Step)
        case not(Step)
        case integer(Expression.Comparison, Int64, over: ColumnPlace, under: ColumnPlace, Expression)
        case text(Expression.Comparison, [UInt8], over: ColumnPlace, under: ColumnPlace, Expression)
        case flag(Expression.Comparison, Bool, over: ColumnPlace, under: ColumnPlace, Expression)
        case other(Expression)
    }

    private let step: Step

    init(_ filter: Expression) {
        step = FilterProgram.compile(filter)
    }

    func matches(_ row: RowSight) -> Bool {
        FilterProgram.truth(step, row) == true
    }

    private static func compile(_ filter: Expression) -> Step {
        switch filter {
        case .and(let left, let right): return .and(compile(left), compile(right))
        case .or(let left, let right): return .or(compile(left), compile(right))
        case .not(let inner): return .not(compile(inner))
        case .column(let path) where path.count == 1 && path[0] != "id":
            return .flag(.equal, true, over: ColumnPlace(path[0]), under: ColumnPlace(path[0]), filter)
        case .compare(let comparison, .column(let path), .literal(let value, _))
        where path.count == 1 && path[0] != "id":
            let (over, under) = (ColumnPlace(path[0]), ColumnPlace(path[0]))
            switch value {
            case .integer(let number): return .integer(comparison, number, over: over, under: under, filter)
            // A text of a date's form meets dates as an instant.
            case .string(let text) where Timestamp(text) == nil:
                return .text(comparison, Array(text.utf8), over: over, under: under, filter)
            case .bool(let flag) where comparison == .equal:
                return .flag(comparison, flag, over: over, under: under, filter)
            default: return .other(filter)
            }
        default: return .other(filter)
        }
    }

    private static func truth(_ step: Step, _ row: RowSight) -> Bool? {
        switch step {
        case .and(let left, let right):
            let first = truth(left, row)
            if first == false { return false }
            let second = truth(right, row)
            return second == false ? false : first == nil || second == nil ? nil : true
        case .or(let left, let right):
            let first = truth(left, row)
            if first == true { return true }
            let second = truth(right, row)
            return second == true ? true : first == nil || second == nil ? nil : false
        case .not(let inner):
            return truth(inner, row).map { !$0 }
        case .integer(let comparison, let number, let over, let under, let filter):
            guard let value = row.encoded(over, under), let tag = value.first else { break }
            let stored: Int64
            if tag & 0xc0 == ValueTag.smallInteger {
                stored = Int64(tag & 0x3f)
            } else if tag == ValueTag.integer {
                var reader = ByteReader(Bytes(rebasing: value[1...]))
                guard let number = try? reader.zigzag() else { break }
                stored = number
            } else {
                return filter.truth(of: row)
            }
            return holds(comparison, stored < number ? -1 : stored == number ? 0 : 1)
        case .text(let comparison, let text, let over, let under, let filter):
            guard let value = row.encoded(over, under), let tag = value.first else { break }
            guard tag >= ValueTag.shortText, value.count > Int(tag & 0x7f) else { return filter.truth(of: row) }
            let stored = Bytes(rebasing: value[1..<1 + Int(tag & 0x7f)])
            return holds(comparison, text.withBytes { stored.compare($0) })
        case .flag(_, let flag, let over, let under, let filter):
            guard let tag = row.encoded(over, under)?.first else { break }
            switch tag {
            case ValueTag.yes: return flag
            case ValueTag.no: return !flag
            default: return filter.truth(of: row)
            }
        case .other(let filter):
            return filter.truth(of: row)
        }
        // The row has no such column.
        if case .integer(.notEqual, _, _, _, _) = step { return true }
        if case .text(.notEqual, _, _, _, _) = step { return true }
        return nil
    }

    private static func holds(_ comparison: Expression.Comparison, _ order: Int) -> Bool {
        switch comparison {
        case .equal: order == 0
        case .notEqual: order != 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        }
    }
}
