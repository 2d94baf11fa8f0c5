// Lets one call by which SQLite changes a database below a folder fail: an open, a write, a truncation or a sync.

import CSQLite
import Foundation
import SynclineGround

enum FailingFiles {
    private struct Plan {
        var folder: String
        var code: Int32
        /// The calls up to the one that fails, and this one.
        var calls: Int
    }

    private static let plan = Mutex<Plan?>(nil)
    /// How the system opens files, and what it does with one.
    nonisolated(unsafe) private static let system = sqlite3_vfs_find(nil)
    nonisolated(unsafe) private static var methods: UnsafePointer<sqlite3_io_methods>?
    /// The same, with calls that may fail.
    nonisolated(unsafe) private static let failing = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)

    /// From now on, a call fails. There is one plan at a time.
    static func arm(call: Int, code: Int32, below folder: String) {
        _ = isRegistered
        plan.withLock { $0 = Plan(folder: folder, code: code, calls: call) }
    }

    /// Returns whether the call was made.
    static func disarm() -> Bool {
        plan.withLock { plan in
            defer { plan = nil }
            return plan.map { $0.calls <= 0 } ?? false
        }
    }

    /// What the next call returns instead of being made; nil for most.
    private static func failure() -> Int32? {
        plan.withLock { plan in
            plan?.calls -= 1
            return plan?.calls == 0 ? plan?.code : nil
        }
    }

    private static let isRegistered: Bool = {
        guard let system else { return false }
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: system.pointee)
        own.pointee.zName = UnsafePointer(strdup("failing"))
        own.pointee.xOpen = { _, name, file, flags, result in FailingFiles.open(name, file, flags, result) }
        return sqlite3_vfs_register(own, 1) == SQLITE_OK
    }()

    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ result: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let isWatched = plan.withLock { plan in
            guard let plan, let name, flags & SQLITE_OPEN_MAIN_DB != 0 else { return false }
            return String(cString: name).hasPrefix(plan.folder)
        }
        if isWatched, failure() != nil {
            file?.pointee.pMethods = nil
            return SQLITE_CANTOPEN
        }
        guard let code = system?.pointee.xOpen(system, name, file, flags, result) else { return SQLITE_ERROR }
        guard code == SQLITE_OK, isWatched, let plain = file?.pointee.pMethods else { return code }
        if methods == nil {
            methods = plain
            failing.initialize(to: plain.pointee)
            failing.pointee.xWrite = { file, bytes, count, offset in
                FailingFiles.failure() ?? FailingFiles.methods?.pointee.xWrite(file, bytes, count, offset)
                    ?? SQLITE_ERROR
            }
            failing.pointee.xTruncate = { file, size in
                FailingFiles.failure() ?? FailingFiles.methods?.pointee.xTruncate(file, size) ?? SQLITE_ERROR
            }
            failing.pointee.xSync = { file, flags in
                FailingFiles.failure() ?? FailingFiles.methods?.pointee.xSync(file, flags) ?? SQLITE_ERROR
            }
        }
        file?.pointee.pMethods = UnsafePointer(failing)
        return code
    }
}
