// A client that keeps its connection: a request, its response, the next request. Nil if the server closed it.

import Foundation
import SynclineCore
import SynclineWire

@testable import SynclineServer

final class KeptConnection {
    private let port: UInt16
    private var connection: RawConnection?
    private var buffer = ""

    init(port: UInt16) { self.port = port }

    func ask(_ method: String, _ target: String, _ body: String? = nil, _ headers: [String: String] = [:])
        -> HTTPResponse?
    {
        if connection == nil {
            buffer = ""
            connection = try? RawConnection(port: port)
        }
        guard let connection else { return nil }
        var text = "\(method) \(target) HTTP/1.1\r\nHost: x\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
        connection.send(text + "\r\n" + (body ?? ""))
        guard let response = read(connection) else {
            self.connection = nil
            return nil
        }
        return response
    }

    private func read(_ connection: RawConnection) -> HTTPResponse? {
        while !buffer.contains("\r\n\r\n") {
            let piece = connection.piece()
            if piece.isEmpty { return nil }
            buffer += piece
        }
        guard let end = buffer.firstRange(of: "\r\n\r\n") else { return nil }
        let lines = buffer[..<end.lowerBound].components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        var response = HTTPResponse(status: status)
        for line in lines.dropFirst() {
            let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
            if sides.count == 2 { response.headers.append(HTTPHeader(sides[0], sides[1].trimmed)) }
        }
        let length = response.headers.value("Content-Length").flatMap { Int($0) } ?? 0
        var body = Array(buffer[end.upperBound...].utf8)
        while body.count < length {
            let piece = connection.piece()
            if piece.isEmpty { return nil }
            body += Array(piece.utf8)
        }
        response.body = Array(body.prefix(length))
        buffer = String(decoding: body.dropFirst(length), as: UTF8.self)
        return response
    }
}
