// Stores that went wrong in known ways: at most two questions of an assistant name the cause.

import Testing

@testable import SynclineTool

@Suite struct IncidentTests {
    @Test(arguments: Incident.all) func `two questions name the cause`(incident: Incident) async throws {
        let asking = try Asking(incident.speaks, incident.options)
        try await incident.make(asking)
        let first = try await asking.ask(incident.question, incident.arguments)
        if first.text.contains(incident.cause) { return }
        let second = try await asking.ask(first.next.question, first.next.arguments)
        #expect(second.text.contains(incident.cause), "\(first.text)\n\n\(second.text)")
    }
}
