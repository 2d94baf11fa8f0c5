// `erase`: removes a store with everything in it.

import Syncline
import SynclineInspect

enum EraseCommand {
    static let command = Command(
        "erase", "removes a store with everything in it",
        details: [
            """
            Removes every file of the store: rows, history, checkpoints, quarantine, secrets and recorded traffic. \
            Other files in its directory stay, and so does the directory. If the process dies on the way, the next \
            program that opens the store for writing removes the rest. It is refused while another program has the \
            store open.
            """
        ],
        options: [Option("force", "also if changes were not pushed, or the store can't be read")],
        examples: [
            Example("syncline erase", "once everything is pushed"),
            Example("syncline erase --force", "whatever is pending"),
        ],
        result: #"{"erased":"…"}"#
    ) { arguments, context in
        let path = try context.path(changing: arguments)
        try await context.host.session?.close()
        try await SyncDatabase.erase(at: path, force: arguments.flag("force"))
        try context.output.value(["erased": .string(path)])
        try context.output.line("erased \(escaped(path))")
        return .done
    }
}
