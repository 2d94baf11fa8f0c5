// `div` of whole numbers. Servers of the newer protocol truncate the quotient. Those of the older one have only one
// kind of number and never truncate. A store does what its server does.

extension FilterExpression {
    /// The filter with the meaning `div` has on servers of the older protocol: a column's 25 divided by 10 is 2.5,
    /// whether it was sent as 25 or as 25.0.
    package var dividingAsDoubles: FilterExpression {
        let inner = mapParts { $0.dividingAsDoubles }
        guard case .arithmetic(.div, let left, let right) = inner else { return inner }
        return .arithmetic(.div, .arithmetic(.mul, left, .literal(.double(1))), right)
    }

    /// Whether there is a `div` in it.
    var divides: Bool { contains { if case .arithmetic(.div, _, _) = $0 { true } else { false } } }
}
