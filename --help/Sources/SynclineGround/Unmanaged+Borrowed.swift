// Calls of an object that something else retains, without a retain and a release for each.

extension Unmanaged {
    /// Calls `body` with the object, which must be retained until it returns.
    @inlinable @inline(__always)
    public func borrowed<Result, Failure: Error>(
        _ body: (Instance) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var failure: Failure?
        let result: Result? = _withUnsafeGuaranteedRef { object in
            do throws(Failure) {
                return try body(object)
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return result.unsafelyUnwrapped
    }
}
