// A to-do list at a terminal: the smallest app that does all that an app does with Syncline.
//   todo [DIRECTORY [URL]]

import Foundation

let words = CommandLine.arguments.dropFirst()
let list = try await TodoList(
    at: words.first ?? "todo-list", server: words.dropFirst().first ?? "http://127.0.0.1:8080")
let screen = try Screen(list)
for await line in Screen.lines() {
    if line == "quit" { break }
    await screen.run(line)
}
await screen.close()
