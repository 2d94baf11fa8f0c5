// The process: passes the command line to the server. Everything else is in Sources/SynclineServer.

import CLibrary
import SynclineServer

exit(ServerTool.run(Array(CommandLine.arguments.dropFirst())))
