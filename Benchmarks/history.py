"""Measures what looks into a store of many events: each command as a process of its own, the best of three, with its peak
memory, beside what is asked of it. Usage: history.py FOLDER-OF-THE-TOOLS [EVENTS]"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

tool = os.path.join(sys.argv[1], "syncline")
events = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
MEMORY = 128


def measure(words):
    """Seconds and MiB."""
    begin = time.perf_counter()
    child = subprocess.Popen([tool, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    return time.perf_counter() - begin, usage.ru_maxrss / 1024


def tell(name, seconds, asked, memory=None):
    verdict = "" if seconds <= asked and (memory or 0) <= MEMORY else "  MISSED"
    room = "" if memory is None else f"  {memory:6.1f} MiB of {MEMORY}"
    print(f"{name:44} {seconds:8.3f} s of {asked}{room}{verdict}")


with tempfile.TemporaryDirectory(prefix="syncline-bench-", dir=".") as folder:
    store = os.path.join(folder, "store")
    print(subprocess.run(
        [tool, "bench", "history", store, "--events", str(events)], capture_output=True, text=True, check=True
    ).stdout.strip())
    for name, words, asked in [
        ("inspect", ["inspect"], 0.3),
        ("blame todoitem/item-5", ["blame", "todoitem/item-5"], 0.3),
        ("log -n 20", ["log", "-n", "20"], 0.1),
        ("bisect on a row", ["replay", "--bisect", "todoitem/item-5.n gt 100000"], 5),
        ("bisect on a count", ["replay", "--bisect", "count(todoitem: done) gt 33000"], 5),
        ("bisect on a count that is never reached", ["replay", "--bisect", "count(todoitem: done) gt 999999"], 15),
        ("bisect on what is pending", ["replay", "--bisect", "pending gt 50"], 5),
        ("bisect on conflicts that never were", ["replay", "--bisect", "conflicts ge 1"], 5),
        ("log -n 20 --kind local", ["log", "-n", "20", "--kind", "local"], 0.2),
        ("a row of the past", ["get", "todoitem", "item-5", "--at", "@900000"], 0.2),
        ("a state of the past", ["query", "todoitem", "--top", "1", "--at", "@900000"], 1),
        ("diff of 20 events of the past", ["diff", "@899980", "@900000", "--stat"], 1),
    ]:
        best = min((measure([*words, "-s", store]) for _ in range(3)))
        tell(name, best[0], asked, best[1])
    # How long after its commit was acknowledged an event is shown to somebody who follows.
    follower = subprocess.Popen(
        [tool, "tail", "-f", "-n", "1", "--jsonl", "-s", store], stdout=subprocess.PIPE, text=True)
    follower.stdout.readline()
    writer = subprocess.Popen(
        [tool, "shell", "--json", "-s", store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    delays = []
    for number in range(20):
        item = json.dumps({"id": f"new-{number}", "n": number})
        writer.stdin.write(json.dumps({"n": number, "args": ["insert", "todoitem", item]}) + "\n")
        writer.stdin.flush()
        writer.stdout.readline()
        committed = time.perf_counter()
        while f"new-{number}" not in follower.stdout.readline():
            pass
        delays.append(time.perf_counter() - committed)
    tell("tail -f, slowest of 20 events", max(delays), 0.05)
    follower.send_signal(signal.SIGINT)
    follower.wait()
    writer.stdin.close()
    writer.wait()
