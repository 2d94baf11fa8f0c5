// The model of the app. Its rows are in the table "todoitem", which is the type's name in lower case.

import Syncline

struct TodoItem: SyncModel {
    var id = SyncID.make()
    var text: String
    var complete = false
}
