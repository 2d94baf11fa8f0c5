// The page about the store: the answer of `syncline status`.

import Syncline

extension StudioData {
    func status() throws -> JSONValue {
        let state = try states.settled(at: nil)
        let status = try HistoryReading.run(storage) { () throws(SyncError) in
            try StoreStatus(state.reader, in: storage, through: state.event)
        }
        return status.json(of: path).adding(["whole": .boolean(state.isWhole)])
    }
}
