// The language of rules, the times that they make, and the configurations that are refused.

import SynclineCore
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RuleTests {
    private func fault(_ text: String) -> String {
        do throws(RuleError) {
            _ = try RowRule(text)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `a rule becomes paths from the caller to buckets of rows`() throws {
        let rule = try RowRule(
            "owner eq auth.sub or list in members(list where user eq auth.sub and role eq 'it''s') or kind eq 'open'")
        #expect(rule.alternatives.map(\.bucket.text) == ["owner", "list", "kind eq 'open'"])
        #expect(
            rule.alternatives.map { $0.path.map(\.text) } == [[], ["members(list where user and role eq 'it''s')"], []])
        let deep = try RowRule("account in account(id where household in member(household where user eq auth.sub))")
        #expect(
            deep.alternatives[0].path.map(\.text) == ["member(household where user)", "account(id where household)"])
        let same = try RowRule("x eq true and a eq 'b' and list in m(list where u eq auth.sub)")
        let other = try RowRule("list in m(list where u eq auth.sub) and a eq 'b' and x eq true")
        #expect(same.alternatives == other.alternatives)
    }

    @Test func `a rule is explained in words`() throws {
        let rule = try RowRule(
            "owner eq auth.sub or account in account(id where household in member(household where user eq auth.sub)) or kind eq 'open'"
        )
        #expect(
            rule.explanation
                == "rows whose owner is the caller; and rows whose account is the id of a row of account with a "
                + "household that is the household of a row of member with a user that is the caller; and rows whose "
                + "kind is \"open\" and for every caller")
        let roles = try RowRule("role:hr and done eq true or list in m(l where u eq auth.sub) and role:it or role:a")
        #expect(
            roles.explanation
                == "rows whose done is true and for every caller with the role hr; and rows whose list is the l of a row "
                + "of m with a u that is the caller with the role it; and rows for every caller with the role a")
    }

    @Test func `an error names its place`() {
        #expect(fault("") == "expected a column at character 1")
        #expect(fault("owner") == "expected eq or in at character 6")
        #expect(fault("owner = auth.sub") == "a rule can't contain '=' at character 7")
        #expect(
            fault("owner eq auth.name")
                == "expected auth.sub, a string in quotation marks, true or false at character 10")
        #expect(fault("owner eq 'x") == "a string without its end at character 10")
        #expect(fault("a eq auth.sub b") == "expected and, or, or the end of the rule at character 15")
        #expect(fault("a eq auth.sub or") == "expected a column at character 17")
        #expect(fault("role:hr eq 'x'") == "expected and, or, or the end of the rule at character 9")
        #expect(fault("role:hr and role:it").hasPrefix("'role:it' can't be a column of a rule"))
        #expect(fault("role: or a eq 'b'").hasPrefix("'role:' can't be a column of a rule"))
        #expect(fault("l in m(l where role:hr and u eq auth.sub)").hasPrefix("'role:hr' can't be a column of a rule"))
        #expect(fault("l in m(l where x eq 'y')").hasPrefix("a set that does not lead to auth.sub"))
        #expect(fault("a eq auth.sub and l in m(l where u eq auth.sub)").contains("no index could answer"))
        let deep = "a in t(a where b in u(b where c in v(c where d eq auth.sub)))"
        #expect(fault(deep) == "more than 2 tables between the caller and the row at character 36")
    }

    @Test func `intervals meet, join and are cut as sets of numbers are`() {
        var chance = Chance(seed: 5)
        func stamp(_ number: Int) -> Stamp { Stamp(change: Int64(number), time: 0) }
        func interval() -> RightInterval {
            let begin = chance.below(12)
            return RightInterval(from: stamp(begin), to: chance.once(in: 4) ? nil : stamp(begin + chance.below(5)))
        }
        func numbers(_ interval: RightInterval) -> Set<Int> {
            Set(
                (0..<20).filter { number in
                    interval.begin.change <= number && interval.end.map { number < $0.change } ?? true
                })
        }
        for _ in 0..<3000 {
            let some = (0..<chance.below(5)).map { _ in interval() }
            let (union, wanted) = (RightIntervals(merging: some), Set(some.flatMap(numbers)))
            #expect(Set(union.list.flatMap { numbers($0) }) == wanted)
            for (one, next) in zip(union.list, union.list.dropFirst()) {
                #expect(one.end.map { $0.change < next.begin.change } == true)
            }
            let cut = interval()
            let common = Set(union.intersection(cut).list.flatMap { numbers($0) })
            #expect(common == wanted.intersection(numbers(cut)))
            #expect(union.intersection(cut).list.allSatisfy { !numbers($0).isEmpty })
        }
    }

    // MARK: Configuration

    private func refusal(_ tables: String) throws -> String {
        do {
            _ = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":{\#(tables)}}"#)
            return ""
        } catch let failure as StartFailure {
            return failure.message
        }
    }

    @Test func `a configuration with a rule that can't hold is refused`() throws {
        let lists = #""list":{"columns":{"owner":"string"},"read":"owner eq auth.sub","write":"owner eq auth.sub"}"#
        let share =
            #""share":{"columns":{"user":"string","list":"string"},"write":"list in list(id where owner eq auth.sub)"}"#
        let read = #""read":"list in share(list where user eq auth.sub)""#
        let note = #""note":{"columns":{"list":"string"},\#(read)}"#
        #expect(try refusal([lists, share, note].joined(separator: ",")) == "")
        #expect(try refusal(note) == "tables.note.read: there is no table share")
        #expect(
            try refusal(#""note":{\#(read)},\#(share),\#(lists)"#).contains("column list of table note is not declared")
        )
        #expect(
            try refusal(#""note":{"columns":{"list":"number"},\#(read)},\#(share),\#(lists)"#).contains("is number"))
        #expect(
            try refusal(#"\#(note),"share":{"columns":{"user":"string","list":"string"}}"#)
                .contains("every caller may insert rows of table share"))
        let own = share.replacing("list in list(id where owner eq auth.sub)", with: "user eq auth.sub")
        #expect(try refusal("\(note),\(own)").contains("name himself in a row that leads to another's list"))
        let onlyRead = share.replacing("write", with: "read")
        #expect(try refusal("\(note),\(lists),\(onlyRead)").contains("every caller may insert"))
        let led = own.replacing("user eq auth.sub", with: "role:admin or role:clerk and user eq auth.sub")
        #expect(try refusal("\(note),\(led)") == "")
        #expect(
            try refusal(#""n":{"columns":{"o":"string"},"read":"o eq auth.sub or role:hr"}"#)
                .contains("n.read: a role can't decide which rows are seen"))
        let hard = note.replacing(#""columns""#, with: #""softDelete":false,"columns""#)
        #expect(try refusal("\(hard),\(share),\(lists)").contains("must keep its tombstones"))
        #expect(try refusal(#""n":{"perUser":"owner","read":"owner eq auth.sub"}"#).contains("can't have perUser"))
        #expect(
            try refusal(#""n":{"source":"m","columns":{"o":"string"},"read":"o eq auth.sub"}"#).contains(
                "another program"))
        #expect(try refusal(#""n":{"read":"o eq auth"}"#).contains("tables.n.read is not a rule: expected auth.sub"))
        #expect(try refusal(#""n":{"read":"someone"}"#).contains("can't be 'someone'"))
    }

    @Test func `rules are tested with the configuration's examples`() throws {
        func refusal(_ sees: String, _ updates: String = "{}", _ more: String = "") throws -> String {
            let text = #"""
                {"auth":{"key":"\#(testSecret)"},
                "tables":{"note":{"columns":{"list":"string"},"read":"list in share(list where user eq auth.sub)",
                    "update":"list in share(list where user eq auth.sub and role eq 'w') or role:w and list eq 'l2'"},
                  "share":{"columns":{"user":"string","list":"string","role":"string"},"insert":"role:admin",
                    "update":"role:admin","delete":"role:admin","undelete":"role:admin"}},
                "examples":{"a share":{"rows":{\#(more)"note":[{"id":"a","list":"l1"},{"id":"b","list":"l2"}],
                    "share":[{"id":"1","user":"ann","list":"l1","role":"w"},{"id":"2","user":"bob","list":"l2"}]},
                  "sees":\#(sees),"updates":\#(updates)}}}
                """#
            do {
                _ = try configuration(text)
                return ""
            } catch let failure as StartFailure {
                return failure.message
            }
        }
        let right = #"{"ann":{"note":["a"]},"bob":{"note":["b"]},"eve":{"note":[]}}"#
        #expect(try refusal(right, #"{"ann":{"note":["a"]},"bob":{"note":[]}}"#) == "")
        #expect(
            try refusal(#"{"ann":{"note":[]}}"#) == "examples.a share: ann may see a of note, but should not")
        #expect(
            try refusal(#"{"ann":{"note":["a","b"]}}"#) == "examples.a share: ann may not see b of note, but should")
        #expect(
            try refusal("{}", #"{"bob":{"note":["b"]}}"#)
                == "examples.a share: bob may not update b of note, but should")
        #expect(try refusal("{}", #"{"bob role:w":{"note":["b"]}}"#) == "")
        let both = #"{"ann":{"note":["a"]},"bob":{"note":["b"]}}"#
        #expect(try refusal("{}", #"{},"deletes":\#(both)"#) == "")
        #expect(
            try refusal("{}", #"{},"deletes":{"bob":{"note":[]}}"#)
                == "examples.a share: bob may delete b of note, but should not")
        #expect(try refusal(#"{"ann":{"nota":[]}}"#) == "examples.a share: there is no table nota")
        #expect(try refusal("{}", "{}", #""nota":[{"id":"a"}],"#) == "examples.a share: there is no table nota")
        #expect(try refusal(#"{"ann":{"note":"a"}}"#) == "examples.a share.sees.ann.note must be a list of ids")
    }

    @Test func `a table with rules needs a login and keys to check it`() throws {
        let tables = #""n":{"columns":{"o":"string"},"read":"o eq auth.sub"}"#
        #expect(throws: StartFailure.self) { try configuration("{\"tables\":{\(tables)}}") }
        let desk = try ServiceDesk(.memory, tables: "{\(tables)}")
        for target in ["/tables/n", "/tables/n/x", "/tables/n/changes?since="] {
            #expect(try desk.ask("GET", target).status == 401)
        }
    }
}
