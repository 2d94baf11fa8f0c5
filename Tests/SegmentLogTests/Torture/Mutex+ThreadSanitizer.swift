// In builds for the thread sanitizer the lock is the one it can see.

#if THREAD_SANITIZER
    import SegmentLog

    typealias Mutex = SegmentLog.Mutex
#endif
