// A thread for work that blocks for long. libdispatch has at most 255 threads for all queues together: with one for each
// tenant, none would be left for requests.

import CLibrary
import Dispatch

enum OwnThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs the body on a new thread, which then ends.
    static func run(_ body: @escaping @Sendable () -> Void) {
        let held = Unmanaged.passRetained(Work(body))
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(attributes, 1 << 20)
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(
                &thread, attributes,
                { context in
                    Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                    return nil
                }, held.toOpaque())
        #else
            var thread = pthread_t()
            let code = pthread_create(
                &thread, attributes,
                { context in
                    if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                    return nil
                }, held.toOpaque())
        #endif
        if code != 0 { DispatchQueue.global().async { held.takeRetainedValue().body() } }
    }
}
