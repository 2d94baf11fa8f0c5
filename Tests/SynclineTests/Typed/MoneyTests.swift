// Amounts of money on their way from Swift to the store and back.

import Foundation
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

@Suite struct MoneyTests {
    @Test func `every amount of cents is accepted, as a literal has it and as a double has it`() throws {
        for cents in 0..<100_000 {
            let text = "\(cents / 100)." + (cents % 100 < 10 ? "0" : "") + "\(cents % 100)"
            let exact = try #require(Decimal(string: text))
            let number = try #require(Double(text))
            // A literal of a Decimal is a double first.
            for amount in [exact, Decimal(floatLiteral: number), Decimal(number), Decimal(cents) / 100] {
                let value = try ValueEncoder.decimal(amount, [])
                guard NumberDigits(number: value) == NumberDigits(number: .string(text)) else {
                    Issue.record("\(text) of \(amount) is stored as \(value)")
                    return
                }
            }
        }
    }

    @Test func `a decimal that no double has keeps all its digits`() throws {
        var chance = Chance(seed: 5)
        for _ in 0..<2000 {
            let digits = (0..<(20 + chance.below(19))).map { _ in "\(chance.below(10))" }.joined()
            let text = "1" + digits.prefix(18) + "." + digits.dropFirst(18) + "1"
            let amount = try #require(Decimal(string: text))
            let value = try ValueEncoder.decimal(amount, [])
            #expect(try ValueDecoder.decode(Decimal.self, from: value) == amount)
        }
    }
}
