// The process: passes the command line to the server. Everything else is in Sources/SynclineServer.

import SynclineServer

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

exit(ServerTool.run(Array(CommandLine.arguments.dropFirst())))
