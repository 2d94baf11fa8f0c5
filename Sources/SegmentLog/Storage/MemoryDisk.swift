// The files and directories of a disk in memory, as a value: what is visible, and for a disk that a test may crash also
// what is durable, and the changes between the two in the order they were made. Copies share everything until one of them
// changes, so a state after a crash costs only what differs.
//
// A change is one or more items, and each item may persist without any other: a piece of a file that was written
// (512 or 4096 bytes, always with the piece's whole new content), a new size of a file, a directory entry created or
// removed, a whole rename. Sync makes changes durable; a crash keeps any subset of the items.

package struct MemoryDisk: Sendable {
    package enum Entry: Hashable, Sendable {
        case file(Int)
        case directory(Int)
    }

    package struct Inode: Sendable {
        package var visible: [UInt8]
        package var durable: [UInt8]
        package var handles = 0
        package var isLocked = false

        package init(visible: [UInt8] = [], durable: [UInt8] = []) {
            self.visible = visible
            self.durable = durable
        }

        /// Sets bytes that are durable at once.
        mutating func set(_ bytes: [UInt8]) {
            visible = bytes
            durable = bytes
        }
    }

    package struct Directory: Sendable {
        package var visible: [String: Entry]
        package var durable: [String: Entry]

        package init(visible: [String: Entry] = [:], durable: [String: Entry] = [:]) {
            self.visible = visible
            self.durable = durable
        }
    }

    package enum Change: Sendable {
        case pieces(inode: Int, start: Int, bytes: [UInt8])
        /// A truncation discards what follows; growth does not.
        case size(inode: Int, size: Int, isCut: Bool)
        case entry(directory: Int, name: String, Entry?)
        case rename(directory: Int, name: String, newDirectory: Int, newName: String, Entry)
    }

    /// The size of one piece in bytes; nil if nothing is ever lost, so that the visible state is all there is.
    package let piece: Int?
    /// The maximum total size of all visible files; nil for no limit.
    package var capacity: UInt64?
    package var inodes: [Inode] = []
    /// The first is the root.
    package var directories = [Directory()]
    package var pending: [Change] = []
    /// Inodes that nothing leads to.
    private var free: [Int] = []

    package init(piece: Int?, capacity: UInt64? = nil) {
        self.piece = piece
        self.capacity = capacity
    }

    /// By how many bytes a file may grow.
    var room: Int {
        guard let capacity else { return .max }
        var used = 0
        for directory in directories {
            for case .file(let inode) in directory.visible.values { used += inodes[inode].visible.count }
        }
        return max(0, Int(clamping: capacity) - used)
    }

    /// Returns the visible state, without locks, open files and a limit, as a disk with pieces of another size.
    package func copied(piece: Int?) -> MemoryDisk {
        var disk = MemoryDisk(piece: piece)
        disk.inodes = inodes.map { Inode(visible: $0.visible, durable: piece == nil ? [] : $0.visible) }
        disk.directories = directories.map {
            Directory(visible: $0.visible, durable: piece == nil ? [:] : $0.visible)
        }
        disk.dropUnreachable()
        return disk
    }
}

// MARK: - Files

extension MemoryDisk {
    mutating func write(_ bytes: UnsafeRawBufferPointer, to inode: Int, at offset: Int) {
        guard bytes.count > 0 else { return }
        let before = inodes[inode].visible.count
        inodes[inode].visible.write(bytes, at: offset)
        guard let piece else { return }
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
        guard piece != nil else { return }
        pending.append(.size(inode: inode, size: size, isCut: size < before))
    }

    mutating func sync(_ inode: Int) {
        guard piece != nil else { return }
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
}

// MARK: - Directories

extension MemoryDisk {
    /// Which names are looked up: the visible ones, or those that survive any crash.
    package enum View {
        case visible, durable
    }

    /// Why a name is refused.
    package enum Refusal: Error {
        case missing, notADirectory, isDirectory, notEmpty
    }

    /// Returns the directory that holds a name, and the last part of the name.
    func parent(of name: String, in view: View = .visible) throws(Refusal) -> (directory: Int, leaf: String) {
        guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (0, name) }
        let directory = try directory(String(name[..<slash]), in: view)
        return (directory, String(name[name.utf8.index(after: slash)...]))
    }

    package func find(_ name: String, in view: View = .visible) throws(Refusal) -> Entry? {
        if name.isEmpty { return .directory(0) }
        let (directory, leaf) = try parent(of: name, in: view)
        let entries = directories[directory]
        return view == .visible || piece == nil ? entries.visible[leaf] : entries.durable[leaf]
    }

    package func directory(_ name: String, in view: View = .visible) throws(Refusal) -> Int {
        switch try find(name, in: view) {
        case .directory(let directory): return directory
        case .file: throw .notADirectory
        case nil: throw .missing
        }
    }

    package func file(_ name: String, in view: View = .visible) throws(Refusal) -> Int {
        switch try find(name, in: view) {
        case .file(let inode): return inode
        case .directory: throw .isDirectory
        case nil: throw .missing
        }
    }

    mutating func openFile(_ name: String, create: Bool) throws(Refusal) -> Int {
        if create, try find(name) == nil {
            let (directory, leaf) = try parent(of: name)
            if free.isEmpty {
                free = [inodes.count]
                inodes.append(Inode())
            }
            set(leaf, of: directory, .file(free.removeLast()))
        }
        return try file(name)
    }

    mutating func createDirectory(_ name: String) throws(Refusal) {
        switch try find(name) {
        case .directory: return
        case .file: throw .notADirectory
        case nil:
            let (directory, leaf) = try parent(of: name)
            directories.append(Directory())
            set(leaf, of: directory, .directory(directories.count - 1))
        }
    }

    mutating func remove(_ name: String) throws(Refusal) {
        _ = try file(name)
        let (directory, leaf) = try parent(of: name)
        set(leaf, of: directory, nil)
    }

    mutating func removeDirectory(_ name: String) throws(Refusal) {
        guard directories[try directory(name)].visible.isEmpty else { throw .notEmpty }
        let (directory, leaf) = try parent(of: name)
        set(leaf, of: directory, nil)
    }

    private mutating func set(_ name: String, of directory: Int, _ entry: Entry?) {
        directories[directory].visible[name] = entry
        if piece != nil { pending.append(.entry(directory: directory, name: name, entry)) }
    }

    /// Sets the bytes of a file, and creates it and its parent directories if they are missing; all of it is durable.
    mutating func setContents(_ bytes: [UInt8], of name: String) throws(Refusal) {
        var parents = [0]
        for slash in name.utf8.indices where name.utf8[slash] == UInt8(ascii: "/") {
            try createDirectory(String(name[..<slash]))
            parents.append(try directory(String(name[..<slash])))
        }
        let inode = try openFile(name, create: true)
        guard piece != nil else {
            inodes[inode].visible = bytes
            return
        }
        inodes[inode].set(bytes)
        forget(inode)
        for parent in parents { syncDirectory(parent) }
    }

    /// Forgets what is pending of a file.
    package mutating func forget(_ inode: Int) {
        pending.removeAll { change in
            switch change {
            case .pieces(inode, _, _), .size(inode, _, _): true
            default: false
            }
        }
    }

    /// Returns the full names of all files, and of all directories.
    func names() -> (files: [String], directories: [String]) {
        var names: (files: [String], directories: [String]) = ([], [])
        func add(_ directory: Int, _ prefix: String) {
            for (leaf, entry) in directories[directory].visible {
                switch entry {
                case .file: names.files.append(prefix + leaf)
                case .directory(let child):
                    names.directories.append(prefix + leaf)
                    add(child, prefix + leaf + "/")
                }
            }
        }
        add(0, "")
        return names
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
        guard piece != nil else { return }
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

    package mutating func apply(_ change: Change) {
        switch change {
        case .entry(let directory, let name, let entry): directories[directory].durable[name] = entry
        case .rename(let directory, let name, let newDirectory, let newName, let entry):
            directories[directory].durable[name] = nil
            directories[newDirectory].durable[newName] = entry
        case .pieces, .size: break
        }
    }

    /// Empties files that no name, no change and no open file leads to.
    package mutating func dropUnreachable() {
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
        free = inodes.indices.filter { !isReachable[$0] }
        for inode in free { inodes[inode] = Inode() }
        pending.removeAll { change in
            switch change {
            case .pieces(let inode, _, _), .size(let inode, _, _): !isReachable[inode]
            default: false
            }
        }
    }
}

extension [UInt8] {
    /// Overwrites bytes at an offset, within the array's length.
    package mutating func overwrite(_ new: ArraySlice<UInt8>, at offset: Int) {
        let length = Swift.min(new.count, count - offset)
        guard length > 0 else { return }
        withUnsafeMutableBytes { target in
            new.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: target[offset...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(length)))
            }
        }
    }
}

private let zeros = [UInt8](repeating: 0, count: 4096)

extension [UInt8] {
    /// Puts bytes at an offset, growing the array as needed and filling a gap with zeros.
    package mutating func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
        if offset > count { resize(to: offset) }
        let within = Swift.min(new.count, count - offset)
        if within > 0 {
            withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: new.prefix(within)))
            }
        }
        append(contentsOf: new.dropFirst(within))
    }

    /// Truncates the array, or extends it with zeros.
    package mutating func resize(to size: Int) {
        if size < count {
            removeLast(count - size)
        } else {
            // Appended in array slices: `repeatElement` is appended byte by byte.
            while count < size { append(contentsOf: zeros.prefix(size - count)) }
        }
    }
}
