// The temporary folder of a new store. A signal that ends the process removes it.

import Syncline

struct StoreDraft {
    private let folder: DraftFolder

    /// Throws `complaint` if the store's place is not empty.
    init(of path: String, complaint: () -> ToolError) throws {
        guard let folder = try DraftFolder(of: path) else { throw complaint() }
        self.folder = folder
        Leftovers.add(folder.path)
    }

    /// The folder itself.
    var storage: POSIXStorage { folder.storage }

    /// Renames the draft to the store's name, durably.
    func putInPlace() throws {
        try folder.putInPlace()
        Leftovers.forget(folder.path)
    }

    /// Removes the draft.
    func remove() { Leftovers.discard(folder.path) }
}
