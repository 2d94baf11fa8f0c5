"""What shim.c wrote down, and the disks that a power cut may leave of it.

A sync makes durable what it is for: the content and the length of a file, or the entries of a directory. Of all else any
part may be there after a power cut, in any combination: each sector that was written (with the content that it had after
one of its writes), each new length, each new, removed or renamed entry. A rename is there as a whole or not at all. These
are the rules of docs/FORMAT.md, and of the simulated disk."""

import hashlib
import os
import random
import struct

KINDS = ["open", "create", "write", "read", "truncate", "allocate", "rename", "unlink", "mkdir", "rmdir", "link", "sync",
         "chmod", "lock", "list", "close", "dup"]
CHANGES = {"create", "write", "truncate", "allocate", "rename", "unlink", "mkdir", "rmdir", "link", "sync", "chmod"}
SECTOR = 512
HEAD = struct.Struct("=I4H6i4x3Q")


def mask(kinds):
    """Kinds as the shim wants them."""
    return sum(1 << KINDS.index(kind) for kind in kinds)


class Call:
    """A call on a file, as it was written down."""

    def __init__(self, data, start):
        (self.size, kind, name, other, is_directory, self.process, self.descriptor, self.result, self.error, self.mode,
         self.flags, self.inode, self.offset, self.length) = HEAD.unpack_from(data, start)
        self.kind = KINDS[kind]
        self.is_directory = bool(is_directory)
        place = start + HEAD.size
        self.name = data[place:place + name].decode()
        self.other = data[place + name:place + name + other].decode()
        self.data = data[place + name + other:start + self.size]

    def __str__(self):
        names = " to ".join(name for name in [self.name, self.other] if name)
        return f"{self.kind} {names or f'inode {self.inode}'} {self.offset}+{self.length}"


def calls(path):
    """All calls in a record, with the position after each."""
    with open(path, "rb") as file:
        data = file.read()
    place = 0
    while place < len(data):
        call = Call(data, place)
        place += call.size
        yield place, call


class File:
    def __init__(self, mode):
        self.live = bytearray()
        self.durable = b""
        self.pending = []  # the bounds of what changed, its new content, and the new length if it is one
        self.modes = [mode]

    def change(self, start, data, size=None):
        if len(self.live) < start + len(data):
            self.live.extend(bytes(start + len(data) - len(self.live)))
            size = len(self.live)
        self.live[start:start + len(data)] = data
        first = start // SECTOR * SECTOR
        end = -(-(start + len(data)) // SECTOR) * SECTOR
        self.pending.append((first, bytes(self.live[first:end]) if data else b"", size))

    @property
    def choices(self):
        """How many parts of what is not durable may be there or not: at least those that show."""
        sizes = sum(1 for _, _, size in self.pending if size is not None)
        return sizes + sum(len(data) // SECTOR + 1 for _, data, _ in self.pending if data and any(data))

    def resize(self, size):
        old = len(self.live)
        if size == old:
            return
        if size < old:
            del self.live[size:]
        else:
            self.live.extend(bytes(size - old))
        self.pending.append((0, b"", size))

    def sync(self):
        if self.pending:
            self.durable = bytes(self.live)
            self.pending = []
        self.modes = self.modes[-1:]

    def after(self, keeps):
        """The content after a power cut, and the mode."""
        mode = self.modes[-1] if len(self.modes) == 1 or keeps() else self.modes[0]
        if not self.pending:
            return self.durable, mode
        content, length = bytearray(self.durable), len(self.durable)
        for first, data, size in self.pending:
            if size is not None and keeps():
                if size < length:
                    content[size:] = bytes(max(0, len(content) - size))
                length = size
            if first >= len(content) and not any(data):
                continue  # zeros where nothing is: only the length tells
            for place in range(0, len(data), SECTOR):
                if keeps():
                    sector = data[place:place + SECTOR]
                    if len(content) < first + place + len(sector):
                        content.extend(bytes(first + place + len(sector) - len(content)))
                    content[first + place:first + place + len(sector)] = sector
        return bytes(content[:length]).ljust(length, b"\0"), mode


class Directory:
    def __init__(self):
        self.live, self.durable = {}, {}


class Disk:
    """The files below the root as the calls left them, what of it is durable, and what is on its way. One that is `deaf` to
    the syncs of files or of directories loses more than any disk may: then a sweep must fail."""

    def __init__(self, deaf=None):
        self.deaf = deaf
        self.root = Directory()
        self.files = []
        self.pending = []  # changes of entries: lists of (directory, name, what it leads to now)
        self.open = {}     # by process and descriptor

    def find(self, name):
        node = self.root
        for part in name.split("/")[1:]:
            node = node.live.get(part) if isinstance(node, Directory) else None
        return node

    def place(self, name):
        folder, _, last = name.rpartition("/")
        return self.find(folder), last

    def enter(self, *entries):
        """Changes entries as one."""
        for directory, name, node in entries:
            if node is None:
                directory.live.pop(name, None)
            else:
                directory.live[name] = node
        self.pending.append(entries)

    def carry_out(self, call):
        """Follows a call that was made."""
        key = (call.process, call.descriptor)
        if call.result < 0:
            return
        if call.kind in ("open", "create"):
            node = self.find(call.name)
            if node is None:
                node = File(call.mode)
                self.files.append(node)
                self.enter((*self.place(call.name), node))
            if call.flags & os.O_TRUNC:
                node.resize(0)
            self.open[key] = node
        elif call.kind == "close":
            self.open.pop(key, None)
        elif call.kind == "dup":
            self.open[(call.process, call.result)] = self.open[key]
        elif call.kind == "write":
            self.open[key].change(call.offset, call.data)
        elif call.kind == "truncate":
            self.open[key].resize(call.length)
        elif call.kind == "allocate":
            file = self.open[key]
            if call.flags:
                raise NotImplementedError(f"fallocate with flags {call.flags}")
            file.resize(max(len(file.live), call.offset + call.length))
        elif call.kind == "sync":
            node = self.open[key]
            is_directory = isinstance(node, Directory)
            if self.deaf == ("directories" if is_directory else "files"):
                return
            self.sync(node) if is_directory else node.sync()
        elif call.kind == "chmod":
            node = self.open[key] if call.descriptor >= 0 else self.find(call.name)
            if isinstance(node, File):
                node.modes.append(call.mode)
        elif call.kind == "mkdir":
            self.enter((*self.place(call.name), Directory()))
        elif call.kind in ("unlink", "rmdir"):
            self.enter((*self.place(call.name), None))
        elif call.kind == "link":
            self.enter((*self.place(call.other), self.find(call.name)))
        elif call.kind == "rename":
            node = self.find(call.name)
            self.enter((*self.place(call.name), None), (*self.place(call.other), node))
        else:
            raise NotImplementedError(call.kind)

    @property
    def choices(self):
        return len(self.pending) + sum(file.choices for file in self.files if file.pending)

    def sync(self, directory):
        rest = []
        for entries in self.pending:
            if any(entry[0] is directory for entry in entries):
                Disk.persist(entries, lambda directory: directory.durable)
            else:
                rest.append(entries)
        self.pending = rest

    @staticmethod
    def persist(entries, content):
        for directory, name, node in entries:
            if node is None:
                content(directory).pop(name, None)
            else:
                content(directory)[name] = node

    def after(self, keeps):
        """What a power cut leaves: each file by its name, as content and mode; None for a directory."""
        kept = {}

        def content(directory):
            return kept.setdefault(id(directory), dict(directory.durable))
        for entries in self.pending:
            if keeps():
                Disk.persist(entries, content)
        tree = {}

        def walk(directory, prefix):
            for name, node in sorted(content(directory).items()):
                path = f"{prefix}/{name}"
                if isinstance(node, Directory):
                    tree[path] = None
                    walk(node, path)
                else:
                    tree[path] = node.after(keeps)
        walk(self.root, "")
        return tree

    def seen(self):
        """What programs see, without a power cut."""
        return self.after_all(self.root, "")

    def after_all(self, directory, prefix):
        tree = {}
        for name, node in sorted(directory.live.items()):
            path = f"{prefix}/{name}"
            if isinstance(node, Directory):
                tree[path] = None
                tree.update(self.after_all(node, path))
            else:
                tree[path] = bytes(node.live), node.modes[-1]
        return tree


def luck(seed, variant):
    """Which parts of what was not durable are there: none, all, or some."""
    if variant < 2:
        return lambda: variant == 1
    generator = random.Random(seed)
    # A share of its own for each state, from few to nearly all.
    share = generator.uniform(0.05, 0.95)
    return lambda: generator.random() < share


def name_of_state(tree):
    """A hash of a state."""
    digest = hashlib.blake2b(digest_size=16)
    for path, file in tree.items():
        digest.update(path.encode() + b"\0")
        if file is not None:
            digest.update(struct.pack("=QI", len(file[0]), file[1]) + file[0])
    return digest.digest()


def lay(tree, folder):
    """Makes the files of a state in an empty folder."""
    for path, file in tree.items():
        if file is None:
            os.mkdir(folder + path)
        else:
            descriptor = os.open(folder + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            # Zeros at the end are left to the length: most files of a log are longer than what is written yet.
            os.write(descriptor, file[0].rstrip(b"\0"))
            os.ftruncate(descriptor, len(file[0]))
            os.fchmod(descriptor, file[1])
            os.close(descriptor)


def tree_of(folder):
    """The files below a folder, as a state."""
    tree = {}
    for parent, folders, names in os.walk(folder):
        for name in folders:
            tree[os.path.join(parent, name)[len(folder):]] = None
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                tree[path[len(folder):]] = file.read(), os.stat(path).st_mode & 0o7777
    return dict(sorted(tree.items()))
