// When to listen to a server, and which of its news require a round.

import Testing

@testable import SynclineCore

@Suite struct ServerNewsTests {
    private var news = ServerNews()

    @Test mutating func `one at a time listens, and again when a stream has ended and a rest is over`() {
        #expect(news.listen() == true)
        #expect(news.listen() == false)
        news.told("1")
        #expect(news.fellSilent() == 1)
        #expect(news.listen() == false, "it rests")
        news.rested()
        #expect(news.listen() == true)
    }

    @Test mutating func `streams that tell nothing new are waited for longer and longer`() {
        for attempt in 1...3 {
            #expect(news.listen() == true)
            news.told("1")
            #expect(news.fellSilent() == attempt)
            news.rested()
        }
        #expect(news.listen() == true)
        news.told("1")
        news.told("2")
        #expect(news.fellSilent() == 1)
    }

    @Test mutating func `there is no pause if there was no stream`() {
        #expect(news.listen() == true)
        #expect(news.fellSilent() == nil)
        #expect(news.listen() == true, "the next round may find one")
    }

    @Test mutating func `what is told while a round runs is looked at when it ends`() {
        news.roundBegan()
        #expect(news.toldMeanwhile == nil)
        news.told("1")
        #expect(news.toldMeanwhile == "1")
        news.roundBegan()
        #expect(news.toldMeanwhile == nil, "this round fetches it")
        news.told("1")
        #expect(news.toldMeanwhile == nil)
    }
}
