// Types of Foundation in filters: `{ $0.due < Date.now }`.

public import Foundation
public import SynclineCore

extension Date: FilterValue {
    /// The date, to the millisecond, as rows store it.
    public var filterValue: Value { .date(Timestamp(self)) }
}

extension Decimal: FilterValue {
    /// The number; rounded to the nearest double if it has more digits than rows store.
    public var filterValue: Value { Value(self) ?? .double(NSDecimalNumber(decimal: self).doubleValue) }
}
