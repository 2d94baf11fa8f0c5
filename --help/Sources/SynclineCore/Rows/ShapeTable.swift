// Numbered shapes. The state refers to a row's shape by a small number. Numbers are assigned in the order in which
// shapes are first folded, so every replay assigns the same ones.

import SynclineGround

package final class ShapeTable: Sendable {
    private struct Content {
        var shapes: [RowShape] = []
        var numbers: [RowShape: Int] = [:]
        /// The newest shapes, because an app's writes and a server's responses alternate.
        var recent: [RowShape] = []
        /// A copy of the shapes for readers, until they change.
        var list: ShapeList?
    }

    /// More than the number of tables in use at a time, but few enough to search for each row.
    private static let recentLimit = 16

    private let content = Mutex(Content())

    package init() {}

    package var count: Int { content.withLock { $0.shapes.count } }

    package func shape(_ number: Int) -> RowShape? {
        content.withLock { $0.shapes.indices.contains(number) ? $0.shapes[number] : nil }
    }

    package func number(of shape: RowShape) -> Int? {
        content.withLock { $0.numbers[shape] }
    }

    /// Returns the shape with these names, reusing the object if it was read before.
    func shape(encodedNames: UnsafeRawBufferPointer) throws(MalformedBytes) -> RowShape {
        let known = recent { shape in shape.encodedNames.withBytes { $0.hasSameBytes(as: encodedNames) } }
        if let known { return known }
        return noted(try RowShape(encodedNames: encodedNames))
    }

    /// The same for names, which must be distinct.
    func shape(_ names: [String]) -> RowShape {
        let known = recent { shape in
            shape.names.count == names.count && zip(shape.names, names).allSatisfy { $0.hasSameBytes(as: $1) }
        }
        return known ?? noted(RowShape(names))
    }

    @inline(__always)
    private func recent(where isWanted: (RowShape) -> Bool) -> RowShape? {
        content.withLock { content in content.recent.first(where: isWanted) }
    }

    /// Returns the object for a shape that is not among the recent ones.
    private func noted(_ new: RowShape) -> RowShape {
        content.withLock { content in
            let shape = content.numbers[new].map { content.shapes[$0] } ?? new
            if content.recent.count == ShapeTable.recentLimit { content.recent.removeLast() }
            content.recent.insert(shape, at: 0)
            return shape
        }
    }

    /// Adds a new shape, and returns its number.
    package func add(_ shape: RowShape) -> Int {
        content.withLock { content in
            content.numbers[shape] = content.shapes.count
            content.shapes.append(shape)
            content.list = nil
            return content.shapes.count - 1
        }
    }

    /// Removes the shapes after the first `count`.
    package func removeAll(after count: Int) {
        content.withLock { content in
            for shape in content.shapes[count...] { content.numbers[shape] = nil }
            content.shapes.removeSubrange(count...)
            content.list = nil
        }
    }

    /// All shapes, by number.
    package var all: [RowShape] { content.withLock { $0.shapes } }

    /// A copy for a scan, so that it does not take the lock for each row.
    var list: ShapeList {
        content.withLock { content in
            if let list = content.list { return list }
            let list = ShapeList(content.shapes)
            content.list = list
            return list
        }
    }
}

/// Shapes by number, looked up without reference counting: the list retains them, and its user retains the list.
package struct ShapeList: @unchecked Sendable {
    // Unchecked, because memory is a pointer to the compiler; it is written here and never again.

    private final class Memory {
        private let shapes: [RowShape]
        let references: UnsafeMutableBufferPointer<Unmanaged<RowShape>>

        init(_ shapes: [RowShape]) {
            self.shapes = shapes
            references = .allocate(capacity: shapes.count)
            _ = references.initialize(from: shapes.lazy.map { .passUnretained($0) })
        }

        deinit { references.deallocate() }
    }

    private let memory: Memory
    let references: UnsafeBufferPointer<Unmanaged<RowShape>>

    init(_ shapes: [RowShape]) {
        memory = Memory(shapes)
        references = UnsafeBufferPointer(memory.references)
    }
}
