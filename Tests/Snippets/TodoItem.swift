// The model of the guides.

import Syncline

struct TodoItem: SyncModel {
    var id = SyncID.make()
    var text: String
    var complete = false
}
