"""Clients with ordinary requests, and how long they wait."""

import multiprocessing
import threading
import time
import uuid
from collections import Counter

from wire import Lost, Wire

#: Each client sends its next request this many seconds after an answer.
PAUSE = 0.01
#: A request without an answer after this many seconds has failed.
PATIENCE = 20
ROLES = ["insert", "update", "row", "list", "health"]


class Report:
    """What the clients observed in some seconds."""

    def __init__(self, times, failures):
        self.times = times
        self.failures = failures

    @property
    def count(self):
        return sum(len(times) for times in self.times.values())

    def percentile(self, role, share):
        """How long the given share of requests waited at most, in milliseconds.

        A request that waits keeps its client from sending others. These count as if they had been sent, each a pause
        later than the one before: else a server that hangs for ten seconds would have kept only one waiting.
        """
        waited = []
        for took in self.times[role]:
            waited.append(took)
            while (took := took - 2 * PAUSE) > 2 * PAUSE:
                waited.append(took)
        waited.sort()
        return 1000 * waited[min(len(waited) - 1, int(share * len(waited)))] if waited else 0.0


class Clients:
    """Runs the clients in a process of their own, so that attackers do not hold them up."""

    def __init__(self, port, reconnects=True, table="honest"):
        self.port = port
        self.reconnects = reconnects
        self.table = table

    def begin(self):
        self.over = multiprocessing.Event()
        self.receiver, sender = multiprocessing.Pipe(False)
        self.process = multiprocessing.Process(target=self.work, args=(sender,), daemon=True)
        self.process.start()
        sender.close()
        return self

    def end(self):
        self.over.set()
        report = self.receiver.recv()
        self.process.join()
        return report

    def during(self, seconds):
        self.begin()
        time.sleep(seconds)
        return self.end()

    def work(self, sender):
        report = Report({role: [] for role in ROLES}, Counter())
        threads = [threading.Thread(target=self.serve, args=(role, report)) for role in ROLES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sender.send(report)
        sender.close()

    def serve(self, role, report):
        steps = 0
        wire = None
        mine = str(uuid.uuid4())
        known = False
        while not self.over.is_set():
            steps += 1
            words = self.words(role, mine, steps, known)
            begin = time.monotonic()
            fault = None
            try:
                # A connection that was used may be closed by the server at any time: then it is tried once more.
                for fresh in [wire is None, True]:
                    if wire is None:
                        wire = Wire(self.port, timeout=PATIENCE)
                    try:
                        answer = wire.ask(*words)
                        break
                    except Lost:
                        wire.close()
                        wire = None
                        if fresh or time.monotonic() - begin > PATIENCE / 2:
                            raise
                if answer.status >= 400:
                    fault = f"{role} {answer.status} {answer.code}"
                else:
                    known = True
                if answer.headers.get("connection") == "close" or (self.reconnects and steps % 20 == 0):
                    wire.close()
                    wire = None
            except Lost as lost:
                fault = f"{role} {lost}"
                wire = None
            report.times[role].append(time.monotonic() - begin)
            if fault:
                report.failures[fault] += 1
            self.over.wait(PAUSE)
        if wire:
            wire.close()

    def words(self, role, mine, steps, known):
        table = f"/tables/{self.table}"
        operation = {"X-Syncline-Operation-Id": str(uuid.uuid4())}
        item = {"text": f"milk {steps}", "complete": steps % 2 == 0}
        if role == "insert" or role in ("update", "row") and not known:
            return "POST", table, {"id": mine if role != "insert" else str(uuid.uuid4()), **item}, operation
        return {
            "update": ("PATCH", f"{table}/{mine}", item, operation),
            "row": ("GET", f"{table}/{mine}"),
            "list": ("GET", f"{table}?$filter=complete%20eq%20true&$top=20"),
            "health": ("GET", "/healthz" if steps % 2 else "/metrics"),
        }[role]
