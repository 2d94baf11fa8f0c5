// The state before the first event as lines of an export or a report, if earlier history was removed.

import Syncline
import SynclineGround

enum StateLines {
    static func forEach(of state: Projector, _ body: (JSONValue) throws -> Void) throws {
        let address = JSONValue.string("@\(state.through)")
        try body([
            "address": address,
            "state": [
                "fold": .number(Projector.version), "digest": .string(state.store.digest.description),
                "changes": state.totals.json,
            ],
        ])
        try StateTransfer.forEachPiece(of: state) { piece in
            try body(["address": address, "entries": .string(Base64.encode(piece))])
        }
    }
}
