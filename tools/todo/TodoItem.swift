// The model of the app. Its rows are in the table "todoitem", which is the type's name in lower case.

import Foundation

struct TodoItem: Codable, Identifiable, Sendable {
    var id = UUID().uuidString
    var text: String
    var complete = false
}
