// The store of a command: the one that is named, else that of the environment, else the nearest folder in this directory or above it.

import CLibrary
import SegmentLog
import Syncline

/// The folder where a store is searched for.
package struct StoreLocation: Hashable, Sendable {
    package static let folderName = ".syncline"

    package var path: String
    /// Whether it was named rather than found.
    package var isNamed: Bool

    /// The store of a call.
    package static func find(
        _ arguments: Arguments, _ environment: Environment, isDirectory: (String) -> Bool = isDirectory
    ) throws(ToolError) -> StoreLocation {
        let store = try findStore(arguments, environment, isDirectory)
        guard let name = arguments.value("branch") else { return store }
        let path = "\(store.path)/\(Branches.folder)/\(name)"
        if !Branches.isName(name) || !isDirectory(path) {
            let known: [String]
            do throws(SyncError) {
                known = try Branches.names(POSIXStorage(directory: store.path))
            } catch {
                throw ToolError(error)
            }
            // One that is there can't be looked at, and reading it will say why.
            if !known.contains(name) { throw ToolError.missingBranch(name, known) }
        }
        return StoreLocation(path: path, isNamed: true)
    }

    private static func findStore(
        _ arguments: Arguments, _ environment: Environment, _ isDirectory: (String) -> Bool
    ) throws(ToolError) -> StoreLocation {
        if let path = arguments.value("store") {
            guard !path.isEmpty else { throw .usage("--store needs the path of a directory") }
            return StoreLocation(path: expandingHome(path), isNamed: true)
        }
        if let path = environment["SYNCLINE_STORE"] {
            return StoreLocation(path: expandingHome(path), isNamed: true)
        }
        var directory = environment.directory
        while true {
            let path = directory == "/" ? "/" + folderName : directory + "/" + folderName
            if isDirectory(path) { return StoreLocation(path: path, isNamed: false) }
            guard directory != "/", let slash = directory.lastIndex(of: "/") else { break }
            directory = slash == directory.startIndex ? "/" : String(directory[..<slash])
        }
        throw ToolError(
            "no-store", "there is no \(folderName) folder here or in a parent folder",
            hint: "Run `syncline init`, or name a store with --store DIR or SYNCLINE_STORE.")
    }

    /// The place of a new store: never a parent folder.
    static func new(_ arguments: Arguments, _ environment: Environment) throws(ToolError) -> StoreLocation {
        if arguments.value("store") != nil || environment["SYNCLINE_STORE"] != nil {
            return try find(arguments, environment)
        }
        return StoreLocation(path: environment.directory + "/" + folderName, isNamed: false)
    }
}

package func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

extension ToolError {
    static func missingBranch(_ name: String, _ known: [String]) -> ToolError {
        let meant = Suggestion.nearest(to: name, in: known).map { "Did you mean `\($0)`?" }
        let all = known.isEmpty ? "There are no branches." : "Branches: \(known.joined(separator: ", "))."
        return ToolError("no-store", "there is no branch \(escaped(name))", hint: meant ?? all)
    }
}
