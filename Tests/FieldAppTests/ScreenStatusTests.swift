// What a screen says in each state: no store, no server, no view.

import Foundation
import Syncline
import Testing

@testable import FieldApp

@Suite struct ScreenStatusTests {
    private typealias Observed = ScreenStatus.Observed

    private let diskFull = SyncError(.diskFull, "the disk is full")
    private let later = Date(timeIntervalSince1970: 0)

    @Test func `a list is loading, then empty or shown`() {
        #expect(ScreenStatus(Observed()).content == .loading)
        #expect(ScreenStatus(Observed(isLoaded: true)).content == .empty)
        #expect(ScreenStatus(Observed(isLoaded: true, count: 2)).content == .list)
    }

    @Test func `a list that can't be read says why, unless there is one to show`() {
        #expect(ScreenStatus(Observed(listError: diskFull)).content == .failed("the disk is full"))
        let before = ScreenStatus(Observed(isLoaded: true, count: 2, listError: diskFull))
        #expect(before.content == .list)
        #expect(before.notice == .failed("the disk is full"))
    }

    @Test func `each state has its notice`() {
        let refused = SyncError(.unauthorized, "the token is not valid")
        let busy = SyncError(.serverError, "it is busy")
        let cases: [(Observed, ScreenStatus.Notice, String?)] = [
            (Observed(), .upToDate, nil),
            (Observed(phase: .idle), .upToDate, nil),
            (Observed(unsent: 3), .unsent(3), "Not sent yet: 3"),
            (Observed(phase: .pushing), .syncing, "Syncing"),
            (Observed(phase: .pulling(table: "finding")), .syncing, "Syncing"),
            (Observed(phase: .offline(until: later)), .offline(unsent: 0), "Offline"),
            (
                Observed(unsent: 3, phase: .offline(until: later)), .offline(unsent: 3), "Offline. Not sent yet: 3"
            ),
            (
                Observed(phase: .waiting(until: later, busy)), .delayed("it is busy"),
                "The server could not be used: it is busy"
            ),
            (Observed(undecided: 1), .undecided(1), "To decide: 1"),
            (Observed(phase: .waiting(until: later, refused)), .signIn, "Sign in again to sync"),
            (Observed(actionError: diskFull), .failed("the disk is full"), "the disk is full"),
        ]
        for (observed, notice, text) in cases {
            let status = ScreenStatus(observed)
            #expect(status.notice == notice)
            #expect(status.notice.text == text)
        }
    }

    @Test func `the most important notice is shown`() {
        var observed = Observed(unsent: 2, phase: .pushing)
        #expect(ScreenStatus(observed).notice == .syncing)
        observed.phase = .offline(until: later)
        #expect(ScreenStatus(observed).notice == .offline(unsent: 2))
        observed.phase = .waiting(until: later, SyncError(.serverError, "it is busy"))
        #expect(ScreenStatus(observed).notice == .delayed("it is busy"))
        observed.undecided = 1
        #expect(ScreenStatus(observed).notice == .undecided(1))
        observed.phase = .waiting(until: later, SyncError(.unauthorized, "the token is not valid"))
        #expect(ScreenStatus(observed).notice == .signIn)
        observed.actionError = diskFull
        #expect(ScreenStatus(observed).notice == .failed("the disk is full"))
    }
}
