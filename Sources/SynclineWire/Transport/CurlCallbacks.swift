// The functions that C calls: the loop's thread, and the pieces of a response as they arrive. Not closures, because
// they run on a thread that no actor knows.

#if os(Linux)
    import CLibrary

    func curlThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        // Blocks all signals, which are for the app's threads; SIGPIPE must not arrive here either.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }

    /// Takes a piece of the body. Returning anything but the number of bytes given ends the transfer.
    func curlBody(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
    }

    /// Takes a whole header.
    func curlHeader(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
    }
#endif
