// The code of "Background sync" that needs an Apple platform. On Linux, `tools/apple-check` type-checks it.

#if os(iOS)
    import BackgroundTasks
    import Foundation
    import SwiftUI
    import Syncline

    enum BackgroundRefresh {
        static let identifier = "com.example.field.refresh"

        /// Asks the system to start a refresh. It decides when, in a quarter of an hour at the earliest.
        static func schedule() {
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
            try? BGTaskScheduler.shared.submit(request)
        }

        /// Call it before the app has finished launching.
        static func register(_ store: Task<StoreUse, any Error>) {
            _ = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                nonisolated(unsafe) let task = task  // it may be completed on any thread
                schedule()  // a request is used up when its task starts
                let work = Task {
                    let isComplete = await (try? store.value)?.syncInBackground() ?? false
                    task.setTaskCompleted(success: isComplete)
                }
                task.expirationHandler = { work.cancel() }
            }
        }
    }

    @available(iOS 17, *)
    struct NotesScene: Scene {
        let store: Task<StoreUse, any Error>  // opens the store
        @Environment(\.scenePhase) private var phase

        var body: some Scene {
            WindowGroup {
                Text("…")
            }
            .onChange(of: phase, initial: true) {
                if phase == .background { BackgroundRefresh.schedule() }
                let isInForeground = phase != .background
                Task { try await store.value.setForeground(isInForeground) }
            }
            .backgroundTask(.appRefresh(BackgroundRefresh.identifier)) {
                BackgroundRefresh.schedule()
                _ = await (try? store.value)?.syncInBackground()
            }
        }
    }
#endif
