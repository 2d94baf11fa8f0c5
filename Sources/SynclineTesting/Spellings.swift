// Spellings of numbers, dates and UUIDs: those that people and programs write, those that can't be held, and random ones
// from a seed.

package enum Spellings {
    /// JSON texts of numbers, of numbers in quotation marks, of dates and of UUIDs; more than 500.
    package static func json(_ seed: UInt64) -> [String] {
        let quoted = [
            "007", "0012.50", "-00.10", "1E400", "1e3", "12.500", "18446744073709551615", "12345678901234567890.12",
        ]
        return numbers(seed) + (quoted + dates(seed) + uuids(seed)).map { "\"\($0)\"" }
    }

    /// Numbers in JSON's form.
    package static func numbers(_ seed: UInt64) -> [String] {
        var chance = Chance(seed: seed)
        let known = [
            "0", "-0", "-0.0", "0.0", "0.00", "0e5", "1", "1.0", "1.50", "12.5", "0.07", "0.1", "100", "1e2", "1E2",
            "1e+2", "1.5e3", "1.50e1", "1e-7", "0.00001", "9007199254740993", "9223372036854775807",
            "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
            "12345678901234567890.12", "-12345678901234567890.12", "0.30000000000000004", "0.10000000000000001",
            "0.1000000000000000055511151231257827021181583404541015625", "123456789012345678901234567890",
            "79228162514264337593543950335", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308", "1e22",
            "1e23", "1e300", "1E400", "-1E400", "1e-400", "1e999999", "1e-999999", "0e99999999999",
            "1e164", "1e165", "1e-128", "1e-129", String(repeating: "9", count: 38), String(repeating: "9", count: 39),
            "0." + String(repeating: "3", count: 38), "0." + String(repeating: "3", count: 39),
            "1." + String(repeating: "0", count: 200), "1" + String(repeating: "0", count: 164),
        ]
        let random = (0..<200).map { _ in
            var digits = String((0...chance.below(42)).map { _ in Character("\(chance.below(10))") })
            digits = String(digits.drop { $0 == "0" })
            if digits.isEmpty { digits = "0" }
            let point = chance.below(digits.count + 1)
            let fraction = digits.dropFirst(point)
            var text = point == 0 ? "0" : String(digits.prefix(point))
            if !fraction.isEmpty, !chance.once(in: 4) { text += "." + fraction }
            if chance.once(in: 5) { text += chance.pick(["e", "E", "e+", "e-"]) + "\(chance.below(30))" }
            return (chance.once(in: 3) ? "-" : "") + text
        }
        return known + random
    }

    package static func dates(_ seed: UInt64) -> [String] {
        var chance = Chance(seed: seed)
        let known = [
            "2026-05-19", "0001-01-01", "9999-12-31", "2024-02-29", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z",
            "9999-12-31T23:59:59.9999999Z", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "2026-02-30", "2026-13-01",
            "9999-12-31T23:30:00-01:00", "0001-01-01T00:30:00+01:00", "2026-05-19T25:00:00Z", "2026-05-19T21:30Z",
            "tomorrow", "", "2026", "-0001-01-01T00:00:00Z",
        ]
        let days = ["2026-05-19", "1969-12-31", "1582-10-15", "2038-01-19"]
        let forms = days.flatMap { day in
            (0...9).flatMap { count in
                ["Z", "", "+02:00", "-11:30", "+14:00"].map { zone in
                    let digits = (0..<count).map { _ in "\(chance.below(10))" }.joined()
                    return "\(day)T21:30:0\(chance.below(10))\(count > 0 ? "." : "")\(digits)\(zone)"
                }
            }
        }
        return known + forms
    }

    package static func uuids(_ seed: UInt64) -> [String] {
        var chance = Chance(seed: seed)
        let known = [
            "6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff-8b86-d011-b42d-00c04fc964ff",
            "6F9619ff-8B86-d011-B42D-00C04FC964ff", "00000000-0000-0000-0000-000000000000",
            "6F9619FF-8B86-D011-B42D-00C04FC964F", "6F9619FF-8B86-D011-B42D-00C04FC964FF0",
            "{6F9619FF-8B86-D011-B42D-00C04FC964FF}", "6F9619FF8B86D011B42D00C04FC964FF",
            "6F9619FF-8B86-D011-B42D-00C04FC964FG", "6F9619FF_8B86_D011_B42D_00C04FC964FF", "", "none",
        ]
        return known + (0..<90).map { _ in uuid(&chance) }
    }

    package static func uuid(_ chance: inout Chance) -> String {
        let form = chance.below(3)
        return [8, 4, 4, 4, 12].map { count in
            (0..<count).map { _ in
                let digit = String(chance.below(16), radix: 16)
                return form == 0 || form == 2 && chance.once(in: 2) ? digit.uppercased() : digit
            }.joined()
        }.joined(separator: "-")
    }
}
