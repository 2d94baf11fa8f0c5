"""Kills an app and two processes that follow its store, real ones, at random moments, and checks what is stored.

Each process counts in a row of its own and prints each number before and after it stores it. After every kill the process
starts again. In the end each row must have the last number that was stored, or one that was tried after it, and the log must have
the numbers of each process in order, each once.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time


class Process:
    """A child that counts. A thread reads what it prints."""

    def __init__(self, program, mode, name, directory, counts):
        self.name = name
        self.counts = counts
        self.wrong = []
        words = [program, mode, directory] + ([name] if mode == "widget" else [])
        self.child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.child.stdout:
            words = line.split()
            if words[0] == "wrong:":
                self.wrong.append(line.strip())
            elif words[0] in ("try", "stored"):
                self.counts[words[0]][words[1]] = int(words[2])

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        self.reader.join()


def check(arguments, directory, counts):
    """What is wrong with a store in which every process has ended."""
    wrong = []
    lines = subprocess.run([arguments.program, "check", directory], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {words[1]: int(words[2]) for words in map(str.split, lines.splitlines()) if words[0] == "found"}
    for name, stored in counts["stored"].items():
        if not stored <= found.get(name, 0) <= counts["try"][name]:
            wrong.append(f"{name}: stored {stored}, tried {counts['try'][name]}, found {found.get(name, 0)}")
    log = subprocess.run([arguments.tool, "log", "--json", "-s", directory], stdout=subprocess.PIPE, text=True, check=True)
    last = {}
    for event in json.loads(log.stdout):
        for change in event.get("changes", []):
            number = (change.get("columns") or {}).get("n")
            if number is None:
                continue
            before = last.get(change["id"], 0)
            if number <= before or before and number != before + 1:
                wrong.append(f"the log has {number} after {before} of {change['id']}")
            last[change["id"]] = number
    if subprocess.run([arguments.tool, "verify", "-s", directory], stdout=subprocess.DEVNULL).returncode != 0:
        wrong.append("verify finds damage")
    if not last:
        wrong.append("the log shows no number")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="store-process")
    parser.add_argument("--tool", required=True, help="syncline")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    directory = tempfile.mkdtemp(prefix="sharing-")
    counts = {"try": {}, "stored": {}}
    wrong = []
    subprocess.run([arguments.tool, "init", "-s", directory + "/store"], stdout=subprocess.DEVNULL, check=True)
    start = {"app": "app", "one": "widget", "two": "widget"}
    running = {}
    try:
        for number in range(arguments.kills):
            for name, mode in start.items():
                if name not in running:
                    running[name] = Process(arguments.program, mode, name, directory + "/store", counts)
            time.sleep(chance.uniform(0.01, 0.3))
            name = chance.choice(["app", "app", "one", "two"])
            process = running.pop(name)
            process.kill()
            wrong += process.wrong
            if number % 50 == 49 or number == arguments.kills - 1:
                for process in running.values():
                    process.kill()
                    wrong += process.wrong
                running = {}
                wrong += check(arguments, directory + "/store", counts)
            if wrong:
                break
    finally:
        for process in running.values():
            process.kill()
    for line in wrong:
        print(line)
    if wrong:
        print(f"seed {arguments.seed}: the store is in {directory}")
        sys.exit(1)
    stored = ", ".join(f"{name} {number}" for name, number in sorted(counts["stored"].items()))
    print(f"{arguments.kills} kills; stored: {stored}")
    shutil.rmtree(directory)


main()
