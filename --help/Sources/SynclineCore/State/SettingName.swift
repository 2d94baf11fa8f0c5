// The names of the settings that the store itself uses.

/// Names of settings.
package enum SettingName {
    package static let ids = "ids"
    package static let retention = "retention"
    package static let device = "device"
    package static let place = "place"
    package static let serverProtocol = "protocol"
    /// The files of tributaries whose changes are in the log, and which may still exist.
    package static let takenIn = "taken-in"
}
