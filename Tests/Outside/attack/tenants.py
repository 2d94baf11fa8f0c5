"""Tenants on two PostgreSQLs. One of the two stands still, and one of its tenants is flooded: the tenants of the other
notice nothing. In the end each tenant has exactly the rows that were acknowledged to it."""

import collections
import signal
import threading
import time
import uuid

from servers import PostgreSQL, Server
from wire import Lost, Wire, once

PACE = 0.02


def make(cluster, letter, count):
    """New tenants: the addresses of their stores, by their names."""
    for number in range(count):
        cluster.execute(f"CREATE DATABASE {letter}{number}")
    return {f"{letter}{number}": cluster.store.replace("/attack?", f"/{letter}{number}?") for number in range(count)}


class Visitor(threading.Thread):
    """Writes to one tenant after the other, and reads from it, at a steady pace."""

    def __init__(self, port, names, rows):
        super().__init__()
        self.port, self.names, self.rows = port, list(names), rows
        self.over = threading.Event()
        self.times, self.refused = [], collections.Counter()

    def run(self):
        wire, due, number = None, time.monotonic(), 0
        while not self.over.is_set():
            name, id = self.names[number % len(self.names)], str(uuid.uuid4())
            begin = time.monotonic()
            try:
                wire = wire or Wire(self.port)
                if number // len(self.names) % 2:
                    answer = wire.ask("GET", f"/{name}/tables/t?$top=5")
                else:
                    answer = wire.ask("POST", f"/{name}/tables/t", {"id": id, "text": name})
                    if answer.status == 201:
                        self.rows[name].add(id)
                self.times.append(time.monotonic() - begin)
                if answer.status >= 400:
                    self.refused[answer.status] += 1
            except Lost:
                wire = None
                self.refused["lost"] += 1
            number += 1
            due = max(due + PACE, time.monotonic() - 1)
            self.over.wait(max(0, due - time.monotonic()))

    def end(self):
        self.over.set()
        self.join()
        return self

    @property
    def worst(self):
        """The milliseconds within which 99 of 100 were answered."""
        return sorted(self.times)[len(self.times) * 99 // 100] * 1000


def visit(port, names, rows, seconds):
    visitor = Visitor(port, names, rows)
    visitor.start()
    time.sleep(seconds)
    return visitor.end()


def flood(port, name, over, counts):
    wire = None
    while not over.is_set():
        try:
            wire = wire or Wire(port)
            counts[wire.ask("GET", f"/{name}/tables/t?$top=1").status] += 1
        except Lost:
            wire = None


def held(port, name):
    """The ids of a tenant's rows, and the tenants that they name."""
    ids, owners, skip = set(), set(), 0
    while True:
        page = once(port, "GET", f"/{name}/tables/t?$orderby=id&$top=1000&$skip={skip}&__includeDeleted=true").json
        ids.update(row["id"] for row in page)
        owners.update(row["text"] for row in page)
        skip += len(page)
        if not page:
            return ids, owners


def run(options, backend, folder):
    other = PostgreSQL(folder)
    try:
        return attack(options, [backend, other], folder)
    finally:
        other.close()


def attack(options, clusters, folder):
    mine, others = [make(cluster, letter, options.tenants) for cluster, letter in zip(clusters, "ab")]
    settings = ["tenants.by=path", "tenants.claim=false", "tenants.requestsPerSecond=100", "databaseConnections=4",
                "maxTop=1000"]
    settings += [f"tenants.stores.{name}={store}" for name, store in {**mine, **others}.items()]
    server = Server(options.tool, None, ["t:columns=text/string"], folder, settings)
    rows = {name: set() for name in {**mine, **others}}
    missed = []
    # Their stores are opened.
    for name in rows:
        once(server.port, "GET", f"/{name}/tables/t", timeout=60)
    alone = visit(server.port, others, rows, options.seconds)

    visitor = Visitor(server.port, mine, rows)
    visitor.start()
    time.sleep(1)
    clusters[0].signal(signal.SIGSTOP)
    stopped = visit(server.port, others, rows, options.seconds)
    clusters[0].signal(signal.SIGCONT)
    after = visit(server.port, others, rows, 3)
    visitor.end()

    over, counts = threading.Event(), collections.Counter()
    threads = [threading.Thread(target=flood, args=(server.port, "a0", over, counts)) for _ in range(32)]
    for thread in threads:
        thread.start()
    flooded = visit(server.port, others, rows, options.seconds)
    over.set()
    for thread in threads:
        thread.join()

    bound = max(2 * alone.worst, options.floor)
    for name, found in [("stopped", stopped), ("flooded", flooded)]:
        if found.refused:
            missed.append(f"{name}: others were refused: {dict(found.refused)}")
        if found.worst > bound:
            missed.append(f"{name}: others within {found.worst:.0f} ms, more than {bound:.0f}")
    for name, known in rows.items():
        ids, owners = held(server.port, name)
        if known - ids:
            missed.append(f"{name} lost {len(known - ids)} rows")
        if owners - {name}:
            missed.append(f"{name} has rows of {sorted(owners - {name})}")
    took, code = server.stop()
    if took is None or took > 10 or code != 0:
        missed.append(f"SIGTERM: {took} s, exit {code}")
    told = (f"{len(rows)} tenants on two clusters; the others' p99 {alone.worst:.1f} ms alone, {stopped.worst:.1f} while one "
            f"stood still, {after.worst:.1f} in the 3 s after that, {flooded.worst:.1f} beside a flood "
            f"({sum(counts.values()) / options.seconds:.0f} requests/s); {sum(map(len, rows.values()))} rows")
    return {"attack": "tenants", "database": "postgresql", "told": told, "missed": missed}
