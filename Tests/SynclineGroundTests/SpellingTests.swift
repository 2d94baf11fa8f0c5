// Strings by their bytes and scalars.

import SynclineGround
import Testing

@Suite struct SpellingTests {
    @Test func `a quotation mark is doubled, also before an accent`() {
        #expect("milk".quoted(by: "'") == "'milk'")
        #expect(scalars("\"\u{301}".quoted(by: "\"")) == scalars("\"\"\"\u{301}\""))
        #expect(scalars("a'\u{301}'b".quoted(by: "'")) == scalars("'a''\u{301}''b'"))
        #expect("it's".quoted(by: "'", escaping: "'\\''") == "'it'\\''s'")
    }

    @Test func `a plain path begins with a folder`() {
        #expect(["/tmp/a", "/", "/\u{301}"].allSatisfy { $0.plainPath == $0 })
        #expect(
            [":memory:", "file:x?mode=memory", "a"].map(\.plainPath) == ["./:memory:", "./file:x?mode=memory", "./a"])
    }

    @Test func `strings that Unicode calls equivalent are different`() {
        let (one, two) = ("caf\u{e9}", "cafe\u{301}")
        #expect(one == two && !one.hasSameBytes(as: two))
        #expect(ExactString(one) != ExactString(two) && ExactString(one) == ExactString(one))
        #expect(Set([one, two].map(ExactString.init)).count == 2)
        #expect(ExactString(two) < ExactString(one))
    }

    private func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }
}
