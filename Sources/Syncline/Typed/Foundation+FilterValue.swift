// Types of Foundation in filters: `{ $0.due < Date.now }`.

public import Foundation
public import SynclineCore

extension Date: FilterValue {
    /// The instant, to the millisecond, as rows keep it.
    public var filterValue: Value { .date(Timestamp(self)) }
}

extension Decimal: FilterValue {
    /// The number; one with more digits than rows keep is the nearest.
    public var filterValue: Value { Value(self) ?? .double(NSDecimalNumber(decimal: self).doubleValue) }
}
