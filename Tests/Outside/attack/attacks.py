"""What is done to the server while honest clients use it. An attacker is a thread that runs until the stage is over."""

import json
import os
import resource
import threading
import time
import uuid

from wire import Lost, Wire, once, request

MEGABYTE = 1_000_000
#: Attackers come from other addresses than honest clients.
OTHERS = [f"127.0.{number // 200 + 1}.{number % 200 + 2}" for number in range(2000)]
JSON = "application/json"


class Stage:
    """Where an attack takes place: the server's port, and when it is over."""

    def __init__(self, port, over):
        self.port = port
        self.over = over

    def wait(self, seconds):
        return self.over.wait(seconds)

    def ask(self, *words, headers=None, timeout=60, number=0):
        """A request on a connection of its own; nothing if there is no answer."""
        try:
            return once(self.port, *words, headers=headers, timeout=timeout, source=OTHERS[number])
        except Lost:
            self.wait(0.05)
            return None


class Attack:
    """A name, what it is, the threads that do it, and what it needs."""

    def __init__(self, name, about, attack, threads=1, tables=(), prepare=None, settings=(), descriptors=None,
                 reconnects=True, reads_log=True):
        self.name = name
        self.about = about
        self.attack = attack
        self.threads = threads
        self.tables = tables
        self.prepare = prepare
        self.settings = settings
        self.descriptors = descriptors
        self.reconnects = reconnects
        self.reads_log = reads_log

    def run(self, port, over):
        """In a process of its own, with low priority."""
        os.nice(10)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        stage = Stage(port, over)
        for number in range(self.threads):
            threading.Thread(target=self.attack, args=(stage, number), daemon=True).start()
        over.wait()


# MARK: Writes


def many_keys(count):
    def attack(stage, number):
        round = 0
        while not stage.over.is_set():
            item = {f"{'ab'[count > 30_000]}{round % 10}{key}": 1 for key in range(count)}
            stage.ask("POST", "/tables/wide", item)
            round += 1
    return attack


def json_patch(stage, number):
    """Each operation moves all elements of a long list."""
    path = f"/tables/patched/{uuid.uuid4()}"
    stage.ask("POST", "/tables/patched", {"id": path.rsplit("/", 1)[1], "list": [0] * 450_000})
    patch = json.dumps([{"op": "add", "path": "/list/0", "value": 1}] * 1000).encode()
    while not stage.over.is_set():
        stage.ask("PATCH", path, patch,
                  headers={"Content-Type": "application/json-patch+json", "ZUMO-API-VERSION": "3.0.0"})


def large_row(server, backend):
    once(server.port, "PUT", "/tables/large/one", {"id": "one", "text": "a" * MEGABYTE, "n": 0})
    once(server.port, "POST", "/tables/large", {"id": "one", "text": "a" * MEGABYTE, "n": 0})


def batch(count, remembered=False):
    """Few bytes for each of many changes of a large row, and the whole row in each result."""
    def attack(stage, number):
        while not stage.over.is_set():
            operations = [{"operation": "update", "table": "large", "id": "one", "item": {"n": n}} for n in range(count)]
            if remembered:
                for operation in operations:
                    operation["operationId"] = str(uuid.uuid4())
            stage.ask("POST", "/tables/$batch", {"rows": not remembered, "operations": operations})
    return attack


def full_table(server, backend):
    """A table gets all the columns it can have."""
    for round in range(25):
        item = {f"c{round}x{key}": 1 for key in range(100)}
        if once(server.port, "POST", "/tables/full", item, timeout=300).status >= 400:
            break
    for key in range(100):
        if once(server.port, "POST", "/tables/full", {f"last{key}": 1}).status >= 400:
            return


def by_hand(server, backend):
    """Another program adds a column that the server does not know."""
    once(server.port, "POST", "/tables/touched", {"id": "a", "text": "x"})
    try:
        backend.execute("ALTER TABLE touched ADD COLUMN byhand text")
    except (Exception, SystemExit) as error:
        if "exists" not in str(error) and "duplicate" not in str(error):
            raise


def writes(target, *items):
    """Writes that must be refused, or carried out without affecting others."""
    def attack(stage, number):
        wire = None
        round = 0
        while not stage.over.is_set():
            round += 1
            item = {name.replace("NEW", f"n{number}x{round}"): value for name, value in items[round % len(items)].items()}
            try:
                wire = wire or Wire(stage.port, OTHERS[number])
                wire.ask("POST", target, item)
            except Lost:
                wire = None
            stage.wait(0.002)
    return attack


# MARK: Reads


def abandoned(filter):
    """Salvos of 40 requests whose client does not wait for the answer."""
    def attack(stage, number):
        while not stage.over.is_set():
            for count in range(40):
                try:
                    wire = Wire(stage.port, OTHERS[number])
                    wire.send(request("GET", "/tables/large?$filter=" + filter))
                    wire.close()
                except Lost:
                    pass
            stage.wait(2)
    return attack


def grown(depth):
    text = "text"
    for _ in range(depth):
        text = f"replace({text},'a','aaaaaaaa')"
    return text + "%20eq%20'x'"


def many_rows(rows):
    def prepare(server, backend):
        text = "some words that are not looked for"
        for first in range(0, rows, 5000):
            operations = [{"operation": "insert", "table": "many", "item": {"id": f"r{n}", "text": text, "n": n}}
                          for n in range(first, min(first + 5000, rows))]
            answer = once(server.port, "POST", "/tables/$batch", {"rows": False, "operations": operations}, timeout=300)
            if answer.status >= 400:
                raise SystemExit(f"the rows could not be made: {answer.status} {answer.code}")
            if first == 0 and answer.json["results"][0]["status"] == 409:
                return
    return prepare


def scan(stage, number):
    """Filters that no index serves, and that no database decides as the evaluator does."""
    while not stage.over.is_set():
        stage.ask("GET", f"/tables/many?$filter=indexof(toupper(text),'{number}NOT')%20gt%200", number=number)


def large_rows(server, backend):
    for number in range(60):
        once(server.port, "POST", "/tables/heavy", {"id": f"h{number}", "text": "a" * MEGABYTE})


def slow_pages(stage, number):
    """Asks for a page of large rows, and reads it slowly."""
    while not stage.over.is_set():
        try:
            wire = Wire(stage.port, OTHERS[number], receive=8192)
            wire.send(request("GET", "/tables/heavy?$top=50"))
            while not stage.wait(0.5):
                wire.socket.recv(8192)
        except (Lost, OSError):
            stage.wait(0.1)


# MARK: Connections


def idle(count, sources=1):
    def attack(stage, number):
        held = []
        while not stage.over.is_set():
            try:
                while len(held) < count:
                    held.append(Wire(stage.port, OTHERS[len(held) % sources], timeout=2))
            except Lost:
                pass
            stage.wait(1)
            held = [wire for wire in held if stands(wire)]
    return attack


def stands(wire):
    """Whether a connection that only waits was not closed by the server."""
    try:
        wire.socket.setblocking(False)
        return wire.socket.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        if wire.socket.fileno() >= 0:
            wire.socket.settimeout(2)


def dripped(head, drop):
    """Connections whose head or body comes a little at a time, each before the server loses its patience."""
    def attack(stage, number):
        held = []
        while not stage.over.is_set():
            try:
                while len(held) < 1100 and not stage.over.is_set():
                    wire = Wire(stage.port, OTHERS[0], timeout=2)
                    wire.send(head)
                    held.append(wire)
            except Lost:
                pass
            stage.wait(4)
            standing = []
            for wire in held:
                try:
                    wire.send(drop)
                    standing.append(wire)
                except Lost:
                    wire.close()
            held = standing
    return attack


DRIPPED_HEAD = (b"GET /tables/honest HTTP/1.1\r\nHost: x\r\n", b"X-More: x\r\n")
DRIPPED_BODY = (b"POST /tables/honest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100000\r\n\r\n{", b" ")


def blanks(stage, number):
    """Bodies whose encoding has blanks after its name, which the HTTP library does not know."""
    while not stage.over.is_set():
        try:
            wire = Wire(stage.port, OTHERS[number], timeout=60)
            wire.send(b"POST /tables/honest HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked  \r\n\r\n5\r\n{}   \r\n0\r\n\r\n")
            wire.answer()
            wire.close()
            # Each has a connection of its own: without a pause, they would be an attack by new connections.
            stage.wait(0.005)
        except Lost:
            stage.wait(0.05)


def lies(stage, number):
    """Requests that name other clients, hosts and schemes than their own."""
    while not stage.over.is_set():
        stage.ask("GET", "/tables/honest?$top=1", number=number, headers={
            "Forwarded": f"for=6.6.{number}.6;host=evil.example;proto=http", "X-Forwarded-For": f"7.7.{number}.7",
            "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"})


def deaf(stage, number):
    """Listeners that read nothing, while there are many changes to announce."""
    held = []
    while not stage.over.is_set():
        try:
            while len(held) < 300:
                wire = Wire(stage.port, OTHERS[len(held) % 20], timeout=2, receive=2048)
                wire.send(request("GET", "/tables/$events"))
                held.append(wire)
        except Lost:
            pass
        stage.wait(0.5)


def all_attacks(rows):
    """Every attack. `rows` is how many the table has that is scanned."""
    return [
        Attack("keys-30000", "a write with 30,000 new columns", many_keys(30_000), tables=["wide"]),
        Attack("keys-60000", "a write with 60,000 new columns", many_keys(60_000), tables=["wide"]),
        Attack("json-patch", "a patch of 54 KB to a long list", json_patch, threads=2, tables=["patched"]),
        Attack("replace", "40 abandoned reads of a row of 1 MB", abandoned("replace(text,'a','bb')%20eq%20'x'"),
               tables=["large"], prepare=large_row),
        Attack("replace-grows", "the same, with results of gigabytes", abandoned(grown(4)), tables=["large"],
               prepare=large_row),
        Attack("scans", f"20 connections that scan {rows:,} rows", scan, threads=20, tables=["many"],
               prepare=many_rows(rows)),
        Attack("batch-300mb", "a batch of 24 KB that is answered with 300 MB", batch(300), tables=["large"],
               prepare=large_row),
        Attack("batch-2gb", "a batch of 208 KB that is answered with 2.6 GB", batch(2600), tables=["large"],
               prepare=large_row),
        Attack("remembered", "300 operations on a large row that are remembered", batch(300, remembered=True),
               tables=["large"], prepare=large_row),
        Attack("slow-pages", "20 connections that take pages of 50 MB slowly", slow_pages, threads=20, tables=["heavy"],
               prepare=large_rows),
        Attack("idle", "1,024 idle connections from one address", idle(1024)),
        Attack("heads", "1,100 connections that send a line in 4 s", dripped(*DRIPPED_HEAD)),
        Attack("bodies", "1,100 connections that send a byte in 4 s", dripped(*DRIPPED_BODY)),
        Attack("blanks", "bodies that are chunked, with blanks after the word", blanks, threads=4),
        Attack("lies", "headers of a proxy, sent by clients", lies, threads=4),
        Attack("listeners", "300 listeners that read nothing", deaf),
        Attack("log", "a log that is not read", lambda stage, number: None, reads_log=False),
        # Honest clients keep the connections they have: there are no others.
        Attack("descriptors", "more connections than a server with 256 descriptors can have", idle(600, sources=600),
               descriptors=256, reconnects=False),
        Attack("system-names", "writes of columns that bear a database's own names",
               writes("/tables/named", {"xmin": 1}, {"ctid": "x"}, {"tableoid": 1}, {"rowid": 1}, {"oid": 1}),
               threads=4, tables=["named"]),
        Attack("full-table", "new columns for a table that can have no more", writes("/tables/full", {"NEW": 1}),
               threads=4, tables=["full"], prepare=full_table),
        Attack("by-hand", "writes to a column that was added by hand", writes("/tables/touched", {"byhand": 1}),
               threads=4, tables=["touched"], prepare=by_hand),
    ]
