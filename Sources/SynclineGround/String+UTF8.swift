// Strings from bytes that may not be UTF-8.

extension String {
    /// Makes the string of these bytes; nil if they are not valid UTF-8.
    @inlinable public init?(validUTF8 bytes: UnsafeRawBufferPointer) {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            self.init(validating: bytes, as: UTF8.self)
        } else {
            self.init(unrepairedUTF8: bytes)
        }
    }

    /// The same for older systems: decoding repairs invalid bytes, and so changes the string.
    @inlinable public init?(unrepairedUTF8 bytes: UnsafeRawBufferPointer) {
        var text = String(decoding: bytes, as: UTF8.self)
        guard text.withUTF8({ $0.elementsEqual(bytes) }) else { return nil }
        self = text
    }
}
