"""The lives of stores that are swept: commands of the tool, in sessions, each a process."""

import json
import random
import urllib.request

TABLE = "todoitem"


class Step:
    """A command, and what is to be known of it.

    `store` is the name of the store it works on. Of a step that is `gradual` a part may be there after a power cut (a push
    stores an answer after another); of all others the whole or nothing. One that `creates` its store is carried out again
    where the store is not there. `keeps` names the place for its answer, which later steps may give as their input."""

    def __init__(self, *words, text=None, store="store", gradual=False, creates=False, keeps=None):
        self.words, self.text, self.store = words, text, store
        self.gradual, self.creates, self.keeps = gradual, creates, keeps

    def __str__(self):
        return " ".join(self.words)[:100]


class Elsewhere:
    """Something that happens outside of the tool: on the server, or to a file, which the next step repairs."""

    def __init__(self, name, act, damages=False):
        self.name, self.act, self.damages = name, act, damages

    def __str__(self):
        return self.name


class Story:
    """`sessions` are lists of steps. A session of one step is a process of that command, a longer one a shell."""

    def __init__(self, name, sessions, stores=("store",), server=False, secrets=()):
        self.name, self.sessions, self.stores, self.server, self.secrets = name, sessions, stores, server, secrets

    @property
    def steps(self):
        return [step for session in self.sessions for step in session]


def init(*words, store="store"):
    return Step("init", *words, store=store, creates=True)


def noise(name, length=5000):
    """A string that hardly compresses, so that it takes several sectors."""
    return random.Random(name).randbytes(length // 2).hex()


def insert(number, **columns):
    return Step("insert", TABLE, json.dumps({"id": f"row-{number}", "text": noise(number), **columns}))


def update(number, **columns):
    return Step("update", TABLE, json.dumps({"id": f"row-{number}", **columns}))


def delete(number):
    return Step("delete", TABLE, f"row-{number}")


def transaction(*numbers, **columns):
    lines = [{"insert": {"table": TABLE, "item": {"id": f"row-{number}", "note": noise(number, 400), **columns}}}
             for number in numbers]
    return Step("transaction", "-", text="\n".join(map(json.dumps, lines)) + "\n")


def config(name, value):
    return Step("config", name, value)


def on_server(number, **columns):
    """Another client changes a row."""
    def act(world):
        request = urllib.request.Request(
            f"{world.server.url}/tables/{TABLE}/row-{number}", json.dumps(columns).encode(),
            {"Content-Type": "application/json", "ZUMO-API-VERSION": "2.0.0"}, method="PATCH" if columns else "DELETE")
        urllib.request.urlopen(request, timeout=10).read()
    return Elsewhere(f"another client changes row-{number}", act)


def push():
    return Step("push", "--retries", "0", gradual=True)


def pull(*words):
    return Step("pull", TABLE, "--query-id", "all", "--retries", "0", *words, gradual=True)


def big_rows(count):
    """Rows that take several frames together."""
    def row(number):
        return {"table": TABLE, "row": {"id": f"big-{number}", "text": noise(number, 400)}}
    return "\n".join(json.dumps(row(number)) for number in range(count)) + "\n"


def damage(ending):
    """The newest file with an ending gets a wrong byte in its header, where opening it finds that."""
    return Elsewhere(f"damage to a {ending} file", lambda world: world.damage(ending), damages=True)


class Kill:
    """The process of the session is killed, and the next one recovers the store."""

    def __str__(self):
        return "kill -9"


def all_stories():
    return [
        Story("settings", [
            [init("--backend", "http://127.0.0.1:9", "--protocol", "datasync3", "--ids", "ignore-case")],
            [config("token", "token-of-a-first-day")],
            [config("headers", '{"X-Key":"header-of-a-first-day"}'), config("record", "1 MiB"),
             config("retention", "30 days"), insert(1)],
            [config("token", "token-of-a-second-day"), config("tables", "todoitem,list"),
             config("backend", "http://127.0.0.1:10")],
            [config("tables", "any")],
            [config("token", "token-of-a-third-day")],
            [Step("erase", "--force")],
            [init("--protocol", "datasync3")],
            [config("token", "token-of-a-fourth-day")],
        ], secrets=("token-of-a", "header-of-a")),
        Story("edits", [
            [init()],
            [insert(1, n=1), insert(2, n=2), update(1, text="milk"), transaction(3, 4, 5, n=3), delete(2)],
            [insert(6)],
            [update(3, n=4), Step("undo"), transaction(*range(10, 60), text=noise("fifty", 200)), delete(4),
             update(5, text=None), Step("undo"), Step("purge", TABLE, "--filter", "n eq 7"), insert(7, n=[1, {"a": 2}])],
            [update(7, n=8), insert("é", n=9)],
        ]),
        Story("repair", [
            [init()],
            [*(insert(number, n=number) for number in range(4)), Step("checkpoint"), insert(5)],
            [damage(".checkpoint")],
            [Step("repair")],
            [insert(6), transaction(*range(10, 20)), Kill()],
            [Step("repair")],
            [insert(7), Kill()],
            [update(7, text="after a kill"), Step("compact")],
        ]),
        Story("sync", [
            [init("--protocol", "zumo2")],
            [config("token", "token-for-a-server"), config("record", "1 MiB"), config("backend", "URL"),
             *(insert(number, n=number) for number in range(4)), push()],
            [pull()],
            [on_server(1, n=100), update(1, n=10), update(2, text="mine"), delete(3), push(), insert(5), pull()],
            [Step("resolve", f"{TABLE}/row-1", "--keep-mine"), push()],
            [on_server(2, text="theirs"), on_server(0), update(2, text="mine again"), update(0, text="still here"),
             pull("--no-push"), Step("checkpoint")],
            [Step("resolve", f"{TABLE}/row-2", "--take-server"), Step("resolve", f"{TABLE}/row-0", "--discard"), push(),
             Step("compact")],
            [Step("sync", TABLE, gradual=True), Step("cursors", "--reset", f"{TABLE}/all")],
        ], server=True, secrets=("token-for-a",)),
        Story("exchange", [
            [init()],
            [*(insert(number, n=number) for number in range(5)), update(2, n=20), Step("checkpoint")],
            [Step("import", text=big_rows(400))],
            [Step("export", "--format", "events", keeps="events")],
            [Step("export", keeps="rows")],
            [Step("import", text="events", store="copy", creates=True)],
            [init(store="other")],
            [Step("import", text="rows", store="other")],
            [Step("report", "-o", "REPORT")],
        ], stores=("store", "copy", "other")),
        Story("branch", [
            [init()],
            [*(insert(number, n=number) for number in range(5))],
            [Step("branch", "create", "draft")],
            [Step("update", TABLE, '{"id":"row-1","text":"drafted"}', "--branch", "draft")],
            [Step("delete", TABLE, "row-2", "--branch", "draft")],
            [Step("insert", TABLE, '{"id":"row-9","n":9}', "--branch", "draft")],
            [Step("branch", "land", "draft")],
            [update(1, n=100)],
            [Step("branch", "create", "past", "--at", "@-2")],
            [Step("branch", "drop", "past")],
        ], stores=("store", "store/branches/draft", "store/branches/past")),
        Story("history", [
            [init()],
            [config("retention", "5 events"), *(insert(number, n=number) for number in range(8)), Step("checkpoint"),
             update(1, n=100)],
            [Step("checkpoint")],
            [Step("purge", TABLE, "--filter", "n lt 6", "--force"), update(7, n=200), Step("compact"), insert(20)],
            [Step("compact")],
            [update(7, n=201), Step("checkpoint"), update(7, n=202), Step("compact"), insert(21), delete(20)],
        ]),
    ]
