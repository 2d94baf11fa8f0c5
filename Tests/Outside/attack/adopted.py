"""Tables that others made, with rows and triggers that no server would make: a start refuses them with the column, `check`
says so beforehand, `--number` mends what it can, and then every row is in the feed."""

import json
import subprocess
from urllib.parse import quote

from servers import NotStarted, Server
from wire import Wire

ROWS = 2500
FAULTS = {
    "null": ("version", "UPDATE adopted SET version = NULL WHERE id = 'r10007'"),
    "zero": ("version", "UPDATE adopted SET version = 0 WHERE id = 'r10007'"),
    "negative": ("version", "UPDATE adopted SET version = -5 WHERE id = 'r10007'"),
    "late": ("version", "UPDATE adopted SET version = 9223372036854775807 WHERE id = 'r10007'"),
    "same": ("version", "UPDATE adopted SET version = 3"),
    "time": ("updated", "UPDATE adopted SET updated = NULL WHERE id = 'r10007'"),
}
#: The setting that names the column of times.
MAP = "tables.adopted.map=" + json.dumps({"updatedAt": "updated"})


def tool(options, backend, *words):
    return subprocess.run([options.tool, *words, "--store", backend.store, "--table", "adopted", "--log", "json",
                           "--set", MAP],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def feed(port, top):
    """All ids of the feed, page by page."""
    wire, ids, cursor = Wire(port), [], ""
    while True:
        page = wire.ask("GET", f"/tables/adopted/changes?$top={top}&since={quote(cursor)}").json
        ids += [item["id"] for item in page["items"]]
        cursor = page["cursor"]
        if not page["hasMore"]:
            wire.close()
            return ids


def run(options, backend, folder):
    is_sqlite = backend.name == "sqlite"
    time, flag = ("text", "integer") if is_sqlite else ("timestamptz", "boolean")
    false = "0" if is_sqlite else "false"
    missed = []

    def start():
        return Server(options.tool, backend.store, ["adopted"], folder, [MAP])

    for name, (column, statement) in FAULTS.items():
        backend.execute("DROP TABLE IF EXISTS adopted")
        backend.execute(f"CREATE TABLE adopted (id text PRIMARY KEY, updated {time}, version bigint, deleted {flag}, n integer)")
        # A command line has a limit.
        for first in range(1, ROWS + 1, 500):
            rows = ", ".join(f"('r{10000 + number}', '2026-05-19T21:30:00.123Z', {number}, {false}, {number})"
                             for number in range(first, first + 500))
            backend.execute(f"INSERT INTO adopted (id, updated, version, deleted, n) VALUES {rows}")
        backend.execute(statement)
        try:
            start().stop()
            missed.append(f"{name}: the server started")
            continue
        except NotStarted as refused:
            if f"column {column}" not in str(refused):
                missed.append(f"{name}: {refused}")
        checked = tool(options, backend, "check")
        if checked.returncode != 3 or f"column {column}" not in checked.stdout:
            missed.append(f"{name}: check ended with {checked.returncode}")
        numbered = tool(options, backend, "--number", "adopted")
        if numbered.returncode != 0:
            missed.append(f"{name}: {numbered.stderr.strip()}")
            continue
        server = start()
        ids = feed(server.port, 700)
        if sorted(ids) != [f"r{10000 + number}" for number in range(1, ROWS + 1)]:
            missed.append(f"{name}: {len(set(ids))} of {ROWS} rows in the feed")
        # Another program gives many rows one number meanwhile.
        backend.execute("UPDATE adopted SET version = 4 WHERE n <= 1500")
        if len(set(feed(server.port, 600))) != ROWS:
            missed.append(f"{name}: rows of one number are missing")
        server.stop()
    return {"attack": "adopted", "database": backend.name, "told": f"{len(FAULTS)} tables of {ROWS} rows", "missed": missed}
