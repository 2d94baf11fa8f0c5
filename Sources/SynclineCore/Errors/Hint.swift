// Hints of errors that have another remedy in the command line tool. An app reads these; the tool shows the command
// instead.

package enum Hint {
    package static let damage = "Nothing was changed. `LogVerification` lists the damage."
    package static let untrueCheckpoint =
        "Close the store and repair it with the command line tool: it moves the checkpoint into quarantine, and the "
        + "state is rebuilt from the log."
    package static let unreadableChanges =
        "Repair the store with the command line tool: it moves the file into quarantine."
    package static let backend = "Set `SyncConfiguration.backend`."
    package static let branch = "Land the branch, then do this in the store."
    package static let branches = "Nothing was changed. Land or drop them first."
    package static let branchBase = "Its rows can still be read."
}
