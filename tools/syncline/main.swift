// The process: gives the tool its descriptors, its environment and its words. Everything else is in Tool/.

import SynclineTool

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

ignoreBrokenPipes()
let host = Host(
    environment: .current(), output: DescriptorSink(STDOUT_FILENO), errors: DescriptorSink(STDERR_FILENO),
    input: DescriptorLines(STDIN_FILENO), interrupt: Interrupt(listensToSignals: true))
exit(await Tool(host).run(Array(CommandLine.arguments.dropFirst())).rawValue)
