// The last push and the last page of each query, as the newest events tell. Pure: it reads no clock and no file.

import Foundation
package import SynclineCore
import SynclineGround

/// What a log knows of the newest syncs. A push that had nothing to send and a pull that brought nothing new leave no
/// event, and no event says that a pull ended.
package struct LastSyncs: Sendable {
    package typealias Push = StoreStatus.Push
    package typealias Page = StoreStatus.Page

    package private(set) var push: Push?
    package private(set) var pages: [Page] = []
    private var lastAnswer: UInt64?
    private var isReopened = false

    package init() {}

    /// Takes the next event of the log.
    package mutating func add(_ event: Event, number: UInt64) {
        switch event.body {
        case .opened: isReopened = true
        case .sent(let operations):
            let ids = operations.compactMap(\.operationID)
            if !ids.isEmpty { send(ids, at: event.time, number) }
        case .answered(let answer): take(answer, at: event.time, number)
        case .resolved(let resolution): take(resolution, number)
        case .page(let page): take(page, at: event.time, number)
        default: break
        }
    }

    private mutating func send(_ ids: [String], at time: Int64, _ number: UInt64) {
        // An operation follows the answer to another at once; otherwise it begins a push.
        let continues = push.map { $0.unanswered > 0 } ?? false || lastAnswer == number - 1
        if isReopened || !continues { push = Push(number, at: time, isBegun: true) }
        isReopened = false
        push?.operationIDs.formUnion(ids)
        reach(time, number)
    }

    private mutating func take(_ answer: Answer, at time: Int64, _ number: UInt64) {
        if push == nil || isReopened {
            let open = push?.operationIDs ?? []
            push = Push(number, at: time, isBegun: false)
            push?.operationIDs = open
        }
        isReopened = false
        push?.operationIDs.remove(answer.operationID)
        if answer.outcome.goesOn, let next = answer.nextOperationID {
            push?.operationIDs.insert(next)
        } else {
            push?.operations[answer.outcome.name, default: 0] += 1
        }
        lastAnswer = number
        reach(time, number)
    }

    /// A policy decides within the push.
    private mutating func take(_ resolution: Resolution, _ number: UInt64) {
        guard resolution.policy != nil, lastAnswer == number - 1, let conflicts = push?.operations["conflict"] else {
            return
        }
        push?.operations["conflict"] = conflicts == 1 ? nil : conflicts - 1
        if resolution.change == nil { push?.operations["decided", default: 0] += 1 }
        lastAnswer = number
    }

    private mutating func reach(_ time: Int64, _ number: UInt64) {
        push?.last = EventNumber(rawValue: number)
        push?.end = Date(milliseconds: time)
    }

    private mutating func take(_ page: PulledPage, at time: Int64, _ number: UInt64) {
        pages.removeAll { $0.table.hasSameBytes(as: page.table) && $0.queryID == page.queryID }
        var newest = Page(
            event: EventNumber(rawValue: number), date: Date(milliseconds: time), table: page.table,
            queryID: page.queryID)
        newest.deleted = page.rows.count { $0.row == nil }
        newest.rows = page.rows.count - newest.deleted
        newest.unreadable = page.unreadable.count
        pages.append(newest)
    }
}
