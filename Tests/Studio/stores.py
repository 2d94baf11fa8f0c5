"""The stores of the stories: one with a life of some days, one whose log is damaged, and one with many events."""

import base64
import json
import os
import signal
import subprocess

tools = None


def run(store, *words, text=None, fails=False):
    words = list(words)
    place = words.index("--") if "--" in words else len(words)
    done = subprocess.run([os.path.join(tools, "syncline"), *words[:place], "-s", store, *words[place:]], input=text,
                          capture_output=True, text=True)
    if done.returncode and not fails:
        raise SystemExit(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout + (done.stderr if fails else "")


class Server:
    def __init__(self, folder, tables):
        words = [word for table in tables for word in ["--table", table]]
        self.process = subprocess.Popen(
            [os.path.join(tools, "syncline-server"), "--store", f"sqlite:{folder}/server.db", "--listen", "127.0.0.1:0",
             *words, "--log", "none"], stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


TEXTS = ["call the plumber", "water the plants", "buy oat milk", "send the invoice", "book the train", "bread and butter",
         "renew the passport", "read chapter four", "clean the bicycle", "write to Ada", "plan the garden", "fix the lamp"]


def life(folder):
    """Two devices and a server: inserts, pulls, an undo, a recorded push, a conflict that waits, and edits after it."""
    store, other = os.path.join(folder, "draft"), os.path.join(folder, "other")
    server = Server(folder, ["notes", "lists"])
    try:
        for path in [store, other]:
            run(path, "init", "--backend", server.url)
        run(store, "config", "record", "4 MiB")
        rows = [{"id": f"r{n}", "text": TEXTS[n % 12], "done": n % 3 == 0, "stars": n % 6} for n in range(36)]
        run(other, "insert", "lists", '{"id":"home","name":"Home <b>and</b> garden"}')
        run(other, "insert", "notes", "-", "--each", text="\n".join(json.dumps(row) for row in rows))
        run(other, "push")
        run(store, "pull", "notes")
        run(store, "pull", "lists")
        for n in [3, 5, 8]:
            run(store, "update", "notes", json.dumps({"id": f"r{n}", "done": True}))
        run(store, "insert", "notes", json.dumps({"id": "n1", "text": "a note from the train", "done": False, "stars": 2}))
        run(store, "delete", "notes", "r7")
        run(store, "undo")
        run(store, "push")
        run(store, "update", "notes", '{"id":"r1","text":"water the plants twice","stars":5}')
        run(other, "pull", "notes")
        run(other, "update", "notes", '{"id":"r1","text":"water the <b>cactus</b> only","done":true}')
        run(other, "update", "notes", '{"id":"r2","stars":1}')
        run(other, "push")
        run(store, "update", "notes", '{"id":"r2","text":"buy oat milk and coffee"}')
        run(store, "push", fails=True)
        run(store, "pull", "notes", fails=True)
        run(store, "update", "notes", '{"id":"r4","text":"book the night train"}')
        run(store, "delete", "notes", "r9")
        run(store, "update", "notes", '{"id":"n1","stars":4}')
    finally:
        server.close()
    return spread(store, os.path.join(folder, "notes"))


def spread(store, target):
    """The same history over a working week: only the times of the events differ."""
    lines = [json.loads(line) for line in run(store, "export", "--format", "events").splitlines()]
    sessions = sum(line["kind"] == "opened" for line in lines)
    begin, day, session = 1_779_087_600_000, 86_400_000, 0  # a Monday in May
    for number, line in enumerate(lines):
        session += line["kind"] == "opened"
        share = 4.3 * session / sessions
        time = begin + int(share) * day + int(share % 1 * 10 * 3_600_000) + number * 43
        line["record"] = base64.b64encode(at_time(base64.b64decode(line["record"]), time)).decode()
    run(target, "import", text="\n".join(json.dumps({"address": line["address"], "record": line["record"]}) for line in lines))
    for name in ["traffic.jsonl", "traffic.jsonl.old"]:
        if os.path.exists(f"{store}/{name}"):
            os.link(f"{store}/{name}", f"{target}/{name}")
    return target


def at_time(record, time):
    """An event begins with its kind and its time, a signed number in seven bits a byte."""
    end = 1
    while record[end] & 0x80:
        end += 1
    number, coded = time << 1, bytearray()
    while number >= 0x80:
        coded.append(number & 0x7F | 0x80)
        number >>= 7
    coded.append(number)
    return record[:1] + bytes(coded) + record[end + 1:]


def damage(store, folder):
    """A copy of a store in which two parts of the log can't be read. Its events must be in frames of their own."""
    copy = os.path.join(folder, "damaged")
    subprocess.run(["cp", "-r", store, copy], check=True)
    segments = sorted(name for name in os.listdir(copy) if name.endswith(".seg"))
    frames = [json.loads(line) for line in run(store, "inspect", "frames", "--jsonl").splitlines()]
    whole = [frame for frame in frames if frame.get("records")]
    with open(os.path.join(copy, segments[0]), "r+b") as file:
        for frame in (whole[len(whole) // 4], whole[len(whole) // 2]):
            file.seek(int(frame["address"].split(":")[1]) + 60)
            file.write(b"\xff" * 8)
    # A checkpoint would hide that the newest state lacks something.
    for name in os.listdir(copy):
        if "checkpoint" in name:
            os.remove(os.path.join(copy, name))
    return copy


def many(folder):
    """Many events; SYNCLINE_LARGE_STORE names a store with more."""
    return os.environ.get("SYNCLINE_LARGE_STORE") or large(folder)


def large(folder):
    store = os.path.join(folder, "large")
    run(store, "init")
    rows = "\n".join(json.dumps({"id": f"r{n}", "text": f"row {n}", "n": n}) for n in range(3000))
    run(store, "insert", "rows", "-", "--each", text=rows)
    return store
