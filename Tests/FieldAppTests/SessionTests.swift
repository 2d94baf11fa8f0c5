// Signing in, a token that is refused, and signing out.

import Foundation
import Syncline
import SynclineTesting
import Testing

@testable import FieldApp

@Suite(.timeLimit(.minutes(10))) @MainActor struct SessionTests {
    @Test func `each user has a store of their own`() async throws {
        let world = World()
        let ada = try await world.session(of: "ada")
        let grace = try await world.session(of: "Ada")
        try await ada.store.report("crack", in: "mill")
        #expect(try await grace.store.findings.count() == 0)
        #expect(ada.store.database.declaration?.version == 2)
        #expect(Session.directory(of: "ada") != Session.directory(of: "Ada").lowercased())
        #expect(Session.directory(of: "a/b\n") == "612f620a")
        try await ada.end()
        try await grace.end()
    }

    @Test func `a refused token is renewed, and the change is sent`() async throws {
        let world = World()
        world.network.script([.answer(status: 401)])
        let session = try await world.session { "new token" }
        let screen = InspectionScreen(session.store, "mill")
        await screen.report("crack")
        screen.refresh()
        await wait { screen.status.content == .list && screen.status.notice == .upToDate }
        #expect(world.column("text", of: Finding.table) == ["crack"])
        try await session.end()
    }

    @Test func `a user whose token can't be renewed is asked to sign in, and loses nothing`() async throws {
        let world = World()
        // Without a token nothing is sent.
        let session = try await world.session(token: nil)
        let screen = InspectionScreen(session.store, "mill")
        await screen.report("crack")
        screen.refresh()
        await wait { screen.status.notice == .signIn }
        #expect(screen.findings.map(\.text) == ["crack"])
        await session.resume(with: "token")
        #expect(try await session.account.token(insteadOf: nil) == "token")
        await wait { screen.status.notice == .upToDate }
        #expect(world.column("text", of: Finding.table) == ["crack"])
        try await session.end()
    }

    @Test func `a device that has caught up has all of the server, which has all of it`() async throws {
        let world = World()
        let session = try await world.session()
        let tablet = try await World(server: world.server).store()
        for number in 0..<3 {
            try await tablet.report("rust \(number)", in: "mill")
            _ = try await tablet.database.sync(FieldStore.tables)
            try await session.store.report("crack \(number)", in: "mill")
            try await session.catchUp()
            #expect(try await session.store.findings.count() == 2 * number + 2)
            #expect(world.server.rows(of: Finding.table).count == 2 * number + 2)
        }
        try await session.end()
    }

    @Test func `an account gives its token, and never one that was refused`() async throws {
        let account = Account(user: "ada", token: "old") { "new" }
        #expect(try await account.token(insteadOf: nil) == "old")
        #expect(try await account.token(insteadOf: "old") == "new")
        #expect(try await account.token(insteadOf: "old") == "new")
        #expect(try await account.token(insteadOf: "new") == nil)
        await account.use("other")
        #expect(try await account.token(insteadOf: nil) == "other")
    }

    @Test func `signing out sends what is pending and removes the user's store`() async throws {
        let world = World()
        let session = try await world.session()
        try await session.store.report("crack", in: "mill")
        let path = "\(world.folder)/\(Session.directory(of: "ada"))"
        #expect(FileManager.default.fileExists(atPath: path + "/HEAD"))
        try await session.end()
        #expect(world.column("text", of: Finding.table) == ["crack"])
        let left = try? FileManager.default.subpathsOfDirectory(atPath: path)
        #expect(left?.isEmpty != false)

        let again = try await world.session()
        #expect(try await again.store.database.tables().isEmpty)
        try await again.end()
    }

    @Test func `signing out keeps what could not be sent, unless the user accepts the loss`() async throws {
        let world = World()
        world.network.setOffline(true)
        let session = try await world.session()
        try await session.store.report("crack", in: "mill")
        let error = await #expect(throws: SyncError.self) { try await session.end() }
        #expect(error?.code == .pendingChanges)
        #expect(try await session.store.findings.count() == 1)
        #expect(session.store.database.automaticSync != nil)

        try await session.end(discardingUnsent: true)
        world.network.setOffline(false)
        let again = try await world.session()
        let screen = InspectionScreen(again.store, "mill")
        await wait { screen.status.content == .empty }
        #expect(world.server.rows(of: Finding.table).isEmpty)
        try await again.end()
    }
}
