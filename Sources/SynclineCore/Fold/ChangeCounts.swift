// Counts what became of every change: the balance of the store.

package import SynclineGround

/// Numbers of changes by outcome. Those made minus those ended are in the outbox.
public struct ChangeCounts: Hashable, Sendable {
    /// Changes that the app made.
    public var made: UInt64 = 0
    /// Changes that the server confirmed as an operation of their own.
    public var done: UInt64 = 0
    /// Changes that became part of a later change's operation, or were cancelled out by it.
    public var superseded: UInt64 = 0
    /// Changes that the app undid, dropped or purged.
    public var cancelled: UInt64 = 0
    /// Changes that ended with a resolution.
    public var resolved: UInt64 = 0

    /// All zero.
    public init() {}

    /// Changes that are in the outbox.
    public var pending: UInt64 { made &- done &- superseded &- cancelled &- resolved }

    package func encode(into writer: inout ByteWriter) {
        for number in [made, done, superseded, cancelled, resolved] { writer.append(varint: number) }
    }

    package init(_ reader: inout ByteReader) throws(MalformedBytes) {
        made = try reader.varint()
        done = try reader.varint()
        superseded = try reader.varint()
        cancelled = try reader.varint()
        resolved = try reader.varint()
    }
}
