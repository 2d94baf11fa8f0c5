// When to listen to a server, and which of its news require a round.

import Testing

@testable import SynclineCore

@Suite struct ServerNewsTests {
    private var news = ServerNews()

    @Test mutating func `only one stream listens at a time, and again after it has ended and a pause is over`() {
        #expect(news.listen() == true)
        #expect(news.listen() == false)
        news.told(.init("1"))
        #expect(news.streamEnded() == 1)
        #expect(news.listen() == false, "it rests")
        news.rested()
        #expect(news.listen() == true)
    }

    @Test mutating func `the pause grows between streams without news`() {
        for attempt in 1...3 {
            #expect(news.listen() == true)
            news.told(.init("1"))
            #expect(news.streamEnded() == attempt)
            news.rested()
        }
        #expect(news.listen() == true)
        news.told(.init("1"))
        news.told(.init("2"))
        #expect(news.streamEnded() == 1)
    }

    @Test mutating func `there is no pause if there was no stream`() {
        #expect(news.listen() == true)
        #expect(news.streamEnded() == nil)
        #expect(news.listen() == true, "the next round may find one")
    }

    @Test mutating func `an announcement during a round is checked at its end`() {
        news.roundBegan()
        #expect(news.waiting == nil)
        news.told(.init("1"))
        #expect(news.waiting == .init("1"))
        news.roundBegan()
        #expect(news.waiting == nil, "this round fetches it")
        news.told(.init("1"))
        #expect(news.waiting == nil)
    }

    @Test mutating func `announcements wait together, for the tables that any of them names`() {
        news.told(.init("1", tables: ["a"]), isKnown: true)
        #expect(news.waiting == nil, "the store has it")
        news.told(.init("2", tables: ["a"]))
        news.told(.init("3", tables: ["b"]))
        #expect(news.waiting?.cursor == "3")
        #expect(news.waiting?.names("A") == true && news.waiting?.names("b") == true)
        #expect(news.waiting?.names("c") == false)
        news.told(.init("4"))
        news.told(.init("5", tables: ["a"]))
        #expect(news.waiting == .init("5"), "an announcement without tables may be about any")
        news.roundBegan()
        news.told(.init("5", tables: ["b"]))
        #expect(news.waiting == .init("5", tables: ["b"]))
    }
}
