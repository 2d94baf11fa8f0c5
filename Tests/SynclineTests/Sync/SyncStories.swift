// Stories with two sides: changes by another client, later changes by the app, and the decision.

enum SyncStories {
    /// A conflict over a row with later changes by the app, and what each decision leaves to be pushed.
    private static func followed(
        _ name: String, by change: String, with decision: String, then rest: String
    ) -> String {
        #"""
        {"name": "\#(name)", "protocol": "datasync3", "steps": [
            {"server": {"table": "t", "rows": [{"id": "r", "a": 1, "b": 1, "c": 1}]}},
            {"pull": {"table": "t", "queryId": "q", "outcome": "complete", "received": 1, "changed": 1}},
            {"update": {"table": "t", "item": {"id": "r", "a": 2, "b": 2}}},
            {"push": {"exchanges": [{"request": {"method": "PUT"}, "response": {"status": 412,
                "body": {"id": "r", "a": 9, "b": 1, "c": 9, "version": "v9"}}}],
                "outcome": "incomplete", "operations": [{"id": "r", "outcome": "conflict"}]}},
            {"conflicts": [{"id": "r", "state": "conflict", "base": {"a": 1}, "mine": {"a": 2, "b": 2},
                "server": {"a": 9, "c": 9}}]},
            \#(change),
            {"reopen": {}},
            {"resolve": {"table": "t", "id": "r", \#(decision)}},
            \#(rest),
            {"crash": {}},
            {"conflicts": []}]}
        """#
    }

    private static let edit = #"{"update": {"table": "t", "item": {"id": "r", "c": 3}}}"#
    private static let removal = #"{"delete": {"table": "t", "id": "r"}}"#

    private static func pending(_ kind: String, _ fields: String) -> String {
        #"{"pending": [{"id": "r", "kind": "\#(kind)", "state": "pending", "fields": [\#(fields)]}]}"#
    }

    static let all =
        "["
        + [
            followed(
                "the server's row is taken, and an edit after the conflict stays on top", by: edit,
                with: #""with": "take-server""#,
                then: pending("update", #""c""#)
                    + #", {"get": {"table": "t", "id": "r", "row": {"a": 9, "b": 1, "c": 3}}}"#),
            followed(
                "mine is kept, and a later edit is sent with it", by: edit, with: #""with": "keep-mine""#,
                then: pending("update", #""a", "b", "c""#)
                    + #", {"get": {"table": "t", "id": "r", "row": {"a": 2, "b": 2, "c": 3}}}"#),
            followed(
                "both sides changed a column, so a merge is refused and nothing changes", by: edit,
                with: #""with": "merge", "error": "merge-conflict""#,
                then: #"{"conflicts": [{"id": "r"}]}, {"resolve": {"table": "t", "id": "r", "with": "take-server"}}"#),
            followed(
                "a row of the app's choosing, and an edit after the conflict stays on top of it", by: edit,
                with: #""with": "row", "row": {"a": 5, "b": 5}"#,
                then: pending("update", #""a", "b", "c""#)
                    + #", {"get": {"table": "t", "id": "r", "row": {"a": 5, "b": 5, "c": 3}}}"#),
            followed(
                "the server's row is taken, and a delete after the conflict is kept", by: removal,
                with: #""with": "take-server""#,
                then: pending("delete", "") + #", {"rows": {"table": "t", "rows": []}}"#),
            followed(
                "mine is kept, and a later delete takes its place", by: removal, with: #""with": "keep-mine""#,
                then: pending("delete", "") + #", {"rows": {"table": "t", "rows": []}}"#),
            followed(
                "a row of the app's choosing is deleted by a delete after the conflict", by: removal,
                with: #""with": "row", "row": {"a": 5}"#,
                then: pending("delete", "") + #", {"rows": {"table": "t", "rows": []}}"#),
            followed(
                "the app decides to delete, and a later edit makes the row again", by: edit,
                with: #""with": "row", "row": {}, "as": "delete""#,
                then: #"{"conflicts": []}"#),
            gone, parked, merged,
        ].joined(separator: ",") + "]"

    private static let gone = #"""
        {"name": "a row that is gone is inserted again with the changes after the conflict", "protocol": "zumo2", "steps": [
            {"server": {"table": "t", "rows": [{"id": "r", "a": 1, "b": 1}]}},
            {"pull": {"table": "t", "queryId": "q"}},
            {"update": {"table": "t", "item": {"id": "r", "a": 2}}},
            {"push": {"exchanges": [{"request": {"method": "PATCH"}, "response": {"status": 404}}],
                "outcome": "incomplete", "operations": [{"id": "r", "code": "row-gone"}]}},
            {"get": {"table": "t", "id": "r", "row": {"a": 2, "b": 1}}},
            {"update": {"table": "t", "item": {"id": "r", "b": 7}}},
            {"resolve": {"table": "t", "id": "r", "with": "keep-mine"}},
            {"pending": [{"id": "r", "kind": "insert", "fields": ["a", "b"]}]},
            {"push": {"exchanges": [{"request": {"method": "POST", "body": {"id": "r", "a": 2, "b": 7}},
                "response": {"status": 201, "body": {"id": "r", "a": 2, "b": 7, "version": "n"}}}],
                "outcome": "complete"}},
            {"pending": []}]}
        """#

    private static let parked = #"""
        {"name": "a refused insert is changed, tried again, and dropped at last", "protocol": "datasync3", "steps": [
            {"insert": {"table": "t", "item": {"id": "r", "a": 1}}},
            {"push": {"exchanges": [{"request": {"method": "POST", "headers": {"X-Syncline-Operation-Id": "$first"}},
                "response": {"status": 422, "body": {"message": "a is too small"}}}], "outcome": "incomplete"}},
            {"conflicts": [{"id": "r", "state": "parked", "status": 422, "message": "a is too small"}]},
            {"update": {"table": "t", "item": {"id": "r", "a": 2}}},
            {"push": {"exchanges": [], "outcome": "incomplete"}},
            {"resolve": {"table": "t", "id": "r", "with": "keep-mine"}},
            {"pending": [{"id": "r", "kind": "insert", "fields": ["a"]}]},
            {"push": {"exchanges": [{"request": {"method": "POST", "body": {"id": "r", "a": 2},
                "headers": {"X-Syncline-Operation-Id": "$second"}}, "response": {"status": 422}}],
                "outcome": "incomplete"}},
            {"resolve": {"table": "t", "id": "r", "with": "discard"}},
            {"rows": {"table": "t", "rows": []}},
            {"pending": []}]}
        """#

    private static let merged = #"""
        {"name": "a merge that can be keeps what is mine alone", "protocol": "zumo2", "steps": [
            {"server": {"table": "t", "rows": [{"id": "r", "a": 1, "b": 1}]}},
            {"pull": {"table": "t", "queryId": "q"}},
            {"update": {"table": "t", "item": {"id": "r", "a": 2}}},
            {"push": {"exchanges": [{"request": {"method": "PATCH", "body": {"a": 2}}, "response": {"status": 412,
                "body": {"id": "r", "a": 1, "b": 9, "version": "v9"}}}], "outcome": "incomplete"}},
            {"update": {"table": "t", "item": {"id": "r", "b": 4}}},
            {"resolve": {"table": "t", "id": "r", "with": "merge"}},
            {"push": {"exchanges": [{"request": {"method": "PATCH", "headers": {"If-Match": "\"v9\""},
                "body": {"a": 2, "b": 4}}, "response": {"status": 200,
                "body": {"id": "r", "a": 2, "b": 4, "version": "v10"}}}], "outcome": "complete"}},
            {"get": {"table": "t", "id": "r", "row": {"a": 2, "b": 4, "version": "v10"}}}]}
        """#
}
