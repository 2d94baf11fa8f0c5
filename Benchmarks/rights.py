"""Measures rules about rows: the cost of a new member of one of a thousand lists, of an idle pull over fifty lists, and of
pages and writes beside a table with the same rows and without rules. Usage: rights.py SERVER [ROWS] [STORE]; the store is sqlite:FILE by default."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

program = sys.argv[1]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
LIST, LISTS = 1000, rows // 1000
key = "rights-benchmark-key-rights-benchmark"
rule = "list in share(list where user eq auth.sub)"
admin = {name: "role:admin" for name in ("insert", "update", "delete", "undelete")}
columns = {"list": "string", "text": "string", "done": "boolean"}


def token(user, roles=()):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head = part(b'{"alg":"HS256"}')
    body = part(json.dumps({"sub": user, "exp": 4_000_000_000, "roles": list(roles)}).encode())
    mark = hmac.new(key.encode(), f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{part(mark)}"


def uuid(number):
    text = hashlib.md5(str(number).encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"


class Client:
    def __init__(self, port, user, roles=()):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.headers = {"Authorization": "Bearer " + token(user, roles), "Content-Type": "application/json"}

    def ask(self, method, target, body=None):
        try:
            self.connection.request(method, target, body and json.dumps(body), self.headers)
            answer = self.connection.getresponse()
        except http.client.RemoteDisconnected:
            # The server closes a connection that was not used for a while.
            return self.ask(method, target, body)
        text = answer.read()
        assert answer.status < 300, f"{method} {target}: {answer.status} {text[:300]}"
        return json.loads(text) if text else {}

    def insert(self, table, items):
        items = list(items)
        for start in range(0, len(items), 1000):
            part = [{"operation": "insert", "table": table, "item": item} for item in items[start:start + 1000]]
            answer = self.ask("POST", "/tables/$batch", {"rows": False, "operations": part})
            assert '"error"' not in json.dumps(answer), answer

    def changes(self, table, since=""):
        """All changes after a cursor: how many, the last cursor, and the seconds of each page."""
        found, pages = 0, []
        while True:
            begin = time.perf_counter()
            answer = self.ask("GET", f"/tables/{table}/changes?$top=1000&since={urllib.parse.quote(since)}")
            pages.append(time.perf_counter() - begin)
            found += len(answer["items"])
            since = answer["cursor"]
            if not answer["hasMore"]:
                return found, since, pages


def least(body, times=30):
    best = 1e9
    for _ in range(times):
        begin = time.perf_counter()
        body()
        best = min(best, time.perf_counter() - begin)
    return best


def tell(name, value):
    print(f"{name:66} {value}", flush=True)


with tempfile.TemporaryDirectory(prefix="syncline-bench-", dir=".") as folder:
    store = sys.argv[3] if len(sys.argv) > 3 else f"sqlite:{folder}/server.db"
    tables = {
        # The last two have the same rows: five lists that one caller reads.
        "note": {"columns": columns, "read": rule}, "ruled": {"columns": columns, "read": rule},
        "plain": {"columns": columns},
        "share": {"columns": {"user": "string", "list": "string"}, **admin},
    }
    path = os.path.join(folder, "server.json")
    json.dump({"store": store, "listen": "127.0.0.1:0", "log": "none", "auth": {"key": key}, "tables": tables,
               "pageSize": 1000}, open(path, "w"))
    server = subprocess.Popen([program, "--config", path], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)\D*$", server.stdout.readline()).group(1))
        root = Client(port, "root", ["admin"])

        def note(number, name):
            return {"id": uuid(number), "list": name, "text": f"Note {number} of a list", "done": False}

        root.insert("share", ({"id": uuid(f"r{n}"), "user": "root", "list": f"l{n}"} for n in range(LISTS)))
        root.insert("share", ({"id": uuid(f"e{n}"), "user": "early", "list": f"l{n}"} for n in range(5)))
        begin = time.perf_counter()
        root.insert("note", (note(number, f"l{number % LISTS}") for number in range(rows)))
        seconds = time.perf_counter() - begin
        tell(f"{rows:,} rows in {LISTS:,} lists", f"{rows / seconds:,.0f} rows/s")
        some = rows // 20

        def fill(table):
            begin = time.perf_counter()
            root.insert(table, (note(number, f"l{number % 5}") for number in range(some)))
            return some / (time.perf_counter() - begin)

        tell(f"{some:,} rows in five lists, and without rules", f"{fill('ruled'):,.0f} rows/s, {fill('plain'):,.0f} rows/s")

        root.insert("share", ({"id": uuid(f"m{n}"), "user": f"u{n}", "list": "l0"} for n in range(10_000)))
        root.insert("share", ({"id": uuid(f"f{n}"), "user": "fifty", "list": f"l{n}"} for n in range(50)))
        root.insert("share", ({"id": uuid(f"a{n}"), "user": "many", "list": f"l{n}"} for n in range(5)))

        eve = Client(port, "eve")
        _, cursor, _ = eve.changes("note")
        root.insert("share", [{"id": uuid("eve"), "user": "eve", "list": "l1"}])
        found, cursor, pages = eve.changes("note", cursor)
        assert found == LIST, found
        tell(f"a join of a list of {LIST:,} rows brings {found:,}", f"{1e3 * sum(pages):.1f} ms, {len(pages)} pages")

        fifty = Client(port, "fifty")
        _, cursor, _ = fifty.changes("note")
        idle = least(lambda: fifty.changes("note", cursor), 200)
        _, other, _ = root.changes("plain")
        plain = least(lambda: root.changes("plain", other), 200)
        tell("an idle pull over 50 lists, and one without rules", f"{1e3 * idle:.2f} ms, {1e3 * plain:.2f} ms")

        def processor():
            folder = f"/proc/{server.pid}/task"
            return sum(int(open(f"{folder}/{task}/schedstat").read().split()[0]) for task in os.listdir(folder))

        def compare(name, client, target, times=60):
            """Asks for pages with and without rules in turn: the least time of each, and the server's processor time."""
            pair, best, used = [(client, "ruled"), (root, "plain")], [1e9, 1e9], [0, 0]
            for _ in range(times):
                for place, (one, table) in enumerate(pair):
                    before, begin = processor(), time.perf_counter()
                    one.ask("GET", f"/tables/{table}{target}")
                    best[place] = min(best[place], time.perf_counter() - begin)
                    used[place] += processor() - before
            tell(f"{name}, and without rules",
                 f"{1e3 * best[0]:.2f} ms, {1e3 * best[1]:.2f} ms, {100 * (used[0] / used[1] - 1):+.0f} % processor time")

        many, early = Client(port, "many"), Client(port, "early")
        for name, query in [
            ("a page of 1,000 of the feed", "/changes?$top=1000&since="),
            ("a page of 500 by time", "?$orderby=updatedAt&$top=500&__includeDeleted=true"),
            ("a page of 500 by text", "?$orderby=text&$top=500"), ("a page of 500 by id", "?$orderby=id&$top=500"),
        ]:
            compare(f"{name} of lists that grew", early, query)
            compare(f"{name} of lists just joined", many, query)
        one = Client(port, "u1")
        text = iter(range(10**9))

        def change(client, table, number):
            return lambda: client.ask("PATCH", f"/tables/{table}/{uuid(number)}", {"text": f"{next(text)}"})

        ruled, free = least(change(one, "note", 0)), least(change(root, "plain", 0))
        tell("a write to a list of 10,000 members, and without rules", f"{1e3 * ruled:.2f} ms, {1e3 * free:.2f} ms")
    finally:
        server.terminate()
        server.wait()
