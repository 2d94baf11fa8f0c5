"""A connection to the server that sends exactly what the caller passes."""

import json
import socket


class Lost(Exception):
    """The connection ended, or nothing came for too long, before an answer was whole."""


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body or b"null")

    @property
    def code(self):
        """The name of the error, or what stands in its place."""
        try:
            return self.json["code"]
        except (ValueError, KeyError, TypeError):
            return "no code"


class Wire:
    """One connection. Requests go one after the other."""

    def __init__(self, port, source="127.0.0.1", timeout=30, receive=None):
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        try:
            self.socket.bind((source, 0))
            self.socket.connect(("127.0.0.1", port))
        except OSError as error:
            self.socket.close()
            raise Lost(f"not connected: {error}") from None

    def close(self):
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Lost(f"not sent: {error}") from None

    def ask(self, method, target, item=None, headers=None):
        self.send(request(method, target, item, headers))
        return self.answer()

    def answer(self):
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = int(headers.get("content-length", 0))
        while len(self.buffer) < length:
            self.more()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        # A port that no server has any more may have been connected to itself.
        if not lines[0].startswith("HTTP/"):
            raise Lost("no server answered")
        return Answer(int(lines[0].split(" ")[1]), headers, body)

    def more(self):
        try:
            piece = self.socket.recv(1 << 20)
        except OSError as error:
            raise Lost("nothing came in time" if isinstance(error, TimeoutError) else str(error)) from None
        if not piece:
            raise Lost("closed without an answer")
        self.buffer += piece


def request(method, target, item=None, headers=None):
    """The bytes of a request; an item is sent as JSON, bytes as they are."""
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1"]
    body = b""
    if item is not None:
        body = item if isinstance(item, bytes) else json.dumps(item, separators=(",", ":")).encode()
        lines += [f"Content-Length: {len(body)}"]
        if "Content-Type" not in (headers or {}):
            lines += ["Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines + ["", ""]).encode() + body


def once(port, method, target, item=None, headers=None, timeout=60, source="127.0.0.1"):
    """A request on a connection of its own."""
    wire = Wire(port, source, timeout)
    try:
        return wire.ask(method, target, item, headers)
    finally:
        wire.close()
