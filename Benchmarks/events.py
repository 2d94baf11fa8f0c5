"""Measures events: the time from a commit's answer to each listener, and the server's memory for a listener.
Usage: events.py SERVER [LISTENERS] [COMMITS] [STORE]; the store is sqlite:FILE by default."""

import http.client
import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import time

program = sys.argv[1]
listeners = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
commits = int(sys.argv[3]) if len(sys.argv) > 3 else 50


def resident(pid):
    """The private memory of a process."""
    lines = open(f"/proc/{pid}/smaps_rollup").read()
    return sum(int(value) for value in re.findall(r"^(?:Private_Clean|Private_Dirty): +(\d+) kB", lines, re.M))


def drain(watch, sockets, wanted, seconds=10):
    """Waits until a number of listeners have heard something. Returns the times when each was read."""
    times, end = [], time.monotonic() + seconds
    while len(times) < wanted and time.monotonic() < end:
        for number, _ in watch.poll(0.05):
            heard = sockets[number].recv(65536)
            assert heard, "the server closed a listener"
            if b"data:" in heard:
                times.append(time.monotonic())
    return times


with tempfile.TemporaryDirectory(prefix="syncline-bench-", dir=".") as folder:
    store = sys.argv[4] if len(sys.argv) > 4 else f"sqlite:{folder}/server.db"
    path = os.path.join(folder, "server.json")
    json.dump({"store": store, "listen": "127.0.0.1:0", "log": "none", "limits": {"connections": 2 * listeners + 64},
               "tables": {"note": {"columns": {"text": "string"}}}}, open(path, "w"))
    server = subprocess.Popen([program, "--config", path], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)\D*$", server.stdout.readline()).group(1))
        writer = http.client.HTTPConnection("127.0.0.1", port)

        def commit():
            headers = {"Content-Type": "application/json"}
            writer.request("POST", "/tables/note", json.dumps({"text": "a"}), headers)
            answer = writer.getresponse()
            answer.read()
            assert answer.status == 201, answer.status
            return time.monotonic()

        commit()
        before = resident(server.pid)
        watch, sockets = select.epoll(), {}
        for _ in range(listeners):
            one = socket.create_connection(("127.0.0.1", port))
            one.sendall(b"GET /tables/$events?tables=note HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            sockets[one.fileno()] = one
            watch.register(one, select.EPOLLIN)
        assert len(drain(watch, sockets, listeners)) == listeners
        time.sleep(1)
        drain(watch, sockets, 1, 0.5)
        times, last = [], []
        for _ in range(commits):
            begin = commit()
            heard = sorted(moment - begin for moment in drain(watch, sockets, listeners))
            assert len(heard) == listeners, f"{len(heard)} of {listeners} heard of a commit"
            times += heard
            last.append(heard[-1])
            time.sleep(0.1)
        memory = (resident(server.pid) - before) / listeners
        times.sort()
        last.sort()
        print(f"{listeners:,} listeners: p50 {times[len(times) // 2] * 1000:.2f} ms, "
              f"p99 {times[len(times) * 99 // 100] * 1000:.2f} ms, the last one {last[len(last) // 2] * 1000:.2f} ms, "
              f"{memory:.1f} KiB for each", flush=True)
    finally:
        server.terminate()
        server.wait()
