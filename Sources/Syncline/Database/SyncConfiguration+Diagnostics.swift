// What is reported goes through the configuration, which knows whether the app wants to know.

extension SyncConfiguration {
    /// Reports to the app, if it wants to know.
    func report(_ level: Diagnostic.Level, _ area: Diagnostic.Area, _ message: @autoclosure () -> String) {
        diagnostics?(Diagnostic(level, area, message()))
    }
}
