// When to listen to a server, and which of its news require a round.

import Testing

@testable import SynclineCore

@Suite struct ServerNewsTests {
    private var news = ServerNews()

    @Test mutating func `only one stream listens at a time, and again after it has ended and a pause is over`() {
        #expect(news.listen() == true)
        #expect(news.listen() == false)
        news.told("1")
        #expect(news.streamEnded() == 1)
        #expect(news.listen() == false, "it rests")
        news.rested()
        #expect(news.listen() == true)
    }

    @Test mutating func `the pause grows between streams without news`() {
        for attempt in 1...3 {
            #expect(news.listen() == true)
            news.told("1")
            #expect(news.streamEnded() == attempt)
            news.rested()
        }
        #expect(news.listen() == true)
        news.told("1")
        news.told("2")
        #expect(news.streamEnded() == 1)
    }

    @Test mutating func `there is no pause if there was no stream`() {
        #expect(news.listen() == true)
        #expect(news.streamEnded() == nil)
        #expect(news.listen() == true, "the next round may find one")
    }

    @Test mutating func `an announcement during a round is checked at its end`() {
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
