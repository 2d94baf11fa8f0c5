// Shapes by number. The state names a row's shape by a small number; numbers are given in the order in which shapes are
// first folded, so every replay gives the same ones.

import Synchronization

package final class ShapeTable: Sendable {
    private struct Content {
        var shapes: [Shape] = []
        var numbers: [Shape: Int] = [:]
        /// The shapes that were new lately: what an app writes and what a server answers take turns.
        var recent: [Shape] = []
    }

    /// More than the tables in use at a time, and few enough to be looked through for each row.
    private static let recentLimit = 8

    private let content = Mutex(Content())

    package init() {}

    package var count: Int { content.withLock { $0.shapes.count } }

    package func shape(_ number: Int) -> Shape? {
        content.withLock { $0.shapes.indices.contains(number) ? $0.shapes[number] : nil }
    }

    package func number(of shape: Shape) -> Int? {
        content.withLock { $0.numbers[shape] }
    }

    /// The shape of some names, the same object as before where it was read before.
    func shape(encodedNames: UnsafeRawBufferPointer) throws(MalformedBytes) -> Shape {
        let known = content.withLock { content in
            content.recent.first { shape in shape.encodedNames.withBytes { $0.hasSameBytes(as: encodedNames) } }
        }
        if let known { return known }
        var shape = try Shape(encodedNames: encodedNames)
        content.withLock { content in
            if let number = content.numbers[shape] { shape = content.shapes[number] }
            if content.recent.count == ShapeTable.recentLimit { content.recent.removeLast() }
            content.recent.insert(shape, at: 0)
        }
        return shape
    }

    /// Adds a shape that is not there yet, and returns its number.
    package func add(_ shape: Shape) -> Int {
        content.withLock { content in
            content.numbers[shape] = content.shapes.count
            content.shapes.append(shape)
            return content.shapes.count - 1
        }
    }

    /// Forgets the shapes behind the first `count`.
    package func removeAll(behind count: Int) {
        content.withLock { content in
            for shape in content.shapes[count...] { content.numbers[shape] = nil }
            content.shapes.removeSubrange(count...)
        }
    }

    /// All shapes, by number.
    package var all: [Shape] { content.withLock { $0.shapes } }

    /// What a scan takes along so that it need not ask for each row.
    var list: ShapeList { ShapeList(all) }
}

/// Shapes by number, found without counting who holds them: the list holds them, and its user the list.
package struct ShapeList {
    private let shapes: [Shape]
    let references: [Unmanaged<Shape>]

    init(_ shapes: [Shape]) {
        self.shapes = shapes
        references = shapes.map { .passUnretained($0) }
    }
}
