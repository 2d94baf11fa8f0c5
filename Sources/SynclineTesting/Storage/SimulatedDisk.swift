// The state of a simulated disk, as a value: what is visible, what is durable, and the changes between the two in
// the order they were made. Copies share everything until one of them changes, so a state after a crash costs only
// what differs.
//
// A change is one or more items, and each item may persist without any other: a piece of a file that was written
// (512 or 4096 bytes, always with the piece's whole new content), a new size of a file, a directory entry created or
// removed, a whole rename. Sync makes changes durable; a crash keeps any subset of the items.

import SegmentLog

struct SimulatedDisk: Sendable {
    enum Entry: Hashable, Sendable {
        case file(Int)
        case directory(Int)
    }

    struct Inode: Sendable {
        var visible: [UInt8] = []
        var durable: [UInt8] = []
        var handles = 0
        var isLocked = false
    }

    struct Directory: Sendable {
        var visible: [String: Entry] = [:]
        var durable: [String: Entry] = [:]
    }

    enum Change: Sendable {
        case pieces(inode: Int, start: Int, bytes: [UInt8])
        /// A truncation discards what follows; growth does not.
        case size(inode: Int, size: Int, isCut: Bool)
        case entry(directory: Int, name: String, Entry?)
        case rename(directory: Int, name: String, newDirectory: Int, newName: String, Entry)
    }

    /// The size of one piece in bytes.
    let piece: Int
    var inodes: [Inode] = []
    /// The first is the root.
    var directories = [Directory()]
    var pending: [Change] = []

    init(piece: Int) {
        self.piece = piece
    }

    /// Returns how many items of a change may persist independently.
    func items(of change: Change) -> Int {
        if case .pieces(_, _, let bytes) = change { bytes.count / piece } else { 1 }
    }

    var itemCount: Int { pending.reduce(0) { $0 + items(of: $1) } }
}

// MARK: - Files

extension SimulatedDisk {
    mutating func write(_ bytes: UnsafeRawBufferPointer, to inode: Int, at offset: Int) {
        guard bytes.count > 0 else { return }
        let before = inodes[inode].visible.count
        inodes[inode].visible.write(bytes, at: offset)
        let visible = inodes[inode].visible
        if visible.count > before {
            pending.append(.size(inode: inode, size: visible.count, isCut: false))
        }
        let start = offset / piece * piece
        let length = (offset + bytes.count - start + piece - 1) / piece * piece
        let pieces = [UInt8](unsafeUninitializedCapacity: length) { target, count in
            let known = min(length, visible.count - start)
            _ = target.initialize(fromContentsOf: visible[start..<start + known])
            target[known...].initialize(repeating: 0)
            count = length
        }
        pending.append(.pieces(inode: inode, start: start, bytes: pieces))
    }

    mutating func resize(_ inode: Int, to size: Int) {
        let before = inodes[inode].visible.count
        guard size != before else { return }
        inodes[inode].visible.resize(to: size)
        pending.append(.size(inode: inode, size: size, isCut: size < before))
    }

    mutating func sync(_ inode: Int) {
        var left: [Change] = []
        for change in pending {
            switch change {
            case .pieces(inode, let start, let bytes):
                // The sizes are applied in order, too, so the file is as long here as it was after the write.
                inodes[inode].durable.overwrite(bytes[...], at: start)
            case .size(inode, let size, _): inodes[inode].durable.resize(to: size)
            default: left.append(change)
            }
        }
        pending = left
    }

    /// Forgets that bytes are pending. The size is kept by the file system's journal, not with the bytes.
    mutating func markClean(_ inode: Int) {
        pending.removeAll { if case .pieces(inode, _, _) = $0 { true } else { false } }
    }

    mutating func revert(_ inode: Int) {
        pending.removeAll { change in
            switch change {
            case .pieces(inode, _, _), .size(inode, _, _): true
            default: false
            }
        }
        inodes[inode].visible = inodes[inode].durable
    }

    /// Damages bytes wherever the file's content is stored.
    mutating func damage(_ inode: Int, at offset: Int, count: Int, _ change: (Int, inout UInt8) -> Void) {
        func damage(_ bytes: inout [UInt8], from start: Int) {
            for index in max(offset, start)..<max(offset, start, min(offset + count, start + bytes.count)) {
                change(index - offset, &bytes[index - start])
            }
        }
        damage(&inodes[inode].visible, from: 0)
        damage(&inodes[inode].durable, from: 0)
        for (index, item) in pending.enumerated() {
            if case .pieces(inode, let start, var bytes) = item {
                damage(&bytes, from: start)
                pending[index] = .pieces(inode: inode, start: start, bytes: bytes)
            }
        }
    }
}

// MARK: - Directories

extension SimulatedDisk {
    /// Which names are looked up: the visible ones, or those that survive any crash.
    enum View {
        case visible, durable
    }

    /// Why a name is refused.
    enum Refusal: Error {
        case missing, notADirectory, isDirectory, notEmpty
    }

    /// Returns the directory that holds a name, and the last part of the name.
    func parent(of name: String, in view: View = .visible) throws(Refusal) -> (directory: Int, leaf: String) {
        guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (0, name) }
        let directory = try directory(String(name[..<slash]), in: view)
        return (directory, String(name[name.utf8.index(after: slash)...]))
    }

    func find(_ name: String, in view: View = .visible) throws(Refusal) -> Entry? {
        if name.isEmpty { return .directory(0) }
        let (directory, leaf) = try parent(of: name, in: view)
        return switch view {
        case .visible: directories[directory].visible[leaf]
        case .durable: directories[directory].durable[leaf]
        }
    }

    func directory(_ name: String, in view: View = .visible) throws(Refusal) -> Int {
        switch try find(name, in: view) {
        case .directory(let directory): return directory
        case .file: throw .notADirectory
        case nil: throw .missing
        }
    }

    func file(_ name: String, in view: View = .visible) throws(Refusal) -> Int {
        switch try find(name, in: view) {
        case .file(let inode): return inode
        case .directory: throw .isDirectory
        case nil: throw .missing
        }
    }

    mutating func openFile(_ name: String, create: Bool) throws(Refusal) -> Int {
        if create, try find(name) == nil {
            inodes.append(Inode())
            try set(name, .file(inodes.count - 1))
        }
        return try file(name)
    }

    mutating func createDirectory(_ name: String) throws(Refusal) {
        switch try find(name) {
        case .directory: return
        case .file: throw .notADirectory
        case nil:
            directories.append(Directory())
            try set(name, .directory(directories.count - 1))
        }
    }

    mutating func remove(_ name: String) throws(Refusal) {
        _ = try file(name)
        try set(name, nil)
    }

    mutating func removeDirectory(_ name: String) throws(Refusal) {
        guard directories[try directory(name)].visible.isEmpty else { throw .notEmpty }
        try set(name, nil)
    }

    private mutating func set(_ name: String, _ entry: Entry?) throws(Refusal) {
        let (directory, leaf) = try parent(of: name)
        directories[directory].visible[leaf] = entry
        pending.append(.entry(directory: directory, name: leaf, entry))
    }

    mutating func rename(_ name: String, to newName: String) throws(Refusal) {
        // Checks both parents before the files in them, as a system does.
        let (directory, leaf) = try parent(of: name)
        let (newDirectory, newLeaf) = try parent(of: newName)
        guard let entry = try find(name) else { throw .missing }
        guard name != newName else { return }
        switch (entry, try find(newName)) {
        case (.file, .directory): throw .isDirectory
        case (.directory, .file): throw .notADirectory
        case (.directory, .directory): throw .notEmpty
        case (_, .file), (_, nil): break
        }
        directories[directory].visible[leaf] = nil
        directories[newDirectory].visible[newLeaf] = entry
        pending.append(
            .rename(directory: directory, name: leaf, newDirectory: newDirectory, newName: newLeaf, entry))
    }

    /// Makes a directory's entries durable. For a rename between two directories that is one half; the other half
    /// stays pending by itself, so the destination must be synced before the source.
    mutating func syncDirectory(_ directory: Int) {
        var left: [Change] = []
        for change in pending {
            switch change {
            case .entry(directory, _, _), .rename(directory, _, directory, _, _): apply(change)
            case .rename(directory, let name, let newDirectory, let newName, let entry):
                directories[directory].durable[name] = nil
                left.append(.entry(directory: newDirectory, name: newName, entry))
            case .rename(let source, let name, directory, let newName, let entry):
                directories[directory].durable[newName] = entry
                left.append(.entry(directory: source, name: name, nil))
            default: left.append(change)
            }
        }
        pending = left
        dropUnreachable()
    }

    private mutating func apply(_ change: Change) {
        switch change {
        case .entry(let directory, let name, let entry): directories[directory].durable[name] = entry
        case .rename(let directory, let name, let newDirectory, let newName, let entry):
            directories[directory].durable[name] = nil
            directories[newDirectory].durable[newName] = entry
        case .pieces, .size: break
        }
    }

    /// Empties files that no name, no change and no open file leads to.
    private mutating func dropUnreachable() {
        var isReachable = inodes.map { $0.handles > 0 }
        for directory in directories {
            for case .file(let inode) in directory.visible.values { isReachable[inode] = true }
            for case .file(let inode) in directory.durable.values { isReachable[inode] = true }
        }
        for change in pending {
            switch change {
            case .entry(_, _, .file(let inode)), .rename(_, _, _, _, .file(let inode)): isReachable[inode] = true
            default: break
            }
        }
        for inode in inodes.indices where !isReachable[inode] { inodes[inode] = Inode() }
        pending.removeAll { change in
            switch change {
            case .pieces(let inode, _, _), .size(let inode, _, _): !isReachable[inode]
            default: false
            }
        }
    }
}

// MARK: - Crashes

extension SimulatedDisk {
    /// Returns the state after a crash in which the items persist for which `keep` returns true, counted through all
    /// changes in order.
    func afterCrash(keeping keep: (Int) -> Bool) -> SimulatedDisk {
        var disk = self
        // While changes are applied, durable content may be longer than its file: a piece can persist before the
        // growth that makes it part of the file.
        var sizes = inodes.map { $0.durable.count }
        var item = 0
        for change in pending {
            if case .pieces(let inode, let start, let bytes) = change {
                for first in stride(from: 0, to: bytes.count, by: piece) {
                    if keep(item) {
                        disk.inodes[inode].durable.makeRoom(
                            for: start + first + piece, atOnce: max(start + bytes.count, inodes[inode].visible.count))
                        disk.inodes[inode].durable.overwrite(bytes[first..<first + piece], at: start + first)
                    }
                    item += 1
                }
                continue
            }
            if keep(item) {
                if case .size(let inode, let size, let isCut) = change {
                    sizes[inode] = size
                    if isCut, disk.inodes[inode].durable.count > size { disk.inodes[inode].durable.resize(to: size) }
                } else {
                    disk.apply(change)
                }
            }
            item += 1
        }
        for (inode, size) in sizes.enumerated() where disk.inodes[inode].durable.count != size {
            disk.inodes[inode].durable.resize(to: size)
        }
        return disk.restarted()
    }

    /// Returns the disk as a restarted machine sees it: what is durable and has a name.
    private func restarted() -> SimulatedDisk {
        var disk = SimulatedDisk(piece: piece)
        var numbers = [Int?](repeating: nil, count: inodes.count)
        func copy(_ directory: Int, to target: Int) {
            let entries = directories[directory].durable.mapValues { entry -> Entry in
                switch entry {
                case .file(let inode):
                    if let known = numbers[inode] { return .file(known) }
                    let content = inodes[inode].durable
                    numbers[inode] = disk.inodes.count
                    disk.inodes.append(Inode(visible: content, durable: content))
                    return .file(disk.inodes.count - 1)
                case .directory(let child):
                    disk.directories.append(Directory())
                    let number = disk.directories.count - 1
                    copy(child, to: number)
                    return .directory(number)
                }
            }
            disk.directories[target] = Directory(visible: entries, durable: entries)
        }
        copy(0, to: 0)
        return disk
    }

    /// Returns the state after the end of the process: everything but locks and open files.
    func afterKill() -> SimulatedDisk {
        var disk = self
        for inode in disk.inodes.indices {
            disk.inodes[inode].handles = 0
            disk.inodes[inode].isLocked = false
        }
        disk.dropUnreachable()
        return disk
    }

    /// Groups the items by the file or directory they change, each with its number of items.
    var groups: [(group: Int, items: Int)] {
        pending.map { change in
            switch change {
            case .pieces(let inode, _, let bytes): (inode, bytes.count / piece)
            case .size(let inode, _, _): (inode, 1)
            case .entry(let directory, _, _), .rename(let directory, _, _, _, _): (inodes.count + directory, 1)
            }
        }
    }
}

extension [UInt8] {
    /// Overwrites bytes at an offset, within the array's length.
    fileprivate mutating func overwrite(_ new: ArraySlice<UInt8>, at offset: Int) {
        let length = Swift.min(new.count, count - offset)
        guard length > 0 else { return }
        withUnsafeMutableBytes { target in
            new.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: target[offset...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(length)))
            }
        }
    }

    /// Extends the array with zeros if it is too short, and then at once to all that may be needed soon.
    fileprivate mutating func makeRoom(for needed: Int, atOnce most: Int) {
        guard count < needed else { return }
        // The array is usually shared, so it is copied in any case: once here, to its final length.
        let known = self
        let length = Swift.max(needed, most)
        self = [UInt8](unsafeUninitializedCapacity: length) { target, count in
            _ = target.initialize(fromContentsOf: known)
            target[known.count...].initialize(repeating: 0)
            count = length
        }
    }
}
