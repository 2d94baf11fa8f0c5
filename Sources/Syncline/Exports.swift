// What `import Syncline` brings beside Syncline's own: the values of the core, and the words of the log that a configuration
// is made of. The log itself is a product of its own.

@_exported public import SynclineCore

@_exported public import struct SegmentLog.ByteCount
@_exported public import enum SegmentLog.Durability
@_exported public import struct SegmentLog.LogConfiguration
@_exported public import enum SegmentLog.LogCreation
@_exported public import protocol SegmentLog.LogStorage
@_exported public import class SegmentLog.MemoryStorage
@_exported public import struct SegmentLog.POSIXStorage
