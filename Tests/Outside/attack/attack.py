"""Attacks the server, and measures what honest clients notice. See `tools/attack --help`."""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time

import adopted
import attacks
import handshakes
import numbering
import rights
import stall
import starts
import tenants
import wakeups
from honest import ROLES, Clients
from servers import NotStarted, PostgreSQL, Server, SQLite
from wire import Lost

#: Attacks that are judged by other measures, and the databases that they concern.
EXTRAS = {
    "rights": (rights.run, [PostgreSQL, SQLite]), "adopted": (adopted.run, [PostgreSQL, SQLite]),
    "starts": (starts.run, [PostgreSQL]), "numbers": (numbering.run, [PostgreSQL]), "stall": (stall.run, [PostgreSQL]),
    "wakeups": (wakeups.run, [SQLite, PostgreSQL]), "handshakes": (handshakes.run, [SQLite]),
    "tenants": (tenants.run, [PostgreSQL])}


class Options:
    def __init__(self, words):
        parser = argparse.ArgumentParser(
            prog="tools/attack", description="Attacks a server while honest clients use it. An attack is met if no honest "
            "request fails, if the slowest of a hundred takes no more than 5 times as long as without the attack, if memory "
            "stays within its bound, and if the server ends within 10 s of SIGTERM. Exit code 1 if any was not.")
        parser.add_argument("--tools", required=True, help=argparse.SUPPRESS)
        parser.add_argument("--only", metavar="NAME", action="append", help="only these attacks: "
                            + ", ".join(attack.name for attack in attacks.all_attacks(0)) + "; or rights, adopted, "
                            "wakeups or handshakes, or starts, stall, numbers or tenants (the last four only on PostgreSQL)")
        parser.add_argument("--database", choices=["sqlite", "postgresql"], help="only this database (default: both)")
        parser.add_argument("--seconds", type=float, default=8, help="how long an attack is looked at (default: %(default)s)")
        parser.add_argument("--quiet", type=float, default=4, help="how long the clients are alone before (default: %(default)s)")
        parser.add_argument("--rows", type=int, default=200_000, help="rows of the table that is scanned (default: %(default)s)")
        parser.add_argument("--memory", type=int, default=700, help="MiB that the server may have (default: %(default)s)")
        parser.add_argument("--floor", type=float, default=50, help="milliseconds: a quiet p99 below this counts as this, "
                            "because the rest is noise of the machine (default: %(default)s)")
        parser.add_argument("--starts", type=int, default=100, help="starts and stops of processes (default: %(default)s)")
        parser.add_argument("--tenants", type=int, default=20, help="tenants on each of two PostgreSQLs "
                            "(default: %(default)s)")
        parser.add_argument("--standstill", type=float, default=60,
                            help="seconds for which PostgreSQL does not respond (default: %(default)s)")
        parser.add_argument("--json", action="store_true", help="prints the results as JSON, one a line")
        parser.parse_args(words, self)
        self.tool = os.path.join(self.tools, "syncline-server")
        self.attacks = [attack for attack in attacks.all_attacks(self.rows) if self.wants(attack.name)]
        known = {attack.name for attack in attacks.all_attacks(0)} | set(EXTRAS)
        for name in self.only or []:
            if name not in known:
                parser.error(f"there is no attack {name}")

    def wants(self, name):
        return not self.only or name in self.only


def play_twice(options, backend, attack, folder):
    """One attack. If clients only had to wait, it is played again: the machine may have had something else to do."""
    seen = play(options, backend, attack, folder)
    if not seen["onlyWaited"]:
        return seen
    print(f"{attack.name} on {backend.name} is played again: {'; '.join(seen['missed'])}", file=sys.stderr, flush=True)
    return play(options, backend, attack, folder, prepares=False)


def play(options, backend, attack, folder, prepares=True):
    """One attack on a server of its own; what was seen, and what was missed."""
    seen = {"attack": attack.name, "database": backend.name}
    tables = ["honest", *attack.tables]
    if attack.prepare and prepares:
        server = Server(options.tool, backend.store, tables, folder)
        attack.prepare(server, backend)
        server.stop()
    server = Server(options.tool, backend.store, tables, folder, attack.settings, attack.descriptors,
                    attack.reads_log)
    clients = Clients(server.port, attack.reconnects)
    clients.during(1)
    idle = server.processor
    quiet = clients.during(options.quiet)
    idle = (server.processor - idle) / options.quiet
    over = multiprocessing.Event()
    attacker = multiprocessing.Process(target=attack.run, args=(server.port, over), daemon=True)
    # Clients that keep their connections have them before the attack.
    clients.begin()
    time.sleep(0.2)
    attacker.start()
    used = server.processor
    time.sleep(options.seconds)
    used = (server.processor - used) / options.seconds
    loud = clients.end()
    peak = server.peak
    died = not server.runs
    took, code = (None, server.process.returncode) if died else server.stop()
    over.set()
    attacker.join(10)
    attacker.kill()

    ratios = {}
    for role in ROLES:
        ratios[role] = loud.percentile(role, 0.99) / max(quiet.percentile(role, 0.99), options.floor)
    worst = max(ratios, key=ratios.get)
    failed = sum(loud.failures.values())
    seen |= {
        "honest": loud.count, "failed": failed, "worst": worst,
        "quietP50": quiet.percentile(worst, 0.5), "quietP99": quiet.percentile(worst, 0.99),
        "p50": loud.percentile(worst, 0.5), "p99": loud.percentile(worst, 0.99), "times": ratios[worst],
        "peakMiB": peak, "processors": used, "stopSeconds": took, "failures": dict(loud.failures.most_common(5)),
    }
    missed = []
    if failed:
        missed.append(f"{failed} failed: " + ", ".join(f"{fault} ×{count}" for fault, count in loud.failures.most_common(2)))
    if ratios[worst] > 5:
        missed.append(f"{worst} waited {seen['p99']:.0f} ms")
    if peak > options.memory:
        missed.append(f"{peak:.0f} MiB of memory")
    if died:
        missed.append(f"the server ended with {code}: {server.last_words()[-160:]}")
    elif took is None:
        missed.append("the server did not end within 30 s of SIGTERM")
    elif took > 10 or code != 0:
        missed.append(f"SIGTERM took {took:.1f} s, exit {code}")
    if attack.descriptors and used > idle + 0.3:
        missed.append(f"{used:.1f} processors busy, and {idle:.1f} before")
    seen["missed"] = missed
    seen["onlyWaited"] = len(missed) == 1 and " waited " in missed[0]
    return seen


def row(seen):
    stop = "never" if seen["stopSeconds"] is None else f"{seen['stopSeconds']:.1f}"
    return (f"{seen['attack']:13} {seen['database']:10} {seen['honest']:6} {seen['failed']:6}  {seen['worst']:6} "
            f"{seen['quietP50']:7.1f} {seen['quietP99']:7.1f} {seen['p50']:8.1f} {seen['p99']:8.1f} {seen['times']:6.1f} "
            f"{seen['peakMiB']:6.0f} {stop:>6}  {'; '.join(seen['missed']) or 'met'}")


HEAD = (f"{'attack':13} {'database':10} {'honest':>6} {'failed':>6}  {'worst':6} {'p50':>7} {'p99':>7} {'p50':>8} {'p99':>8} "
        f"{'times':>6} {'MiB':>6} {'stop s':>6}\n{'':47} {'quiet, ms':>13} {'attacked, ms':>18}")


def backends(options, folder):
    if options.database != "postgresql":
        yield SQLite
    if options.database != "sqlite":
        if PostgreSQL.programs():
            yield PostgreSQL
        else:
            print("PostgreSQL is not installed here; its part is left out", file=sys.stderr)


def main(words):
    options = Options(words)
    tell = (lambda seen: print(json.dumps(seen), flush=True)) if options.json else (lambda seen: print(row(seen), flush=True))
    if not options.json and options.attacks:
        print(HEAD, flush=True)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="syncline-attack-", dir=scratch()) as folder:
        for make in backends(options, folder):
            backend = make(folder)
            try:
                for attack in options.attacks:
                    try:
                        seen = play_twice(options, backend, attack, folder)
                        tell(seen)
                        missed += bool(seen["missed"])
                    except (NotStarted, Lost) as error:
                        print(f"{attack.name} on {backend.name}: {error}", file=sys.stderr, flush=True)
                        missed += 1
                for name, (run, databases) in EXTRAS.items():
                    if make not in databases or not options.wants(name):
                        continue
                    try:
                        seen = run(options, backend, folder)
                        missed += bool(seen["missed"])
                        print(json.dumps(seen) if options.json else
                              f"{name} on {backend.name}: {seen['told']}: {'; '.join(seen['missed']) or 'met'}", flush=True)
                    except (NotStarted, Lost) as error:
                        print(f"{name} on {backend.name}: {error}", file=sys.stderr, flush=True)
                        missed += 1
            finally:
                backend.close()
    return 1 if missed else 0


def scratch():
    """Where databases are made: in memory, if there is such a place, because no disk is looked at here."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
