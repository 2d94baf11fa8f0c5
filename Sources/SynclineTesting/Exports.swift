// The re-exports of `import SynclineTesting`: a test's control of a disk in memory.

@_exported public import LogTesting
