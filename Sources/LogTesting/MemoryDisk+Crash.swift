// The state of a disk in memory after a crash, and the fate of the bytes of its files.

import SegmentLog

extension MemoryDisk {
    /// Returns the state after a crash in which the items persist for which `keep` returns true, counted through all
    /// changes in order.
    func afterCrash(keeping keep: (Int) -> Bool) -> MemoryDisk {
        guard let piece else { return copied(piece: nil) }
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

    /// Returns the disk as a restarted machine sees it: the durable state that has a name.
    private func restarted() -> MemoryDisk {
        var disk = MemoryDisk(piece: piece, capacity: capacity)
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
    func afterKill() -> MemoryDisk {
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
            case .pieces(let inode, _, let bytes): (inode, bytes.count / (piece ?? 1))
            case .size(let inode, _, _): (inode, 1)
            case .entry(let directory, _, _), .rename(let directory, _, _, _, _): (inodes.count + directory, 1)
            }
        }
    }

    var itemCount: Int { groups.reduce(0) { $0 + $1.items } }

    /// Forgets that bytes are pending. The size is kept by the file system's journal, not with the bytes.
    mutating func markClean(_ inode: Int) {
        pending.removeAll { if case .pieces(inode, _, _) = $0 { true } else { false } }
    }

    mutating func revert(_ inode: Int) {
        guard piece != nil else { return }
        forget(inode)
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

extension [UInt8] {
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
