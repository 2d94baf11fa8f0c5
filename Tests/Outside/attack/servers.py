"""Starts the real server and a PostgreSQL of its own, looks at their processes, and stops them."""

import glob
import itertools
import json
import os
import signal
import subprocess
import tempfile
import time


class Server:
    """A `syncline-server` on a free port of this machine."""

    #: A server that wants more memory than this is ended by the system, rather than taking the machine with it.
    DATA = 3 << 30
    numbers = itertools.count()

    def __init__(self, tool, store, tables, folder, settings=(), descriptors=None, reads_log=True):
        words = ["prlimit", f"--data={Server.DATA}"]
        if descriptors:
            words += [f"--nofile={descriptors}"]
        words += [tool, *(["--store", store] if store else []), "--listen", "127.0.0.1:0", "--log", "json"]
        for table in tables:
            words += ["--table", table]
        for setting in settings:
            words += ["--set", setting]

        self.log = os.path.join(folder, f"server-{next(Server.numbers)}.log")
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=errors if reads_log else subprocess.PIPE, text=True,
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
        line = self.process.stdout.readline()
        self.process.stdout.close()
        if not line:
            raise NotStarted(self.process.wait(), self.last_words())
        self.port = int(json.loads(line)["url"].rsplit(":", 1)[1])

    def last_words(self):
        with open(self.log, "rb") as log:
            log.seek(max(0, os.path.getsize(self.log) - 600))
            return log.read().decode(errors="replace").strip()

    @property
    def runs(self):
        return self.process.poll() is None

    @property
    def peak(self):
        """The most memory it has had so far, in MiB."""
        try:
            with open(f"/proc/{self.process.pid}/status") as file:
                for line in file:
                    if line.startswith("VmHWM"):
                        return int(line.split()[1]) / 1024
        except OSError:
            pass
        return 0

    @property
    def processor(self):
        """The seconds of processor time it has used."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return 0

    def stop(self, patience=30):
        """The seconds until SIGTERM ended it, and its exit code; it is killed if it did not end."""
        begin = time.monotonic()
        self.process.terminate()
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            return None, None
        return time.monotonic() - begin, code

    def kill(self):
        self.process.kill()
        self.process.wait()


class NotStarted(Exception):
    def __init__(self, code, words):
        super().__init__(f"exit {code}: {words[-300:]}")


class SQLite:
    """A file that servers keep their rows in."""

    name = "sqlite"

    def __init__(self, folder):
        self.path = os.path.join(folder, "attack.db")
        self.store = "sqlite:" + self.path

    def execute(self, statement):
        import sqlite3
        connection = sqlite3.connect(self.path, timeout=30)
        connection.execute(statement)
        connection.commit()
        connection.close()

    def close(self):
        pass


class PostgreSQL:
    """A cluster in a folder of its own, reached by a socket in it. SYNCLINE_POSTGRES: the folder of another version."""

    name = "postgresql"
    settings = ""
    port = 5432

    @staticmethod
    def programs():
        """The folder with `initdb`; nothing if it is not installed."""
        if "SYNCLINE_POSTGRES" in os.environ:
            return os.environ["SYNCLINE_POSTGRES"]
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
        return os.path.dirname(found[-1]) if found else None

    def __init__(self, folder):
        self.programs = PostgreSQL.programs()
        # PostgreSQL does not run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        # The path of its socket may not be long.
        self.place = tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp")
        self.folder = self.place.name
        self.data = os.path.join(self.folder, "data")
        if self.user:
            subprocess.run(["chown", "postgres", self.folder], check=True)
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync")
        self.start()
        self.run("createdb", "-h", self.folder, "-U", "tester", "-T", "template0", "-l", "C", "attack")
        self.store = f"postgresql:///attack?host={self.folder.replace('/', '%2F')}&user=tester"

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(self.folder, "log"), "-o",
                 f"-k {self.folder} -p {self.port} -h '' -c fsync=off -c max_connections=900 {self.settings}", "start")

    def shell(self):
        """The words that start an interactive session."""
        return [*self.user, os.path.join(self.programs, "psql"), "-qAt", "-h", self.folder, "-p", str(self.port), "-U", "tester", "-d", "attack"]

    def run(self, program, *words):
        done = subprocess.run([*self.user, os.path.join(self.programs, program), *words], cwd="/",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if program == "psql" else
                              subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{program} failed: {done.stderr.strip()}")
        return done.stdout

    def execute(self, statement):
        """Runs a statement and returns the first column of its result."""
        return self.run("psql", "-qAt", "-h", self.folder, "-p", str(self.port), "-U", "tester", "-d", "attack", "-c",
                        statement).split("\n")

    def processes(self):
        """The cluster's own processes: the first one, and its children."""
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            first = int(file.readline())
        with open(f"/proc/{first}/task/{first}/children") as file:
            return [first] + [int(word) for word in file.read().split()]

    def signal(self, number):
        """Sends the signal to every process, including those that start meanwhile."""
        known = set()
        while True:
            new = [process for process in self.processes() if process not in known]
            if not new:
                return
            for process in new:
                known.add(process)
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    pass

    def close(self):
        self.signal(signal.SIGCONT)
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        self.place.cleanup()
