// The places of a column in rows of many shapes. Each shape is looked up only once.

/// A column's position, looked up once for each new shape.
struct ColumnPlace {
    private let name: String
    /// Retained, so that no other shape can have its address.
    private var shape: RowShape?
    private var address: UnsafeMutableRawPointer?
    private var place: Int?

    init(_ name: String) {
        self.name = name
    }

    @inline(__always)
    mutating func place(in shape: Unmanaged<RowShape>) -> Int? {
        if shape.toOpaque() != address { look(in: shape.takeUnretainedValue()) }
        return place
    }

    private mutating func look(in shape: RowShape) {
        self.shape = shape
        address = Unmanaged.passUnretained(shape).toOpaque()
        place = shape.place(of: name)
    }
}

/// A column's positions in the different shapes of a row: pending changes, the base, and local columns.
package struct ColumnPlaces {
    var local: ColumnPlace
    var over: ColumnPlace
    var under: ColumnPlace

    package init(_ name: String) {
        local = ColumnPlace(name)
        over = ColumnPlace(name)
        under = ColumnPlace(name)
    }
}
