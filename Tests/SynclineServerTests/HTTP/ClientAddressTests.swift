// The address of a client in logs and limits.

import Foundation
import Testing

@testable import SynclineServer

@Suite("A client's address")
struct ClientAddressTests {
    private func address(_ family: Int32, _ text: String) -> ClientAddress {
        var storage = sockaddr_storage()
        storage.ss_family = sa_family_t(family)
        return withUnsafeMutablePointer(to: &storage) { storage in
            let raw = UnsafeMutableRawPointer(storage)
            inet_pton(family, text, raw + (family == AF_INET ? 4 : 8))
            return ClientAddress(raw.assumingMemoryBound(to: sockaddr.self))
        }
    }

    @Test("is written in the usual notation", arguments: ["127.0.0.1", "255.255.255.255", "0.0.0.0"])
    func version4(_ text: String) {
        #expect(address(AF_INET, text).text == text)
    }

    @Test("may be of the newer kind", arguments: ["::1", "2001:db8::ff00:42:8329", "::ffff:10.0.0.1"])
    func version6(_ text: String) {
        #expect(address(AF_INET6, text).text == text)
    }

    @Test("is a dash if there is none")
    func other() {
        #expect(address(AF_UNIX, "").text == "-")
        #expect(ClientAddress.unknown.text == "-")
    }
}
