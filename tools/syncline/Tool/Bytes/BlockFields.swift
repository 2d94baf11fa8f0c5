// Names every byte of a checkpoint's note and of its blocks, as docs/STATE.md describes them.

import SynclineCore
import SynclineGround

/// What a block of a checkpoint is, according to its note and its index.
enum BlockRole: String {
    case entries, index, filter, symbols
    /// The addresses of the pieces of a part that is too large for a frame, and one of these.
    case list, piece
}

/// A block with what the rest of its file says of it.
struct BlockContent {
    var role: BlockRole?
    /// The strings that the codes of its run stand for.
    var symbols: [[UInt8]] = []
}

extension FieldWalk {
    mutating func addBlock(_ content: BlockContent) {
        switch content.role {
        case .entries? where bytes.first == 0: addClaims(ColumnFields(Array(bytes), content.symbols).claims)
        case .entries?: addRows()
        case .index?: addIndex()
        case .filter?: while bytes.count >= 64 { add("part of the filter", 64) }
        case .symbols?: addSymbols()
        case .list?:
            var number = 0
            while !bytes.isEmpty {
                number += 1
                addVarint("address of piece \(number)")
            }
        case .piece?: addRest("piece of a block")
        case nil: addRest("block")
        }
    }

    // MARK: The note

    /// The note in the index of a checkpoint.
    mutating func addStateNote() {
        let version = addVarint("version of the state")
        // Another version has other fields.
        guard version == Projector.version else { return }
        for name in ["made", "done", "superseded", "cancelled", "resolved"] { addVarint("changes \(name)") }
        for name in ["first", "second"] { add("\(name) half of the digest", 8, Hexadecimal.text(peek(8), digits: 16)) }
        let runs = addVarint("number of runs")
        var number: UInt64 = 0
        while number < runs, !bytes.isEmpty {
            number += 1
            addVarint("file of run \(number)") { "@\($0)" }
            for kind in ["index", "filter", "symbol"] {
                let count = addVarint("number of \(kind) blocks of run \(number)")
                var place: UInt64 = 0
                while place < count, !bytes.isEmpty {
                    place += 1
                    addVarint("address of \(kind) block \(place) of run \(number)", FieldWalk.address)
                }
            }
            addVarint("entries of run \(number)")
            addVarint("bytes of all keys and values of run \(number)")
        }
    }

    /// An address; the highest bit marks that of a list.
    private static func address(_ number: UInt64) -> String {
        number >> 63 == 0 ? "\(number)" : "list at \(number & ~(1 << 63))"
    }

    // MARK: Blocks

    private mutating func addIndex() {
        var number = 0
        while !bytes.isEmpty {
            number += 1
            let length = addVarint("length of first key \(number)")
            add("first key \(number)", Int(clamping: length), FieldWalk.key(bytes.prefix(Int(clamping: length))))
            addVarint("address of block \(number)", FieldWalk.address)
            addVarint("values of block \(number)")
        }
    }

    private mutating func addSymbols() {
        let count = Int(addNumber("number of symbols", 1))
        let lengths = bytes.prefix(count).map { Int($0) }
        for (number, length) in lengths.enumerated() {
            add("length of symbol \(number)", 1, "\(length)", isRight: (1...8).contains(length))
        }
        for (number, length) in lengths.enumerated() {
            add("symbol \(number)", length, ColumnFields.text(bytes.prefix(length)))
        }
    }

    private mutating func addRows() {
        let parts = addVarint("number of parts")
        var begins: Set<Int> = [0]
        var part: UInt64 = 1
        while part < parts, !bytes.isEmpty {
            part += 1
            begins.insert(Int(peek(2)))
            addNumber("offset of part \(part)", 2)
        }
        let start = bytes.startIndex
        var (number, key) = (0, [UInt8]())
        while !bytes.isEmpty {
            number += 1
            let most = begins.contains(bytes.startIndex - start) ? 0 : key.count
            let shares = peekVarint().map { $0 <= most } ?? false
            let shared = Int(clamping: addVarint("shared bytes of key \(number)", isRight: shares))
            let rest = Int(clamping: addVarint("rest of key \(number), length"))
            let length = addVarint("length of value \(number)") { $0 == 0 ? "removed" : "\($0 - 1)" }
            key = Array(key.prefix(shared) + bytes.prefix(rest))
            add("rest of key \(number)", rest, FieldWalk.key(key[...]))
            if length > 0 { add("value \(number)", Int(clamping: length - 1)) }
        }
    }

    /// A key of the state in words.
    static func key(_ key: ArraySlice<UInt8>) -> String {
        let names = ["", "shape", "cursor", "row", "setting", "", "failing", "index entry", "unreadable row", "undone"]
        guard let kind = key.first else { return "" }
        let name = kind == 0x7f ? "journal" : Int(kind) < names.count ? names[Int(kind)] : ""
        let rest = key.dropFirst()
        let parts = rest.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        switch kind {
        case 4: return "\(name) \(ColumnFields.text(rest))"
        case 2 where parts.count == 2: return "\(name) \(ColumnFields.text(parts[0])) \(ColumnFields.text(parts[1]))"
        case 3 where parts.count == 2: return "\(name) \(ColumnFields.text(parts[0])) \(id(parts[1]))"
        default: return "\(name) \(Hexadecimal.text(of: rest))"
        }
    }

    /// An id in a key, after its form.
    static func id(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.first == 3 ? ColumnFields.text(bytes.dropFirst()) : Hexadecimal.text(of: bytes.dropFirst())
    }
}
