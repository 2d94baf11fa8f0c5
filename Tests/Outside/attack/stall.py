"""A PostgreSQL that hangs for a while: every process of it is stopped, and later continued."""

import signal
import threading
import time

from servers import Server
from wire import Lost, Wire, once

LOAD = 12


def load(port, over, number):
    """Writes and reads without a pause, and ignores the results."""
    wire = None
    while not over.is_set():
        try:
            wire = wire or Wire(port, timeout=120)
            answer = wire.ask(*(("POST", "/tables/honest", {"text": "x"}) if number % 2 else ("GET", "/tables/honest?$top=5")))
            if answer.headers.get("connection") == "close":
                wire = None
            if answer.status >= 500:
                over.wait(0.2)
        except Lost:
            wire = None
            over.wait(0.2)


def probe(port, path, patience=5):
    """The status, and the seconds it took; no status if there was no answer."""
    begin = time.monotonic()
    try:
        status = once(port, "GET", path, timeout=patience).status
    except Lost:
        status = None
    return status, time.monotonic() - begin


def run(options, backend, folder):
    server = Server(options.tool, backend.store, ["honest"], folder)
    over = threading.Event()
    threads = [threading.Thread(target=load, args=(server.port, over, number)) for number in range(LOAD)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    missed = []
    health, metrics = [], []
    backend.signal(signal.SIGSTOP)
    try:
        end = time.monotonic() + options.standstill
        while time.monotonic() < end:
            health.append((*probe(server.port, "/healthz"), options.standstill - end + time.monotonic()))
            metrics.append(probe(server.port, "/metrics"))
            time.sleep(0.5)
    finally:
        backend.signal(signal.SIGCONT)
    begin = time.monotonic()
    recovered = None
    while recovered is None and time.monotonic() - begin < 60:
        if probe(server.port, "/healthz")[0] == 200:
            try:
                if once(server.port, "POST", "/tables/honest", {"text": "after"}, timeout=10).status == 201:
                    recovered = time.monotonic() - begin
            except Lost:
                pass
        time.sleep(0.1)

    time.sleep(1)
    backend.signal(signal.SIGSTOP)
    try:
        time.sleep(1)
        took, code = server.stop() if server.runs else (None, server.process.returncode)
    finally:
        backend.signal(signal.SIGCONT)
    over.set()
    for thread in threads:
        thread.join(150)

    # One that ends in the first second may have begun before the standstill could be seen.
    wrong = [f"{status} in {took:.1f} s, {since:.1f} s after PostgreSQL was stopped" for status, took, since in health
             if took > 1 or status != 503 and since > 1]
    if wrong:
        missed.append(f"{len(wrong)} of {len(health)} questions to /healthz: {wrong[0]}")
    slow = [f"{status} in {took:.1f} s" for status, took in metrics if status != 200 or took > 1]
    if slow:
        missed.append(f"{len(slow)} of {len(metrics)} questions to /metrics: {slow[0]}")
    if recovered is None:
        missed.append("no recovery in 60 s")
    if took is None or took > 10 or code != 0:
        missed.append(f"SIGTERM while PostgreSQL was stopped: {took} s, exit {code}")
    worst = max((took for _, took, _ in health), default=0)
    told = (f"PostgreSQL stopped for {options.standstill:.0f} s, {len(health)} questions to /healthz, the slowest took {worst:.2f} s; "
            f"recovered in {recovered if recovered is None else round(recovered, 2)} s; "
            f"SIGTERM while PostgreSQL was stopped took {took if took is None else round(took, 1)} s")
    return {"attack": "stall", "database": backend.name, "told": told, "missed": missed}
