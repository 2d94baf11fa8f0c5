// `erase`: removes a store with everything in it.

import Syncline

enum EraseCommand {
    static let command = Command(
        "erase", "remove a store with everything in it",
        details: [
            """
            Other files in its directory stay. After a kill, the next program that opens the store for writing removes \
            the rest. It is refused while another program has the store open.
            """
        ],
        options: [Option("force", "erase even if changes were not pushed, or if the store can't be read")],
        examples: [
            Example("syncline erase", "after everything is pushed"),
            Example("syncline erase --force", "even if changes are pending"),
        ],
        result: #"{"erased":"…"}"#
    ) { arguments, context in
        let path = try context.path(changing: arguments)
        try await context.host.session?.close()
        try await SyncDatabase.erase(at: path, force: arguments.flag("force"))
        return try context.output.result(["erased": .string(path)], "erased \(escaped(path))")
    }
}
