"""Measures the commands that inspect a store of many events: each command as a process of its own, the best of three, with its
processor time and peak memory, beside what is asked of it. What is asked about a moment of the past is asked about
twelve of them, and the slowest counts. Usage: history.py FOLDER-OF-THE-TOOLS [EVENTS]"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

tool = os.path.join(sys.argv[1], "syncline")
events = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
#: What a search over all events may take, and what a question about one moment may, in MiB.
MEMORY, MOMENT = 128, 64
#: The last and the first events, and others by chance.
moments = [events, 1, *random.Random(1).sample(range(1, events), 10)]


def measure(words):
    """Seconds, seconds of the processor, and MiB."""
    begin = time.perf_counter()
    child = subprocess.Popen([tool, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def best(words):
    return min(measure([*words, "-s", store]) for _ in range(3))


class Studio:
    """The web page of a store, whose charts are asked for by a process that has answered nothing else."""

    def __init__(self):
        self.process = subprocess.Popen(
            [tool, "studio", "-s", store], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.page = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.root = self.process.stdout.readline().strip()
        self.page.open(self.root).read()

    def charts(self):
        """Seconds, seconds of the processor, and MiB."""
        begin = time.perf_counter()
        self.page.open(self.root.split("?")[0] + "api/charts").read()
        seconds = time.perf_counter() - begin
        self.process.send_signal(signal.SIGTERM)
        _, _, usage = os.wait4(self.process.pid, 0)
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def tell(name, seconds, asked, processor=None, memory=None, room=MEMORY):
    verdict = "" if seconds <= asked and (memory or 0) <= room else "  MISSED"
    more = "" if memory is None else f"  {processor:7.3f} s of the processor  {memory:6.1f} MiB of {room}"
    print(f"{name:44} {seconds:8.3f} s of {asked:<5}{more}{verdict}", flush=True)


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
        ("stats", ["stats"], 1.5),
        ("inspect operations", ["inspect", "operations"], 1),
        ("report", ["report", "-o", os.path.join(folder, "report")], 3),
        ("export of the events", ["export", "--format", "events"], 3),
        ("replay with another policy", ["replay", "--policy", "client-wins"], 2.5),
        ("replay without an event", ["replay", "--without", f"@{events // 2}"], 2.5),
        ("an event in SQL", ["sql", f"select * from syncline_events where event = {events // 2}"], 0.1),
    ]:
        seconds, processor, memory = best(words)
        tell(name, seconds, asked, processor, memory)
    seconds, processor, memory = min(Studio().charts() for _ in range(3))
    tell("the charts of the studio", seconds, 1.5, processor, memory)
    for name, words, asked in [
        ("a row of the past", lambda event: ["get", "todoitem", "item-5", "--at", f"@{event}"], 0.2),
        ("a state of the past", lambda event: ["query", "todoitem", "--top", "1", "--at", f"@{event}"], 1),
        ("diff of 20 events of the past",
         lambda event: ["diff", f"@{max(1, event - 20)}", f"@{event}", "--stat"], 1),
    ]:
        found = [best(words(event)) for event in moments]
        seconds, processor, memory = map(max, zip(*found))
        tell(name, seconds, asked, processor, memory, MOMENT)
    # The questions of docs/QUESTIONS.md that no server answers and no command above.
    for number, commands in {
        1: [["status"]],
        3: [["pending"]],
        5: [["conflicts"]],
        7: [["get", f"todoitem/item-5@{events // 2}"]],
        8: [["log", "todoitem/item-5"]],
        9: [["blame", "todoitem/item-5.text"]],
        10: [["why", "todoitem/item-5"]],
        11: [["log", "--since", "1 hour ago", "-n", "1"]],
        12: [["diff", f"@{events // 2}", "--stat"]],
        13: [["search", "oat"]],
        14: [["replay", "--bisect", "todoitem/item-5.n gt 100000"]],
        15: [["replay", "--policy", "server-wins"]],
        16: [["delete", "todoitem", "item-5"], ["undo"], ["redo"]],
        17: [["inspect", "operations"]],
        18: [["verify"]],
        19: [["query", "todoitem", "--filter", "contains(text,'milk')", "--select", "id,text"]],
        20: [["report", "-o", os.path.join(folder, "report")]],
    }.items():
        seconds = min(sum(measure([*words, "-s", store])[0] for words in commands) for _ in range(3))
        print(f"question {number:<2} {seconds:40.2f} s", flush=True)
    # How long after its commit was acknowledged an event is shown to a follower.
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
