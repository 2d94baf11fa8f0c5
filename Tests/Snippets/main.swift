// Runs one snippet by its name in the current directory; lists them without a name.

let snippets: [(name: String, run: () async throws -> Void)] = [
    ("a first table", FirstSteps.table), ("changes", FirstSteps.changes),
    ("changes that belong together", FirstSteps.together),
    ("dates", FirstSteps.dates), ("relations", FirstSteps.relations), ("totals", FirstSteps.totals),
    ("watching a list", FirstSteps.watch), ("a log", LogSnippets.log), ("a checkpoint", LogSnippets.checkpoint),
    ("a schema", StoreSnippets.schema), ("a store", StoreSnippets.durability), ("history", StoreSnippets.history),
    ("rows put back", StoreSnippets.restoring), ("a branch", StoreSnippets.branch), ("SQL", SQLSnippets.sql),
    ("full text and a mirror", SQLSnippets.files), ("rows in files", SQLSnippets.rowFiles),
    ("a test", TestingSnippets.conflict), ("a broken disk", TestingSnippets.powerCut),
    ("a lost answer", TestingSnippets.lostAnswer), ("a clock", TestingSnippets.clock),
    ("watching sync", SyncSnippets.watch), ("a widget", SharingSnippets.widget),
    ("a sync in the background", BackgroundSnippets.sync),
    ("data from Realm", BringingOver.realm), ("data from Amplify", BringingOver.amplify),
    ("policies of other products", BringingOver.policies),
]

if let name = CommandLine.arguments.dropFirst().first {
    guard let snippet = snippets.first(where: { $0.name == name }) else { fatalError("no snippet \"\(name)\"") }
    try await snippet.run()
} else {
    for snippet in snippets { print(snippet.name) }
}

/// Ends the process if a snippet does not do what its page says.
nonisolated func expect(_ isSo: Bool, line: Int = #line) {
    if !isSo { fatalError("line \(line)") }
}
