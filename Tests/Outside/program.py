"""Runs the real tools: sessions of commands under the shim, and the server."""

import itertools
import json
import os
import signal
import subprocess
import threading

import disk

#: How long a command may take, in seconds; a longer one hangs.
TIMEOUT = 120


class Died(Exception):
    """The tool ended in the middle of a session."""


class Shim:
    """What the shim is told for the processes of one life: which folder, what to write down, which call to fail."""

    def __init__(self, library, folder, root, record=None):
        self.root = root
        self.count = os.path.join(folder, "count")
        with open(self.count, "wb") as file:
            file.write(bytes(264))
        self.record = record
        self.environment = dict(os.environ, LD_PRELOAD=library, SWEEP_ROOT=root, SWEEP_COUNT=self.count,
                                SWIFT_BACKTRACE="enable=no")
        if record:
            self.environment["SWEEP_RECORD"] = record

    def spoil(self, mode, number, error, kinds):
        self.environment["SWEEP_FAULT"] = f"{mode} {number} {error} {disk.mask(kinds):x}"

    def heal(self):
        self.environment.pop("SWEEP_FAULT", None)

    @property
    def calls(self):
        """The number of calls of the kinds that the fault is for."""
        with open(self.count, "rb") as file:
            return int.from_bytes(file.read(8), "little")

    @property
    def hit(self):
        """The call that the fault hit; None if there were fewer calls."""
        with open(self.count, "rb") as file:
            return file.read()[8:].split(b"\0")[0].decode()

    @property
    def position(self):
        return os.path.getsize(self.record) if self.record else 0


class Reply:
    """What a command answered."""

    def __init__(self, code, value):
        self.exit = code
        self.value = value

    @property
    def error(self):
        """What went wrong, if anything did: an error, one that ends a list, or the reason of a report."""
        value = self.value
        if isinstance(value, list) and value:
            value = value[-1]
        if not isinstance(value, dict):
            return None
        if "error" in value:
            return value["error"]
        for report in [value, value.get("push", {}), *value.get("pulls", [])]:
            if report.get("reason"):
                return {"code": report["reason"], **report}
        return None

    def __str__(self):
        text = json.dumps(self.value, ensure_ascii=False)
        return f"exit {self.exit}, {text if len(text) < 600 else text[:600] + '…'}"


def alone(tool, store, words, environment, text=None):
    """One command as a process of its own."""
    done = subprocess.run([tool, "-s", store, *words, "--json"], input=text, capture_output=True, text=True,
                          env=environment, timeout=TIMEOUT)
    if done.returncode < 0:
        if -done.returncode == signal.SIGKILL:
            raise Died()
        raise Crash(words, done.returncode, done.stderr)
    try:
        value = json.loads(done.stdout or "null")
    except ValueError:
        value = done.stdout
    return Reply(done.returncode, value)


class Crash(Exception):
    """The tool ended by a signal that was not sent to it, or reported a defect of its own."""

    def __init__(self, words, code, errors):
        super().__init__(f"{' '.join(words)[:80]}: ended with {code}: {errors[-400:]}")


class Session:
    """`shell --json`: many commands over one open store."""

    def __init__(self, tool, store, environment):
        self.numbers = itertools.count()
        self.process = subprocess.Popen(
            [tool, "-s", store, "shell", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment, text=True)

    def run(self, words, text=None):
        request = {"n": next(self.numbers), "args": words}
        if text is not None:
            request["input"] = text
        watch = threading.Timer(TIMEOUT, self.process.send_signal, [signal.SIGABRT])
        watch.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watch.cancel()
        if not line:
            self.end(words)
            raise Died()
        reply = json.loads(line)
        if reply["exit"] == 70:
            raise Crash(words, 70, line)
        return Reply(reply["exit"], {"error": reply["error"]} if "error" in reply else reply["result"])

    def end(self, words=("the end of a session",)):
        """Waits for the end; returns what the tool said if something went wrong."""
        try:
            out, errors = self.process.communicate(timeout=TIMEOUT)
        except (BrokenPipeError, ValueError):
            out, errors = "", ""
            self.process.wait(TIMEOUT)
        code = self.process.returncode
        if code == -signal.SIGKILL:
            raise Died()
        if code < 0 or code == 70:
            raise Crash(words, code, errors)
        try:
            return Reply(code, json.loads(out or "null"))
        except ValueError:
            return Reply(code, out)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in [self.process.stdin, self.process.stdout, self.process.stderr]:
            try:
                stream.close()
            except BrokenPipeError:
                pass


class Server:
    """A `syncline-server` over a file, on a free port of this machine."""

    def __init__(self, tool, folder):
        self.process = subprocess.Popen(
            [tool, "--store", f"sqlite:{folder}/server.db", "--listen", "127.0.0.1:0", "--table", "todoitem",
             "--log", "none"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
