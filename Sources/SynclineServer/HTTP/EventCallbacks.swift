// A stream of events as a response of libmicrohttpd: the library asks for bytes, and the connection is suspended while
// there are none, without the library's buffer.

import CLibrary
import CMicroHTTPD
import SynclineTables
import SynclineWire

/// The objects that a stream's response retains until it is over.
private final class StreamHold {
    let stream: EventStream
    let hub: EventHub
    let connection: OpaquePointer
    let request: ConnectionRequest

    init(_ stream: EventStream, _ hub: EventHub, _ connection: OpaquePointer, _ request: ConnectionRequest) {
        self.stream = stream
        self.hub = hub
        self.connection = connection
        self.request = request
    }
}

/// A connection's address, passed to the code that resumes it.
private struct ConnectionAddress: @unchecked Sendable {
    // Unchecked: the library may be asked to resume from any thread, and the connection outlives its suspension.
    let connection: OpaquePointer
}

func queue(
    events response: HTTPResponse, _ interest: EventInterest, _ request: ConnectionRequest,
    _ connection: OpaquePointer, _ server: HTTPServer
) -> MHD_Result {
    server.note(response, to: request)
    guard let hub = request.front?.events else { return .NO }
    let address = ConnectionAddress(connection: connection)
    let descriptor = syncline_mhd_socket(connection)
    var write: (@Sendable ([UInt8]) -> ListenSocket.Sending)?
    // An older client gets no frames, and only the library can encrypt.
    if request.version == "HTTP/1.1", server.configuration.tls == nil {
        write = { ListenSocket.sendAtOnce($0, descriptor) }
    }
    let stream = EventStream(write: write) { MHD_resume_connection(address.connection) }
    request.begin(stream)
    let hold = Unmanaged.passRetained(StreamHold(stream, hub, connection, request))
    guard
        let made = MHD_create_response_from_callback(UInt64.max, 256, readEvents, hold.toOpaque(), releaseEvents)
    else {
        hold.release()
        return .NO
    }
    defer { MHD_destroy_response(made) }
    for header in response.headers { MHD_add_response_header(made, header.name, header.value) }
    MHD_add_response_header(made, RequestID.header, request.id)
    hub.add(stream, interest)
    server.listening.watch(descriptor, stream) { stream.end() }
    enter(.listening, connection)
    // A client that reads nothing is detected early and given up; while there is nothing to send, no time counts.
    var size: Int32 = 4096
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    return MHD_queue_response(connection, UInt32(response.status), made)
}

private let readEvents: MHD_ContentReaderCallback = { context, _, buffer, limit in
    guard let context, let buffer else { return -1 }
    let hold = Unmanaged<StreamHold>.fromOpaque(context).takeUnretainedValue()
    switch hold.stream.next(atMost: limit, suspend: { MHD_suspend_connection(hold.connection) }) {
    case .bytes(let bytes):
        UnsafeMutableRawBufferPointer(start: buffer, count: limit).copyBytes(from: bytes)
        hold.request.bytesOut += bytes.count
        return bytes.count
    case .wait:
        giveBack(UnsafeMutableRawBufferPointer(start: buffer, count: limit))
        return 0
    case .end: return -1
    }
}

/// Gives back the whole pages of the library's buffer, about 60 KiB, which a listener needs for moments only.
private func giveBack(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.baseAddress else { return }
    let page = sysconf(Int32(_SC_PAGESIZE))
    let skipped = -Int(bitPattern: start) & (page - 1)
    let size = (buffer.count - skipped) & -page
    if size > 0 { madvise(start + skipped, size, MADV_DONTNEED) }
}

private let releaseEvents: MHD_ContentReaderFreeCallback = { context in
    guard let context else { return }
    let hold = Unmanaged<StreamHold>.fromOpaque(context).takeRetainedValue()
    hold.hub.remove(hold.stream)
}
