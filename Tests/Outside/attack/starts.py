"""Short-lived processes on a busy PostgreSQL: started, used, then stopped or killed."""

import random
import threading
import time
import uuid

from honest import Clients
from servers import NotStarted, Server
from wire import Lost, Wire

WORKERS = 4
WRITERS = 4


class Life:
    """One process from its start to its end, and the results of the writes that were sent to it."""

    def __init__(self, server):
        self.server = server
        self.answered = []
        self.unanswered = []
        self.refused = []
        self.threads = [threading.Thread(target=self.write) for _ in range(WRITERS)]
        for thread in self.threads:
            thread.start()

    def write(self):
        """Sends writes on one connection, until it ends."""
        try:
            wire = Wire(self.server.port)
        except Lost:
            return
        while True:
            row = str(uuid.uuid4())
            try:
                answer = wire.ask("POST", "/tables/honest", {"id": row, "text": "x"})
            except Lost:
                self.unanswered.append(row)
                return
            if answer.status == 201:
                self.answered.append(row)
            else:
                self.refused.append(f"{answer.status} {answer.code}")
                # A server that is about to end says so.
                if answer.headers.get("connection") == "close":
                    return

    def join(self):
        for thread in self.threads:
            thread.join()


class Result:
    def __init__(self):
        self.lock = threading.Lock()
        self.starts = self.stops = self.kills = 0
        self.longest = 0
        self.failed = []
        self.late = []
        self.answered = []
        #: Writes that a process which was stopped, not killed, gave no answer to.
        self.unanswered = []
        self.refused = []


def live(options, backend, folder, chance, result):
    begin = time.monotonic()
    try:
        server = Server(options.tool, backend.store, ["honest"], folder)
    except NotStarted as error:
        with result.lock:
            result.failed.append(str(error))
        return
    took = time.monotonic() - begin
    life = Life(server)
    time.sleep(chance.uniform(0.02, 0.5))
    graceful = chance.random() < 0.7
    stopped, code = server.stop() if graceful else (0, server.kill() or 0)
    life.join()
    with result.lock:
        result.starts += 1
        result.longest = max(result.longest, took)
        result.stops += graceful
        result.kills += not graceful
        if stopped is None or stopped > 10 or code != 0:
            result.late.append(f"stopped in {stopped} s with {code}")
        result.answered += life.answered
        if graceful:
            result.unanswered += life.unanswered
            result.refused += life.refused


def run(options, backend, folder):
    busy = Server(options.tool, backend.store, ["honest"], folder)
    clients = Clients(busy.port).begin()
    chances = [random.Random(worker) for worker in range(WORKERS)]
    result = Result()

    def work(worker):
        for _ in range(worker, options.starts, WORKERS):
            live(options, backend, folder, chances[worker], result)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = clients.end()
    busy.stop()
    there = set(backend.execute("SELECT id FROM honest"))
    lost = sum(row not in there for row in result.answered)
    secret = sum(row in there for row in result.unanswered)

    missed = []
    if result.failed:
        missed.append(f"{len(result.failed)} starts failed: {result.failed[0]}")
    if result.late:
        missed.append(f"{len(result.late)} stops: {result.late[0]}")
    if lost:
        missed.append(f"{lost} writes were answered and are not there")
    if secret:
        missed.append(f"{secret} writes were carried out without an answer in a graceful stop")
    if report.failures:
        missed.append(f"{sum(report.failures.values())} of {report.count} honest requests failed: "
                      + ", ".join(f"{fault} ×{count}" for fault, count in report.failures.most_common(2)))
    told = (f"{result.starts} starts (the slowest took {result.longest:.1f} s), {result.stops} stops, {result.kills} kills, "
            f"{len(result.answered)} writes answered, {len(result.unanswered)} without an answer in a stop, {len(result.refused)} writes refused while stopping, {report.count} honest requests beside")
    return {"attack": "starts", "database": backend.name, "told": told, "missed": missed}
