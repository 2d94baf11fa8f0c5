// The version of the library, the tool and the server.

/// It is in the log of a store, in reports and in answers of the tools.
public let synclineVersion = "0.1.0"
