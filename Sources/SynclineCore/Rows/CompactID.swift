// A row's id in a result: a UUID is kept as its sixteen bytes, so that a result of many rows has no string for each of them.

import SynclineGround

/// An id, whose string is made when it is requested. Two are equal if their strings have the same bytes.
package struct CompactID: Hashable, Sendable {
    private enum Form: Hashable {
        case uuid(UUIDDigits)
        case text(ExactString)
    }

    private let form: Form

    init(_ text: String) {
        var text = text
        let found = text.utf8.count == 36 ? text.withUTF8 { TextForm(UnsafeRawBufferPointer($0)) } : nil
        if case .uuid(let uuid)? = found { form = .uuid(uuid) } else { form = .text(ExactString(text)) }
    }

    /// Reads an id in the form that keys have.
    init(_ key: inout ByteReader) throws(MalformedBytes) {
        switch try key.byte() {
        case 1: form = .uuid(UUIDDigits(first: try key.fixed(), second: try key.fixed(), isUpper: false))
        case 2: form = .uuid(UUIDDigits(first: try key.fixed(), second: try key.fixed(), isUpper: true))
        case 3: form = .text(ExactString(String(decoding: key.rest, as: UTF8.self)))
        default: throw MalformedBytes()
        }
    }

    package var text: String {
        switch form {
        case .uuid(let uuid): uuid.text
        case .text(let id): id.text
        }
    }

    /// Appends it in the form that keys have.
    func append(to writer: inout ByteWriter) {
        switch form {
        case .uuid(let uuid):
            writer.append(uuid.isUpper ? 2 : 1)
            writer.append(uuid)
        case .text(let id):
            writer.append(3)
            var text = id.text
            text.withUTF8 { writer.append(Bytes($0)) }
        }
    }
}
