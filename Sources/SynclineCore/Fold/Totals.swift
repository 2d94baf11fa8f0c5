// What became of every change that was ever made: the balance of the store.

package import SynclineGround

/// Changes made, by what became of them. Those made less those ended are the ones in the outbox.
public struct Totals: Hashable, Sendable {
    /// Changes the app made.
    public var made: UInt64 = 0
    /// Changes the server confirmed as an operation's own.
    public var done: UInt64 = 0
    /// Changes that became part of a later change's operation, or came to nothing with it.
    public var superseded: UInt64 = 0
    /// Changes the app took back.
    public var cancelled: UInt64 = 0
    /// Changes that ended with a resolution.
    public var resolved: UInt64 = 0

    /// Nothing has happened yet.
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
