// The unified log of Apple platforms as the receiver of reports.

#if canImport(os)
    import os

    extension Diagnostic {
        /// Returns a receiver that writes reports into the system's log, with a category for each area.
        public static func systemLog(subsystem: String) -> DiagnosticReceiver {
            { report in
                let logger = Logger(subsystem: subsystem, category: report.area.rawValue)
                logger.log(level: report.level.systemLevel, "\(report.message, privacy: .public)")
            }
        }
    }

    extension Diagnostic.Level {
        fileprivate var systemLevel: OSLogType {
            switch self {
            case .debug: .debug
            case .info: .info
            case .warning: .default
            case .error: .error
            }
        }
    }
#endif
