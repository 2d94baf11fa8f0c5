"""Writers of several processes and programs that write with SQL, killed at random, while readers follow the changes, also
from a replica that stands still, is killed and takes over: at the end of each round, each reader has every row, and got no
change twice, and each row that was written alone is as its writer was told. SYNCLINE_MISTAKE=1 shows that a mistake is found:
readers then stop before no running transaction."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

from servers import PostgreSQL, Server
from wire import Lost, Wire

PROCESSES = 3
TABLES = ["t:columns=text/string", "h:softDelete=false,columns=text/string"]


class Cluster(PostgreSQL):
    """A primary and its standby, which can be killed and change places. There are prepared transactions."""

    settings = "-c max_prepared_transactions=20 -c hot_standby_feedback=on "

    def __init__(self, folder):
        super().__init__(folder)
        place = self.folder.replace("/", "%2F")
        nodes = [f"postgresql:///attack?host={place}&port={port}&user=tester" for port in (5432, 5433)]
        self.store = (f"postgresql:///attack?host={place},{place}&port=5432,5433&user=tester"
                      "&target_session_attrs=read-write")
        self.replicas = json.dumps(nodes)
        # Only one of them is not the primary.
        self.standby = Standby(self, 5433, os.path.join(self.folder, "standby"))
        self.standby.make()

    def crash(self):
        for process in self.processes()[:1]:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.2)
        self.start_again()

    def start_again(self):
        while True:
            try:
                return self.start()
            except SystemExit:
                time.sleep(0.3)

    def switch(self):
        """The standby takes over with all changes, and the primary becomes its standby. Returns whether that was possible."""
        self.standby.follow(True)
        if self.execute("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")[0] != "1":
            return False
        # It waits until the standby has everything.
        self.run("pg_ctl", "-D", self.data, "-w", "-m", "fast", "stop")
        self.run("pg_ctl", "-D", self.standby.data, "-w", "promote")
        (self.port, self.data, self.standby.port, self.standby.data) = (
            self.standby.port, self.standby.data, self.port, self.data)
        self.standby.make()
        return True

    def close(self):
        self.standby.stop()
        super().close()


class Standby(PostgreSQL):
    """A standby of a cluster, with a socket in the same folder."""

    settings = Cluster.settings

    def __init__(self, primary, port, data):
        self.primary, self.port, self.data = primary, port, data
        self.programs, self.user, self.folder = primary.programs, primary.user, primary.folder

    def make(self):
        shutil.rmtree(self.data, ignore_errors=True)
        while True:
            try:
                self.run("pg_basebackup", "-h", self.folder, "-p", str(self.primary.port), "-U", "tester", "-D", self.data,
                         "-R", "-c", "fast", "--no-sync")
                return self.start()
            except SystemExit:
                shutil.rmtree(self.data, ignore_errors=True)
                time.sleep(0.3)

    def follow(self, flag):
        self.execute(f"SELECT pg_wal_replay_{'resume' if flag else 'pause'}()")

    def crash(self):
        os.kill(self.processes()[0], signal.SIGKILL)
        time.sleep(0.2)
        Cluster.start_again(self)

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", "immediate", "stop")


class Foreign:
    """A program that writes with SQL, in transactions of any shape."""

    def __init__(self, cluster, chance, number, over):
        self.cluster, self.chance, self.number, self.over = cluster, chance, number, over
        self.count = 0
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def statement(self):
        chance = self.chance
        table = chance.choice("th")
        name = f"f{self.number}-{chance.randrange(60)}"
        if chance.random() < 0.5:
            name = f"f{self.number}-{time.monotonic_ns()}"
        take = f"FROM syncline_take('{table}')"
        time_of = 'to_timestamp("time" / 1000.0)'
        kind = chance.random()
        self.count += 1
        if kind < 0.8:
            return (f'INSERT INTO {table} ("id", "text", "version", "createdAt", "updatedAt", "deleted") SELECT \'{name}\', '
                    f'\'x\', "change", {time_of}, {time_of}, false {take} ON CONFLICT ("id") DO NOTHING;')
        # The row is locked before its number is taken.
        return (f'DO $$ BEGIN PERFORM 1 FROM {table} WHERE "id" = \'{name}\' FOR UPDATE; IF FOUND THEN UPDATE {table} SET '
                f'("version", "updatedAt") = (SELECT "change", {time_of} {take}) WHERE "id" = \'{name}\'; END IF; END $$;')

    def transaction(self):
        chance = self.chance
        level = chance.choice(["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
        words = [f"BEGIN ISOLATION LEVEL {level};"]
        if chance.random() < 0.3:
            words.append("SET LOCAL synchronous_commit = off;")
        for _ in range(chance.randrange(1, 5)):
            words.append(self.statement())
            if chance.random() < 0.3:
                words += ["SAVEPOINT s;", self.statement()]
                words.append(chance.choice(["ROLLBACK TO SAVEPOINT s;", "RELEASE SAVEPOINT s;"]))
            if chance.random() < 0.3:
                words.append(f"SELECT pg_sleep({chance.uniform(0, 0.15):.3f});")
        end = chance.random()
        if end < 0.1:
            name = f"p{self.number}-{time.monotonic_ns()}"
            words += [f"PREPARE TRANSACTION '{name}';", f"SELECT pg_sleep({chance.uniform(0, 0.2):.3f});"]
            words.append(chance.choice([f"COMMIT PREPARED '{name}';", f"ROLLBACK PREPARED '{name}';", ""]))
        else:
            words.append("ROLLBACK;" if end < 0.25 else "COMMIT;")
        return "\n".join(words) + "\n"

    def work(self):
        while not self.over.is_set():
            program = subprocess.Popen(self.cluster.shell(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, text=True, cwd="/")
            try:
                for _ in range(self.chance.randrange(5, 40)):
                    if self.over.is_set():
                        break
                    program.stdin.write(self.transaction())
                    program.stdin.flush()
                    time.sleep(self.chance.uniform(0, 0.05))
                # An open transaction ends with its program.
                if self.chance.random() < 0.3:
                    program.kill()
                program.stdin.close()
            except (BrokenPipeError, OSError):
                time.sleep(0.1)
            program.wait()


class Servers:
    """The processes, one of which may be killed and started again at any time."""

    def __init__(self, options, cluster, folder):
        self.options, self.cluster, self.folder = options, cluster, folder
        self.all = [self.new() for _ in range(PROCESSES)]

    def new(self):
        while True:
            try:
                return Server(self.options.tool, self.cluster.store, TABLES, self.folder, [
                    "sweepHours=0", "pageSize=1000", f"replicas={self.cluster.replicas}"])
            except Exception as error:  # PostgreSQL may be down just now.
                known = ["can't be reached", "starting up", "shutting down", "is a standby", "read-only"]
                if not any(word in str(error) for word in known):
                    print(f"a server did not start: {error}", flush=True)
                time.sleep(0.3)

    def reads(self):
        """The reads that replicas have answered, and those that they were too late for or that failed."""
        counts = {"answered": 0, "late": 0, "failed": 0}
        for place in range(PROCESSES):
            try:
                text = self.ask(place, "GET", "/metrics").body.decode()
            except (Lost, ConnectionError):
                continue
            for outcome, value in re.findall(r'syncline_replica_reads_total{.*outcome="(\w+)"} (\d+)', text):
                counts[outcome] += int(value)
        return counts

    def kill(self, place):
        self.all[place].kill()
        self.all[place] = self.new()

    def ask(self, place, *words):
        wire = Wire(self.all[place].port, timeout=60)
        try:
            return wire.ask(*words)
        finally:
            wire.close()


class Client(threading.Thread):
    """Writes over HTTP: rows of its own and rows that all change, alone and in batches."""

    def __init__(self, servers, chance, number, over):
        super().__init__()
        self.servers, self.chance, self.number, self.over, self.count = servers, chance, number, over, 0
        self.start()

    def operation(self):
        chance = self.chance
        name = f"c{chance.randrange(40)}" if chance.random() < 0.4 else f"c{self.number}-{time.monotonic_ns()}"
        kind = chance.choice(["insert", "insert", "update", "delete"])
        item = {"id": name, "text": str(chance.random())}
        return {"operation": kind, "table": chance.choice("th"), "id": name, "item": item}

    def run(self):
        while not self.over.is_set():
            place = self.chance.randrange(PROCESSES)
            operations = [self.operation() for _ in range(self.chance.choice([1, 1, 3, 20]))]
            try:
                self.servers.ask(place, "POST", "/tables/$batch", {"operations": operations})
                self.count += len(operations)
            except (Lost, ConnectionError):
                time.sleep(0.05)


class Single(threading.Thread):
    """Writes rows of its own one by one, each again until it is answered, and reads them: what was answered is there."""

    def __init__(self, servers, chance, number, over):
        super().__init__()
        self.servers, self.chance, self.number, self.over = servers, chance, number, over
        self.rows, self.count, self.faults = {"t": {}, "h": {}}, 0, []
        #: A connection to each process: one for each request would use up the ports of the machine.
        self.wires = {}
        self.start()

    def ask(self, method, target, item=None, headers=None):
        """The first answer of a server that is there; a write that is sent again has the same id."""
        while True:
            port = self.servers.all[self.chance.randrange(PROCESSES)].port
            try:
                self.wires[port] = self.wires.get(port) or Wire(port, timeout=60)
                answer = self.wires[port].ask(method, target, item, headers)
                if answer.status < 500:
                    return answer
            except (Lost, ConnectionError):
                if port in self.wires:
                    self.wires.pop(port).close()
            time.sleep(0.02)

    def write(self, expected, method, target, item=None):
        self.count += 1
        operation = f"s{self.number}-{time.monotonic_ns()}"
        answer = self.ask(method, target, item, {"X-Syncline-Operation-Id": operation})
        if answer.status not in expected:
            self.faults.append(f"{method} {target}: {answer.status} {answer.code}")

    def run(self):
        while not self.over.is_set():
            table = self.chance.choice("th")
            rows = self.rows[table]
            name = self.chance.choice(list(rows)) if len(rows) > 20 else f"s{self.number}-{self.count}"
            place, text = f"/tables/{table}/{name}", str(self.chance.random())
            kind = self.chance.random()
            if name not in rows:
                self.write([201], "POST", f"/tables/{table}", {"id": name, "text": text})
                rows[name] = text
            elif kind < 0.4:
                self.write([200], "PATCH", place, {"text": text})
                rows[name] = text
            elif kind < 0.6:
                self.write([200, 204], "DELETE", place)
                del rows[name]
            else:
                answer = self.ask("GET", place)
                if answer.status != 200 or answer.json["text"] != rows[name]:
                    self.faults.append(f"{place} is {answer.status} {answer.body[:80]}, not {rows[name]}")
        for wire in self.wires.values():
            wire.close()

    def check(self, cluster):
        """Compares the rows with those in the database."""
        for table, rows in self.rows.items():
            found = cluster.execute(f"SELECT \"id\", \"text\" FROM {table} WHERE NOT \"deleted\" AND \"id\" LIKE 's{self.number}-%'")
            there = dict(line.split("|") for line in found if line)
            if there != rows:
                self.faults.append(f"{table} has {sorted(there.items() ^ rows.items())[:3]}")


class Reader(threading.Thread):
    """Follows the changes of a table to their end, again and again, on any process."""

    def __init__(self, servers, chance, table, over):
        super().__init__()
        self.servers, self.chance, self.table, self.over = servers, chance, table, over
        self.cursor, self.rows, self.faults, self.count, self.resets = "", {}, [], 0, 0
        self.seen, self.mark = set(), ""
        self.start()

    def run(self):
        while not self.over.is_set():
            self.page()
        self.finish()

    def finish(self):
        while self.page() != "end":
            pass

    def page(self):
        target = f"/tables/{self.table}/changes?since={urllib.parse.quote(self.cursor)}&$top={self.chance.choice([3, 50, 1000])}"
        headers = {"ZUMO-API-VERSION": "3.0.0"}
        # One reader says nothing of what it has seen of the other table.
        if self.mark and self.table == "t":
            headers["X-Syncline-Mark"] = self.mark
        try:
            answer = self.servers.ask(self.chance.randrange(PROCESSES), "GET", target, None, headers)
            self.mark = answer.headers.get("x-syncline-mark", "")
        except (Lost, ConnectionError):
            time.sleep(0.05)
            return "lost"
        if answer.status == 410:
            self.cursor, self.rows, self.seen = "", {}, set()
            self.resets += 1
            return "reset"
        if answer.status != 200:
            time.sleep(0.05)
            return "refused"
        page = answer.json
        for row in page["items"]:
            key = (row["id"], row["version"])
            if key in self.seen:
                self.faults.append(f"doubled {key}")
            self.seen.add(key)
            self.rows[row["id"]] = None if row.get("deleted") else row["version"]
            self.count += 1
        self.cursor = page["cursor"]
        return "more" if page["hasMore"] else "end"


class OldReader(threading.Thread):
    """A client without cursors, which asks for times after the newest one."""

    def __init__(self, servers, chance, over):
        super().__init__()
        self.servers, self.chance, self.over = servers, chance, over
        self.newest, self.rows, self.count = "1970-01-01T00:00:00.000Z", {}, 0
        self.start()

    def run(self):
        while not self.over.is_set():
            self.page()
        self.finish()

    def finish(self):
        while self.page() != "end":
            pass

    def page(self):
        text = urllib.parse.quote(f"updatedAt gt datetimeoffset'{self.newest}'")
        # A page that ends within a millisecond is read on from its last row.
        target = f"/tables/t?$filter={text}&$orderby=updatedAt,id&$top=1000&__includeDeleted=true"
        try:
            answer = self.servers.ask(self.chance.randrange(PROCESSES), "GET", target)
        except (Lost, ConnectionError):
            return "lost"
        if answer.status != 200:
            return "refused"
        rows = answer.json
        if len(rows) == 1000:
            rows = [row for row in rows if row["updatedAt"] < rows[-1]["updatedAt"]]
        for row in rows:
            self.rows[row["id"]] = None if row["deleted"] else row["version"]
            self.newest = row["updatedAt"]
            self.count += 1
        return "more" if rows else "end"


def mistake(cluster):
    """A sequence alone: every tick counts as complete at once."""
    text = "\n".join(cluster.execute("SELECT pg_get_functiondef('syncline_tick'::regproc)"))
    cluster.execute(text.replace("closed, pg_current_xact_id()", "closed, '3'::xid8"))


def end_prepared(cluster, chance):
    """What an operator does about prepared transactions that their programs have left."""
    try:
        for name in cluster.execute("SELECT gid FROM pg_prepared_xacts WHERE prepared < now() - interval '1 s'"):
            if name:
                cluster.execute(f"{chance.choice(['COMMIT', 'ROLLBACK'])} PREPARED '{name}'")
    except SystemExit:
        pass


def play(options, cluster, servers, chance, round, result):
    over, ends = threading.Event(), threading.Event()
    readers = [Reader(servers, random.Random(chance.random()), table, ends) for table in "tht"]
    old = OldReader(servers, random.Random(chance.random()), ends)
    writers = [Foreign(cluster, random.Random(chance.random()), number, over) for number in range(4)]
    clients = [Client(servers, random.Random(chance.random()), number, over) for number in range(4)]
    singles = [Single(servers, random.Random(chance.random()), f"{round}.{number}", over) for number in range(12)]
    until = time.monotonic() + options.seconds
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.2, 1.5))
        kind = chance.random()
        if kind < 0.35:
            servers.kill(chance.randrange(PROCESSES))
            result["kills"] += 1
        elif kind < 0.45:
            cluster.crash()
            result["crashes"] += 1
        elif kind < 0.5:
            result["switches"] += cluster.switch()
        elif kind < 0.55:
            cluster.standby.crash()
            result["crashes"] += 1
        elif kind < 0.75:
            cluster.standby.follow(chance.random() < 0.5)
        elif kind < 0.85:
            try:
                cluster.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                                "AND backend_type = 'client backend' ORDER BY random() LIMIT 1")
            except SystemExit:
                pass
        end_prepared(cluster, chance)
    for outcome, count in servers.reads().items():
        result[outcome] += count
    cluster.standby.follow(True)
    over.set()
    for thread in [writer.thread for writer in writers] + clients + singles:
        while thread.is_alive():
            end_prepared(cluster, chance)
            thread.join(0.3)
    while cluster.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid'")[0] != "0":
        end_prepared(cluster, chance)
        time.sleep(0.05)
    ends.set()
    for reader in [*readers, old]:
        reader.join()
    for single in singles:
        single.check(cluster)
        result["wrong"] += len(single.faults)
        result["told"] += single.faults[:2]
    for reader in [*readers, old]:
        table = getattr(reader, "table", "t")
        there = dict(line.split("|") for line in cluster.execute(f'SELECT "id", "version" FROM {table} WHERE NOT "deleted"') if line)
        # A read waits for a moment only for what was held back until just now: the next one has it.
        for _ in range(10):
            decoded = {name: str(number(version)) for name, version in reader.rows.items() if version is not None}
            missed = [name for name, version in there.items() if decoded.get(name) != version]
            if not missed:
                break
            time.sleep(0.5)
            reader.finish()
        ghosts = [name for name in decoded if name not in there]
        kind = "reader of times" if reader is old else f"reader of {table}"
        result["rows"] += reader.count
        result["missed"] += len(missed)
        result["ghosts"] += len(ghosts)
        result["doubled"] += len(getattr(reader, "faults", []))
        result["resets"] += getattr(reader, "resets", 0)
        if missed or ghosts or getattr(reader, "faults", []):
            result["told"].append(f"{kind}: missed {missed[:3]}, ghosts {ghosts[:3]}, {getattr(reader, 'faults', [])[:3]}")
    result["writes"] += sum(writer.count for writer in writers) + sum(client.count for client in clients + singles)


def number(version):
    """The change number of a version, which is its bytes in base64."""
    import base64
    try:
        return int.from_bytes(base64.b64decode(version), "big")
    except ValueError:
        return version


def run(options, backend, folder):
    cluster = Cluster(folder)
    seed = int(os.environ.get("SYNCLINE_SEED", "1"))
    rounds = int(os.environ.get("SYNCLINE_ROUNDS", "3"))
    result = {key: 0 for key in ["rows", "missed", "ghosts", "doubled", "wrong", "kills", "crashes", "switches", "writes",
                                 "resets", "answered", "late", "failed"]}
    result["told"] = []
    try:
        servers = Servers(options, cluster, folder)
        if os.environ.get("SYNCLINE_MISTAKE"):
            mistake(cluster)
        for place in range(rounds):
            play(options, cluster, servers, random.Random(seed + place), place, result)
        for server in servers.all:
            server.kill()
    finally:
        cluster.close()
    told = (f"{rounds} rounds, {result['writes']} writes, {result['rows']} rows read, {result['kills']} processes and "
            f"{result['crashes']} clusters killed, {result['switches']} standbys promoted, {result['resets']} new epochs seen; "
            f"replicas answered {result['answered']} reads, were late for {result['late']}, and failed {result['failed']}")
    missed = [f"{result[key]} {key}" for key in ["missed", "ghosts", "doubled", "wrong"] if result[key]] + result["told"][:4]
    if not result["answered"]:
        missed.append("no replica answered")
    return {"attack": "numbers", "database": backend.name, "told": told, "missed": missed}
