"""Many listeners that all read the changes after one commit: none may be refused. Tells how long the reads took, and the
server's memory."""

import resource
import selectors
import socket
import time

from attacks import OTHERS
from servers import Server
from wire import Lost, once, request

COMMITS = 5


class Reader:
    """A connection whose answers are read whole."""

    def __init__(self, port, source):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.bytes = b""
        self.begin = None

    def send(self, message):
        self.bytes = b""
        self.begin = time.monotonic()
        self.socket.sendall(message)

    def take(self):
        """The status, once the answer has arrived; nothing before."""
        piece = self.socket.recv(65536)
        if not piece:
            return 0
        self.bytes += piece
        head, end, body = self.bytes.partition(b"\r\n\r\n")
        if not end:
            return None
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        return int(head.split(b" ", 2)[1]) if len(body) >= length else None


def cursor(data):
    """The latest cursor in a stream; nothing if it is not whole."""
    _, _, last = data.rpartition(b"data: ")
    found, end, _ = last.partition(b"\n\n")
    return found.decode() if end else None


def play(options, backend, folder, count, addresses):
    room = 2 * count + 400
    settings = [f"limits.connections={room}", f"limits.connectionsPerAddress={room}", "limits.idleSeconds=600"]
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    server = Server(options.tool, backend.store, ["honest"], folder, settings, descriptors=room + 600)
    missed, times, statuses, first = [], [], {}, []
    listeners = []
    try:
        once(server.port, "POST", "/tables/honest", {"text": "first"})
        look = selectors.DefaultSelector()
        for number in range(count):
            source = OTHERS[number % addresses]
            listener = Reader(server.port, source)
            listener.send(request("GET", "/tables/$events"))
            listener.reader = Reader(server.port, source)
            listeners.append(listener)
        for listener in listeners:
            while b"data: " not in listener.bytes or not cursor(listener.bytes):
                listener.bytes += listener.socket.recv(4096)
            listener.cursor = cursor(listener.bytes)
            listener.bytes = b""
            look.register(listener.socket, selectors.EVENT_READ, (listener, True))
            look.register(listener.reader.socket, selectors.EVENT_READ, (listener, False))
        for commit in range(COMMITS):
            once(server.port, "POST", "/tables/honest", {"text": f"commit {commit}"})
            begin, left = time.monotonic(), set(range(count))
            by_listener = {id(listener): number for number, listener in enumerate(listeners)}
            while left and time.monotonic() - begin < 60:
                for key, _ in look.select(1):
                    listener, is_event = key.data
                    if is_event:
                        listener.bytes += listener.socket.recv(4096)
                        new = cursor(listener.bytes) if b"data: " in listener.bytes else None
                        if new:
                            listener.bytes = b""
                            listener.reader.send(request("GET", f"/tables/honest/changes?since={listener.cursor}"))
                            listener.cursor = new
                        continue
                    status = listener.reader.take()
                    if status is not None:
                        times.append(time.monotonic() - listener.reader.begin)
                        statuses[status] = statuses.get(status, 0) + 1
                        left.discard(by_listener[id(listener)])
            first.append(time.monotonic() - begin)
            if left:
                missed.append(f"{len(left)} of {count} listeners had no answer within a minute")
                break
    except (Lost, OSError) as error:
        missed.append(f"{error}")
    peak = server.peak
    for listener in listeners:
        listener.socket.close()
        listener.reader.socket.close()
    took, code = server.stop()
    if took is None or took > 10 or code != 0:
        missed.append(f"SIGTERM: {took} s, exit {code}")
    refused = sum(number for status, number in statuses.items() if status != 200)
    if refused:
        missed.append(f"{refused} of {sum(statuses.values())} reads were refused: {statuses}")
    times.sort()
    at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))] if times else 0
    told = (f"{count} listeners at {addresses} addresses, {COMMITS} commits: p50 {at(.5):.0f} ms, p99 {at(.99):.0f} ms, "
            f"everybody read within {max(first, default=0):.1f} s of a commit; {peak:.0f} MiB")
    return told, missed


def run(options, backend, folder):
    told, missed = [], []
    for count, addresses in [(1000, 1), (1000, 1000), (5000, 1000)]:
        each, wrong = play(options, backend, folder, count, addresses)
        told.append(each)
        missed += wrong
    return {"attack": "wakeups", "database": backend.name, "told": "; ".join(told), "missed": missed}
