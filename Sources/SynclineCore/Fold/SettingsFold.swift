// Folds what a store says of itself: its settings, and the device that writes.

struct SettingsFold {
    let state: FoldState

    /// The device that writes from now on: a copy of the store has a device of its own.
    func apply(_ opening: Opening) throws(SyncError) {
        if !opening.device.isEmpty { try state.put(setting: SettingName.device, .string(opening.device)) }
        if let place = opening.place { try state.put(setting: SettingName.place, .string(place)) }
    }

    func set(_ name: String, _ value: Value?) throws(SyncError) {
        try state.put(setting: name, value)
        guard name == SettingName.ids else { return }
        let ids: IDComparison = value == .string("ignore-case") ? .ignoreCase : .exact
        if ids == .ignoreCase, state.ids == .exact { try IDFold(state: state).ignoreCase() }
        state.ids = ids
    }
}
