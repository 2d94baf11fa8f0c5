// The end of an output whose reader has gone, which is not a failure.

/// The reader of the output is gone.
package struct ClosedPipe: Error {}
