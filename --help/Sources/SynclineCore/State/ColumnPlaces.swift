// The places of a column in rows of many shapes. Each shape is looked up only once.

/// The position of a column in a shape, looked up once for each new shape.
struct ColumnPlace {
    /// Retained, so that no other shape can have its address.
    private var shape: RowShape?
    private var address: UnsafeMutableRawPointer?
    private var place: Int?

    @inline(__always)
    mutating func place(_ name: String, _ shape: Unmanaged<RowShape>) -> Int? {
        if shape.toOpaque() != address { look(for: name, in: shape.takeUnretainedValue()) }
        return place
    }

    private mutating func look(for name: String, in shape: RowShape) {
        self.shape = shape
        address = Unmanaged.passUnretained(shape).toOpaque()
        place = shape.place(of: name)
    }
}

/// A column's positions in the different shapes of a row: pending changes, the base, and local columns.
package struct ColumnPlaces {
    let name: String
    var local = ColumnPlace()
    var over = ColumnPlace()
    var under = ColumnPlace()

    package init(_ name: String) {
        self.name = name
    }
}
