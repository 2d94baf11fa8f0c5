// The process: passes its descriptors, its environment and its arguments to the tool. Everything else is in Tool/.

import CLibrary
import SynclineTool

reportFailedWrites()
Leftovers.guardProcess()
let words = Array(CommandLine.arguments.dropFirst())
let environment = Environment.current()
let pager = Pager.command(words, environment).flatMap(RunningPager.init)
let host = Host(
    environment: environment, output: pager?.sink ?? DescriptorSink(STDOUT_FILENO),
    errors: DescriptorSink(STDERR_FILENO), input: DescriptorLines(STDIN_FILENO),
    interrupt: Interrupt(listensToSignals: true))
let code = await Tool(host).run(words)
host.reports.putAway()
pager?.finish()
exit(code.rawValue)
