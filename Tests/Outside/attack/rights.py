"""Callers who may write and not read try to learn values of rows: from conflicts, answers, batches, repeats and guesses."""

import base64
import hashlib
import hmac
import itertools
import json
import time
import uuid

from servers import Server
from wire import Wire

KEY = "a key of the attacks, long enough to be one"
SECRETS = ["SECRET", "918273645"]
STALE = {"If-Match": '"AAAAAAAAAAk="'}
RIGHTS = {"anonymous": None, "authenticated": [], "role:writer": ["writer"]}


def token(roles):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")
    head = part(b'{"alg":"HS256"}') + b"." + part(json.dumps(
        {"sub": "eve", "exp": int(time.time()) + 3600, "roles": roles}).encode())
    return (head + b"." + part(hmac.new(KEY.encode(), head, hashlib.sha256).digest())).decode()


def requests(table, row, gone, guess):
    """Requests about a row and about a tombstone; of the last two, one has the right guess of a value."""
    path = f"/tables/{table}"
    for one in (row, gone):
        yield "POST", path, {"id": one}, {}
        yield "POST", f"{path}/{one}", None, {}
        for method in ("PATCH", "PUT", "DELETE"):
            body = None if method == "DELETE" else {"own": "x"}
            yield method, f"{path}/{one}", body, STALE
            yield method, f"{path}/{one}", body, {"If-None-Match": "*"}
        yield "PUT", f"{path}/{one}?__includedeleted=true", {"own": "x"}, STALE
        yield "PATCH", f"{path}/{one}", {"deleted": False}, STALE
        yield "PATCH", f"{path}/{one}", {"own": "x", "version": "AAAAAAAAAAk="}, {}
        operations = [{"operation": kind, "table": table, "id": one, "ifMatch": "AAAAAAAAAAk=",
                       **({} if kind in ("delete", "undelete") else {"item": {"own": "x"}})}
                      for kind in ("insert", "update", "replace", "delete", "undelete")]
        yield "POST", "/tables/$batch", {"rows": True, "operations": operations}, {}
    yield "PATCH", f"{path}/{row}", {}, {}
    yield "GET", path, None, {}
    yield "GET", f"{path}/{row}", None, {}
    yield "GET", f"{path}/changes?since=", None, {}
    for value in ("wrong", guess):
        patch = [{"op": "test", "path": "/secret", "value": value}, {"op": "add", "path": "/own", "value": 1}]
        yield "PATCH", f"{path}/{row}", json.dumps(patch).encode(), {"Content-Type": "application/json-patch+json"}


def run(options, backend, folder):
    tables = {f"r{number}": (write, soft) for number, (write, soft) in enumerate(itertools.product(RIGHTS, (True, False)))}
    flags = [f"{name}:read=role:reader,softDelete={'true' if soft else 'false'}," + ",".join(
        f"{operation}={write}" for operation in ("insert", "update", "delete", "undelete"))
        for name, (write, soft) in tables.items()]
    server = Server(options.tool, backend.store, flags, folder, ["auth=" + json.dumps({"key": KEY})])
    count, shown, guessed = 0, [], []
    wire = Wire(server.port)
    for name, (write, _) in tables.items():
        roles = RIGHTS[write]
        login = {} if roles is None else {"X-ZUMO-AUTH": token(roles)}
        for version in ("2.0.0", "3.0.0"):
            row, gone = str(uuid.uuid4()), str(uuid.uuid4())
            for one in (row, gone):
                wire.ask("POST", f"/tables/{name}", {"id": one, "secret": f"SECRET {one}", "number": 918273645}, login)
            wire.ask("DELETE", f"/tables/{name}/{gone}", None, login)
            guesses = []
            for method, target, item, headers in requests(name, row, gone, f"SECRET {row}"):
                headers = {**headers, **login, "ZUMO-API-VERSION": version, "X-Syncline-Operation-Id": str(uuid.uuid4())}
                for _ in range(2):
                    answer = wire.ask(method, target, item, headers)
                    count += 1
                    told = answer.body.decode() + str(answer.headers)
                    if any(secret in told for secret in SECRETS) or "last-modified" in answer.headers:
                        shown.append(f"{method} {target} {version}: {answer.status}")
                guesses.append((answer.status, answer.code))
            if guesses[-1] != guesses[-2]:
                guessed.append(f"{name} {version}: {guesses[-2:]}")
    wire.close()
    server.stop()
    missed = []
    if shown:
        missed.append(f"{len(shown)} of {count} answers had a value: {shown[0]}")
    if guessed:
        missed.append(f"{len(guessed)} guesses were told apart: {guessed[0]}")
    return {"attack": "rights", "database": backend.name, "told": f"{count} requests", "missed": missed}
