// The re-exports of `import Syncline`: the values of SynclineCore, and the SegmentLog types used in a configuration.
// The log is also a product of its own.

@_exported public import SynclineCore

@_exported public import struct SegmentLog.ByteCount
@_exported public import enum SegmentLog.Durability
@_exported public import struct SegmentLog.LogConfiguration
@_exported public import enum SegmentLog.LogCreation
@_exported public import protocol SegmentLog.LogStorage
@_exported public import class SegmentLog.MemoryStorage
@_exported public import struct SegmentLog.POSIXStorage
