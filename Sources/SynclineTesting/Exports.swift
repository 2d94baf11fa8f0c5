// What `import SynclineTesting` re-exports: what a test can do to a disk in memory.

@_exported public import LogTesting
