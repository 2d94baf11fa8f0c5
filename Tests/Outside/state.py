# Decodes the state in the newest checkpoint of a store, as docs/STATE.md and docs/FORMAT.md describe it.

"""Prints the entries of each run in their order, a line each: table, id and columns as JSON, separated by tabs; of other
entries their kind, the key and the value in hexadecimal digits. At the end it counts blocks by form, and columns by encoding.

    python3 state.py STORE_DIRECTORY

With --blocks it prints each block as an object of JSON: its file, its address, its entries in hexadecimal digits, and if it
is in columns, the values of each column as JSON.
"""

import base64
import collections
import glob
import json
import os
import struct
import sys
import uuid
from typing import Iterator, NamedTuple, NoReturn, Optional

VERSION = 13
LONG = 1 << 63
WORD = (1 << 64) - 1
ENCODINGS = ["", "constant", "flags", "integers", "instants", "strings", "symbols", "dictionary", "fixed", "any"]
CONSTANT, FLAGS, INTEGERS, INSTANTS, STRINGS, SYMBOLS, DICTIONARY, FIXED, ANY = range(1, 10)
KINDS = {1: "shape", 2: "cursor", 3: "row", 4: "setting", 6: "failing", 7: "index", 8: "unreadable", 9: "undone", 0x7f: "journal"}
Shapes = dict[int, list[str]]
Columns = dict[str, str]


class Malformed(Exception):
    """The bytes are not what the page describes."""


def refuse(reason: str) -> NoReturn:
    raise Malformed(reason)


def require(condition: bool, reason: str) -> None:
    if not condition:
        refuse(reason)


class Reader:
    """A place in bytes."""

    def __init__(self, data: bytes, offset: int = 0) -> None:
        self.data, self.offset = data, offset

    @property
    def ended(self) -> bool:
        return self.offset == len(self.data)

    def take(self, length: int) -> bytes:
        require(self.offset + length <= len(self.data), "the bytes end too early")
        self.offset += length
        return self.data[self.offset - length:self.offset]

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                require(number < 1 << 64, "a number has more than 64 bits")
                return number
            shift += 7
            require(shift < 70, "a number has more than ten bytes")

    def zigzag(self) -> int:
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def counted(self) -> bytes:
        return self.take(self.varint())

    def text(self) -> str:
        return utf8(self.counted())

    def list(self) -> list[int]:
        return [self.varint() for _ in range(self.varint())]


def utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        refuse("text is not UTF-8")


def varint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes(data) + bytes([number])


def small(data: bytes, offset: int) -> int:
    require(offset + 2 <= len(data), "a number is outside its block")
    return data[offset] | data[offset + 1] << 8


# The file.

def crc_table() -> list[int]:
    table = list(range(256))
    for _ in range(8):
        table = [number >> 1 ^ (0x82F63B78 if number & 1 else 0) for number in table]
    return table


CRC = crc_table()


def crc32c(data: bytes, crc: int = 0) -> int:
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def lz4_length(source: Reader, length: int) -> int:
    """A length in four bits, and in the bytes that follow if they are all set."""
    more = 255 if length == 15 else 0
    while more == 255:
        more = source.byte()
        length += more
    return length


def lz4(data: bytes, size: int) -> bytes:
    source, output = Reader(data), bytearray()
    while True:
        token = source.byte()
        output += source.take(lz4_length(source, token >> 4))
        if source.ended:
            break
        offset = struct.unpack("<H", source.take(2))[0]
        length = lz4_length(source, token & 15) + 4
        require(0 < offset <= len(output) and len(output) + length <= size, "a match is outside its block")
        for _ in range(length):
            output.append(output[-offset])
    require(len(output) == size, "a frame has another length")
    return bytes(output)


class Checkpoint:
    """A checkpoint's file."""

    def __init__(self, folder: str, through: int) -> None:
        self.name = os.path.join(folder, f"{through:016x}.checkpoint")
        with open(self.name, "rb") as file:
            self.data = file.read()
        self.next = through + 1
        header = self.data[:512]
        require(header[:8] == b"\x89CKP\r\n\x1a\n", f"{self.name} is not a checkpoint")
        require(crc32c(header[:508]) == int.from_bytes(header[508:512], "little"), f"{self.name}: damaged header")
        self.seed = crc32c(header[16:32])

    def frame(self, offset: int, kind: int) -> bytes:
        """The payload of a frame."""
        head = self.data[offset:offset + 40]
        require(len(head) == 40 and head[:4] == b"\xd7FRM", f"no frame at {offset}")
        check, stored, raw, first, _, count, found, flags, crc, _ = struct.unpack("<4xIIIQIHBBII", head)
        require(check == crc32c(head[8:], self.seed), f"damaged frame at {offset}")
        require(found == kind and first == self.next and count == 0, f"another frame at {offset}")
        payload = self.data[offset + 40:offset + 40 + stored]
        require(len(payload) == stored and crc == crc32c(payload), f"damaged frame at {offset}")
        self.check_trailer(offset, stored)
        if flags & 0x20:
            payload = bytes(byte ^ 0xA5 for byte in payload)
        require(flags & ~0x20 <= 1, f"unknown flags at {offset}")
        return lz4(payload, raw) if flags & 1 else payload

    def check_trailer(self, offset: int, stored: int) -> None:
        length = (40 + stored + 7) // 8 * 8 + 8
        padding = self.data[offset + 40 + stored:offset + length - 8]
        trailer = self.data[offset + length - 8:offset + length]
        require(not any(padding) and trailer == b"END\xd7" + struct.pack("<I", length), f"damaged frame at {offset}")

    def block(self, address: int) -> bytes:
        if address < LONG:
            return self.frame(address, 5)
        pieces, data = Reader(self.frame(address - LONG, 5)), b""
        while not pieces.ended:
            data += self.frame(pieces.varint(), 5)
        return data

    def note(self) -> bytes:
        """The note in the index, whose offset the seal at the end has."""
        seal = self.frame(len(self.data) - 88, 7)
        index = Reader(self.frame(int.from_bytes(seal[:8], "little"), 6))
        index.take(4)
        index.varint()
        require(index.varint() == 0 and index.byte() == 1, "a checkpoint has no note")
        require(index.varint() == self.next - 1, "a note is for another record")
        return index.counted()


class Root(NamedTuple):
    """What a note says of a run."""
    file: int
    index: list[int]
    filter: list[int]
    symbols: list[int]
    entries: int
    size: int


def roots(note: bytes) -> tuple[tuple[int, int], list[Root]]:
    """The digest of the state, and its runs."""
    reader = Reader(note)
    require(reader.varint() == VERSION, "the state has another version")
    for _ in range(5):
        reader.varint()
    digest = struct.unpack("<QQ", reader.take(16))
    found = []
    for _ in range(reader.varint()):
        file = reader.varint()
        found.append(Root(file, reader.list(), reader.list(), reader.list(), reader.varint(), reader.varint()))
    require(reader.ended, "bytes follow the roots")
    return (digest[0], digest[1]), found


# Hashes.

def mixed(left: int, right: int) -> int:
    product = left * right
    return product >> 64 ^ product & WORD


def hash64(data: bytes, seed: int = 0) -> int:
    state, whole = seed ^ 0x2D358DCCAA6C78A5 ^ len(data), len(data) // 8 * 8
    for word in struct.unpack(f"<{whole // 8}Q", data[:whole]):
        state = mixed(state ^ word, 0x8BB84B93962EACC9)
    state = mixed(state ^ int.from_bytes(data[whole:], "little"), 0x4B33A62ED433D4A3)
    return mixed(state ^ 0x4D5A2DA51DE1AA47, 0x9E3779B97F4A7C15)


def digest_of(state: dict[bytes, bytes]) -> tuple[int, int]:
    high = low = 0
    for key, content in state.items():
        high += hash64(content, hash64(key, 1))
        low += hash64(content, hash64(key, 2))
    return high & WORD, low & WORD


class Filter:
    """Which keys a run may have."""

    def __init__(self, data: bytes) -> None:
        require(len(data) > 0 and len(data) % 64 == 0, "a filter has no whole parts")
        self.words = struct.unpack(f"<{len(data) // 8}Q", data)

    def has(self, key: bytes) -> bool:
        code = hash64(key)
        start = (code * (len(self.words) // 8) >> 64) * 8
        return all(self.words[start + word] >> (code >> 6 * word & 63) & 1 for word in range(8))


# Values.

def date_of(days: int) -> str:
    """The civil date of a number of days since 1970."""
    era, day = divmod(days + 719468, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    rest = day - (365 * year + year // 4 - year // 100)
    part = (5 * rest + 2) // 153
    month = part + 3 if part < 10 else part - 9
    return f"{year + era * 400 + (month < 3):04d}-{month:02d}-{rest - (153 * part + 2) // 5 + 1:02d}"


def moment(seconds: int, fraction: str) -> str:
    days, second = divmod(seconds, 86400)
    return f"{date_of(days)}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}{fraction}"


def instant(milliseconds: int) -> str:
    return moment(milliseconds // 1000, f".{milliseconds % 1000:03d}Z")


def date(reader: Reader) -> str:
    seconds, nanoseconds, decimals, zone = reader.zigzag(), reader.varint(), reader.byte(), reader.byte()
    require(nanoseconds < 10 ** 9 and decimals < 10 and zone < 4, "a date is malformed")
    minutes = reader.zigzag() if zone == 3 else 0
    text = moment(seconds + minutes * 60, "." + f"{nanoseconds:09d}"[:decimals] if decimals else "")
    ends = ["Z", "", "", f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"]
    return text[:10] if zone == 2 else text + ends[zone]


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def number(reader: Reader) -> str:
    text = reader.text()
    try:
        json.loads(text)
    except ValueError:
        refuse("a number is malformed")
    return text


TEXTS = {
    5: lambda reader: reader.text(),
    6: date,
    7: lambda reader: base64.b64encode(reader.counted()).decode(),
    10: lambda reader: str(uuid.UUID(bytes=reader.take(16))),
    11: lambda reader: str(uuid.UUID(bytes=reader.take(16))).upper(),
    12: lambda reader: instant(reader.zigzag()),
    13: lambda reader: reader.counted().hex(),
    15: lambda reader: base64.b64encode(reader.counted()).decode()}


def value(reader: Reader, depth: int = 0) -> str:
    """The next value, as JSON."""
    tag = reader.byte()
    if tag >= 0x80:
        return quoted(utf8(reader.take(tag & 127)))
    if tag >= 0x40:
        return str(tag & 63)
    if tag in TEXTS:
        return quoted(TEXTS[tag](reader))
    if tag < 3:
        return ["null", "false", "true"][tag]
    if tag == 3:
        return str(reader.zigzag())
    if tag == 4:
        return json.dumps(struct.unpack("<d", reader.take(8))[0])
    if tag == 14:
        return number(reader)
    require(tag in (8, 9) and depth < 128, "a value is malformed")
    return container(reader, tag, depth + 1)


def container(reader: Reader, tag: int, depth: int) -> str:
    count = reader.varint()
    require(count <= len(reader.data) - reader.offset, "a value is malformed")
    if tag == 8:
        return "[" + ",".join([value(reader, depth) for _ in range(count)]) + "]"
    return "{" + ",".join([quoted(reader.text()) + ":" + value(reader, depth) for _ in range(count)]) + "}"


def encoded_number(number: int) -> bytes:
    if 0 <= number < 64:
        return bytes([0x40 | number])
    return b"\x03" + zigzag(number)


def zigzag(number: int) -> bytes:
    return varint((number << 1 ^ number >> 63) & WORD)


def encoded_text(text: bytes) -> bytes:
    return bytes([0x80 | len(text)]) + text if len(text) < 128 else b"\x05" + varint(len(text)) + text


# Blocks.

class Entry(NamedTuple):
    key: bytes
    value: Optional[bytes]


def rows_block(data: bytes) -> Iterator[Entry]:
    """The entries of a block of rows."""
    reader = Reader(data)
    parts = reader.varint()
    require(0 < parts <= len(data), "a block has no parts, or too many")
    offsets = [small(reader.take(2), 0) for _ in range(parts - 1)]
    start, key = reader.offset, b""
    places = {start} | {start + offset for offset in offsets}
    while not reader.ended:
        begins = reader.offset in places
        places.discard(reader.offset)
        shared, rest, length = reader.varint(), reader.varint(), reader.varint()
        require(shared <= (0 if begins else len(key)), "a key shares more than there is")
        key = key[:shared] + reader.take(rest)
        yield Entry(key, reader.take(length - 1) if length else None)
    require(not places, "a part begins inside an entry")


def symbol_table(data: bytes) -> list[bytes]:
    reader = Reader(data)
    lengths = list(reader.take(reader.byte()))
    require(all(0 < length < 9 for length in lengths), "a symbol has no bytes, or too many")
    symbols = [reader.take(length) for length in lengths]
    require(reader.ended, "bytes follow the symbols")
    return symbols


def bits(data: bytes, width: int, row: int) -> int:
    """The number of a row among numbers of some bits."""
    first, last = row * width, (row + 1) * width
    word = int.from_bytes(data[first // 8:(last + 7) // 8], "little")
    return word >> first % 8 & (1 << width) - 1


class Column(NamedTuple):
    encoding: int
    width: int
    count: int
    section: int
    nulls: int


class ColumnBlock:
    """A block in columns."""

    def __init__(self, data: bytes, symbols: Optional[list[bytes]], seen: collections.Counter[str]) -> None:
        self.data, self.symbols, self.end = data, symbols, len(data) - 16
        require(32 <= len(data) <= 1 << 16 and data[0] == data[7] == 0, "a block's header is malformed")
        require(not any(data[-16:]), "a block does not end with zeros")
        self.id_length, self.rows, self.columns, self.numbers = data[1], small(data, 2), small(data, 4), data[6]
        prefix, head, self.others, self.others_place = struct.unpack_from("<4H", data, 8)
        require(self.rows > 0, "a block has no rows")
        list_end = 16 + 8 * (self.columns + self.numbers)
        self.prefix = self.part(list_end, prefix)
        self.head = self.part(list_end + prefix, head)
        self.ids = self.read_ids(list_end + prefix + head)
        places = range(16, list_end, 8)
        seen["others in columns"] += self.others
        self.values = [self.column(Column(*struct.unpack_from("<BBHHH", data, place)), seen) for place in places]

    def part(self, start: int, length: int) -> bytes:
        require(start + length <= self.end, "a part of a block is outside it")
        return self.data[start:start + length]

    def read_ids(self, start: int) -> list[bytes]:
        length = self.id_length
        if length == 0:
            return self.strings(start, 2)
        return [self.part(start + row * length, length) for row in range(self.rows)]

    def strings(self, start: int, width: int) -> list[bytes]:
        require(width in (1, 2), "lengths have one or two bytes")
        lengths = self.part(start, width * self.rows)
        groups = self.part(start + width * self.rows, (self.rows + 15) // 16 * 2)
        place, found = start + len(lengths) + len(groups), []
        begin = place
        for row in range(self.rows):
            require(row % 16 != 0 or small(groups, row // 16 * 2) == place - begin, "an offset of strings is wrong")
            length = small(lengths, 2 * row) if width == 2 else lengths[row]
            found.append(self.part(place, length))
            place += length
        return found

    def packed(self, start: int, width: int) -> list[int]:
        if width > 8:
            data = self.part(start, (self.rows * width + 7) // 8)
            return [bits(data, width, row) for row in range(self.rows)]
        size = (self.rows + 7) // 8
        planes = [self.part(start + plane * size, size) for plane in range(width)]
        return [sum(bits(plane, 1, row) << place for place, plane in enumerate(planes)) for row in range(self.rows)]

    def column(self, column: Column, seen: collections.Counter[str]) -> list[bytes]:
        """The encoded values of a column."""
        require(0 < column.encoding < len(ENCODINGS), "a column has an unknown encoding")
        require(column.section >= 16, "a section is in the header")
        seen[ENCODINGS[column.encoding] + (" with nulls" if column.nulls else "")] += 1
        nulls = [0] * self.rows
        if column.nulls:
            require(column.nulls >= 16, "a section is in the header")
            nulls = self.packed(column.nulls, 1)
        return self.filled(self.section(column, nulls), nulls)

    def filled(self, values: Iterator[bytes], nulls: list[int]) -> list[bytes]:
        return [b"\0" if null else value for value, null in zip(values, nulls, strict=True)]

    def section(self, column: Column, nulls: list[int]) -> Iterator[bytes]:
        encoding, width, count, start, _ = column
        if encoding == CONSTANT:
            yield from [self.part(start, count)] * self.rows
        elif encoding == FLAGS:
            yield from (b"\2" if flag else b"\1" for flag in self.packed(start, 1))
        elif encoding == INTEGERS:
            yield from map(encoded_number, self.integers(start, width))
        elif encoding == INSTANTS:
            yield from (b"\x0c" + zigzag(number) for number in self.integers(start, width))
        elif encoding == STRINGS:
            yield from map(encoded_text, self.strings(start, width))
        elif encoding == SYMBOLS:
            yield from (encoded_text(self.decoded(codes)) for codes in self.strings(start, width))
        elif encoding == DICTIONARY:
            yield from self.dictionary(start, width, count)
        elif encoding == FIXED:
            tag = self.part(start, 1)
            require(count > 0, "values have no bytes")
            yield from (tag + self.part(start + 1 + row * count, count) for row in range(self.rows))
        else:
            yield from self.strings(start, width)

    def integers(self, start: int, width: int) -> Iterator[int]:
        require(width < 58 or width == 64, "a number has an unknown width")
        least = self.part(start, 8)
        for above in self.packed(start + 8, width):
            number = int.from_bytes(least, "little") + above & WORD
            yield number - (1 << 64) if number >> 63 else number

    def dictionary(self, start: int, width: int, count: int) -> Iterator[bytes]:
        require(count > 0 and width <= 16, "a dictionary has no values, or too many")
        offsets = struct.unpack(f"<{count + 1}H", self.part(start, 2 * count + 2))
        require(offsets[0] == 0 and list(offsets) == sorted(offsets), "a dictionary's offsets are not sorted")
        begin = start + 2 * count + 2
        for code in self.packed(begin + offsets[-1], width):
            require(code < count, "a dictionary lacks a value")
            yield self.part(begin + offsets[code], offsets[code + 1] - offsets[code])

    def decoded(self, codes: bytes) -> bytes:
        require(self.symbols is not None, "a run has no symbols")
        reader, text = Reader(codes), b""
        while not reader.ended:
            code = reader.byte()
            require(code == 255 or code < len(self.symbols or []), "a code has no symbol")
            text += reader.take(1) if code == 255 else (self.symbols or [])[code]
        return text

    def entries(self) -> Iterator[Entry]:
        others = collections.deque(self.read_others())
        for row in range(self.rows + 1):
            while others and others[0][0] == row:
                yield others.popleft()[1]
            if row < self.rows:
                yield Entry(self.prefix + self.ids[row], self.value(row))

    def value(self, row: int) -> bytes:
        content = b"".join(values[row] for values in self.values[:self.columns])
        numbers = [Reader(values[row]) for values in self.values[self.columns:]]
        return self.head + varint(len(content)) + content + b"".join(map(unsigned, numbers))

    def read_others(self) -> list[tuple[int, Entry]]:
        if self.others == 0:
            return []
        count, place = self.others, self.others_place
        numbers = struct.unpack(f"<{2 * count + 1}H", self.part(place, 4 * count + 2))
        ranks, offsets = list(numbers[:count]), list(numbers[count:])
        require(offsets[0] == 0 and offsets == sorted(offsets), "the offsets of others are not sorted")
        require(ranks == sorted(ranks) and ranks[-1] <= self.rows, "the others are not sorted")
        start = place + 4 * count + 2
        parts = [self.part(start + offset, end - offset) for offset, end in zip(offsets, offsets[1:])]
        return [(rank, self.other(Reader(part))) for rank, part in zip(ranks, parts)]

    def other(self, reader: Reader) -> Entry:
        id_length, length = reader.varint(), reader.varint()
        key = self.prefix + reader.take(id_length)
        content = reader.take(length - 1) if length else None
        require(reader.ended, "bytes follow another entry")
        return Entry(key, content)


def unsigned(reader: Reader) -> bytes:
    """A number after the columns: its integer as a varint of 64 bits."""
    tag = reader.byte()
    require(tag >= 3, "a number is not an integer")
    return varint((tag & 63 if tag >= 0x40 else reader.zigzag()) & WORD)


class Run:
    """A run's entries."""

    def __init__(self, folder: str, root: Root, seen: collections.Counter[str]) -> None:
        self.root, self.seen = root, seen
        self.file = Checkpoint(folder, root.file)
        self.symbols = symbol_table(self.file.block(root.symbols[0])) if root.symbols else None
        self.filter = Filter(b"".join(map(self.file.block, root.filter)))

    def index(self) -> Iterator[tuple[bytes, int, int]]:
        for address in self.root.index:
            reader = Reader(self.file.block(address))
            while not reader.ended:
                yield reader.counted(), reader.varint(), reader.varint()

    def block(self, address: int) -> list[Entry]:
        data = self.file.block(address)
        require(len(data) > 0, "a block is empty")
        self.seen["blocks in columns" if data[0] == 0 else "blocks of rows"] += 1
        try:
            return list(rows_block(data) if data[0] else ColumnBlock(data, self.symbols, self.seen).entries())
        except Malformed as error:
            refuse(f"{self.file.name}: block at {address}: {error}")

    def entries(self) -> Iterator[Entry]:
        last, count, size = b"", 0, 0
        for first, address, values in self.index():
            entries = self.block(address)
            require(
                sum(entry.value is not None for entry in entries) == values,
                f"the block at {address} has another number of values than the index says")
            require(entries[0].key == first, f"the block at {address} begins with another key than the index says")
            for entry in entries:
                require(entry.key > last, f"the keys of the block at {address} are not sorted")
                require(entry.key[0] == 0x7f or self.filter.has(entry.key), "a filter lacks a key")
                last, count, size = entry.key, count + 1, size + len(entry.key) + len(entry.value or b"")
                yield entry
        require((count, size) == (self.root.entries, self.root.size), "a run has other entries than its root says")


# Rows.

def columns_of(reader: Reader, shapes: Shapes) -> Columns:
    """Columns, each as JSON."""
    names = shapes.get(reader.varint())
    content = Reader(reader.counted())
    require(names is not None, "a row has an unknown shape")
    columns = {name: value(content) for name in names or []}
    require(content.ended, "a row has more values than columns")
    return columns


def row_of(entry: bytes, shapes: Shapes) -> tuple[Optional[str], Optional[Columns]]:
    """How an id is spelled, if not as in the key; and the columns that an app sees, None of a row that is hidden."""
    reader = Reader(entry)
    flags = reader.byte()
    spelled = reader.text() if flags & 4 else None
    local = columns_of(reader, shapes) if flags & 0x10 else {}
    base = columns_of(reader, shapes) if flags & 1 else None
    if not flags & 2:
        return spelled, None if base is None else {**base, **local}
    pending = reader.byte()
    over = columns_of(reader, shapes)
    if not pending & 1:
        return spelled, None
    return spelled, {**({} if pending & 2 or base is None else base), **over, **local}


def id_of(key: bytes) -> tuple[str, str]:
    """The table and the id in the key of a row."""
    table, found, name = key[1:].partition(b"\0")
    require(bool(found and name) and name[0] in (1, 2, 3), "the key of a row is malformed")
    if name[0] == 3:
        return utf8(table), utf8(name[1:])
    require(len(name) == 17, "the key of a row is malformed")
    digits = str(uuid.UUID(bytes=name[1:]))
    return utf8(table), digits.upper() if name[0] == 2 else digits


def line_of(entry: Entry, shapes: Shapes) -> str:
    kind = KINDS.get(entry.key[0], "unknown")
    if kind != "row":
        return f"({kind})\t{entry.key[1:].hex()}\t{'(removed)' if entry.value is None else entry.value.hex()}"
    table, name = id_of(entry.key)
    if entry.value is None:
        return f"{table}\t{name}\t(removed)"
    spelled, columns = row_of(entry.value, shapes)
    if columns is None:
        return f"{table}\t{spelled or name}\t(hidden)"
    text = ",".join(quoted(column) + ":" + content for column, content in columns.items())
    return f"{table}\t{spelled or name}\t{{{text}}}"


def shape_names(content: bytes) -> list[str]:
    reader, names = Reader(content), []
    while not reader.ended:
        names.append(reader.text())
    return names


def shapes_of(runs: list[list[Entry]]) -> Shapes:
    shapes: Shapes = {}
    for entries in runs:
        for entry in entries:
            if entry.key[0] == 1 and entry.value is not None:
                shapes[int.from_bytes(entry.key[1:], "big")] = shape_names(entry.value)
    return shapes


def newest(folder: str) -> int:
    names = [os.path.basename(name) for name in glob.glob(os.path.join(glob.escape(folder), "[0-9a-f]" * 16 + ".checkpoint"))]
    require(bool(names), f"{folder} has no checkpoint")
    return max(int(name.split(".")[0], 16) for name in names)


def show(folder: str) -> None:
    seen: collections.Counter[str] = collections.Counter()
    digest, found = roots(Checkpoint(folder, newest(folder)).note())
    runs = [list(Run(folder, root, seen).entries()) for root in found]
    state = {entry.key: entry.value for entries in reversed(runs) for entry in entries}
    present = {key: content for key, content in state.items() if content is not None}
    require(digest_of(present) == digest, "the digest is that of another state")
    shapes = shapes_of(runs)
    for place, (root, entries) in enumerate(zip(found, runs), 1):
        print(f"# run {place} in {root.file:016x}.checkpoint: {root.entries} entries")
        for entry in entries:
            print(line_of(entry, shapes))
    for name, count in sorted(seen.items()):
        print(f"# {count} {name}")


def show_blocks(folder: str) -> None:
    for root in roots(Checkpoint(folder, newest(folder)).note())[1]:
        run = Run(folder, root, collections.Counter())
        for _, address, _ in run.index():
            data = run.file.block(address)
            columns = None if data[0] else ColumnBlock(data, run.symbols, run.seen).values
            print(json.dumps({
                "file": root.file, "address": address,
                "entries": [[entry.key.hex(), None if entry.value is None else entry.value.hex()] for entry in run.block(address)],
                "columns": columns and [[value(Reader(content)) for content in values] for values in columns]}))


def main() -> None:
    words = sys.argv[1:]
    body = show_blocks if words[:1] == ["--blocks"] else show
    if len(words) != (2 if body is show_blocks else 1):
        sys.exit("usage: python3 state.py [--blocks] STORE_DIRECTORY")
    try:
        body(words[-1])
    except (Malformed, OSError) as error:
        sys.exit(f"state.py: {error}")


if __name__ == "__main__":
    main()
