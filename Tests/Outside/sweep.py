"""Attacks the tool from outside: power cuts, kills and refused calls at every call on a file. See `tools/sweep --help`."""

import argparse
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time

from checks import Observer
from cuts import sweep_cuts
from faults import FAULTS, sweep_fault, sweep_readers
from findings import Findings, Reference
from stories import all_stories


class Options:
    def __init__(self, words):
        parser = argparse.ArgumentParser(
            prog="tools/sweep", description="Runs the tool under a library that spoils its calls on files, and looks at what "
            "is left of its stores. A failure is told with the words that repeat it, and its files are kept.")
        parser.add_argument("--tools", required=True, help=argparse.SUPPRESS)
        parser.add_argument("--library", required=True, help=argparse.SUPPRESS)
        parser.add_argument("--failures", default=".build/sweep", help="where to keep what failed (%(default)s)")
        parser.add_argument("--story", help="only this story: " + ", ".join(story.name for story in all_stories()))
        parser.add_argument("--seed", type=int, default=1, help="chooses what a power cut leaves (%(default)s)")
        parser.add_argument("--only", help="only one trial, as a failure names it: cut/37/5 or EIO/12; a first part means "
                            "all that begin with it")
        parser.add_argument("--cut", type=int, help="only power cuts after this call: the same as --only cut/N")
        parser.add_argument("--states", type=int, default=1500, help="disk states, over all stories (%(default)s)")
        parser.add_argument("--every", type=int, default=16, help="faults at one of N calls, chosen at random (%(default)s)")
        parser.add_argument("--long", action="store_true", help="20,000 disk states and more, and faults at every call")
        parser.add_argument("--deaf", choices=["files", "directories"], help="loses what was synced, too: to see failures")
        parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="stories at once (%(default)s)")
        parser.parse_args(words, self)
        if self.long:
            self.states, self.every = 30000, 1
        if self.cut is not None:
            self.only = f"cut/{self.cut}"
        self.tool = os.path.join(self.tools, "syncline")
        self.failures = os.path.abspath(self.failures)
        self.variants = 1500

    def skips(self, label):
        return self.only is not None and label != self.only and not label.startswith(self.only + "/")

    def chosen(self, label, share):
        """Whether a fault is tried at a call: at one of N calls, chosen at random."""
        return self.only is not None or random.Random(f"{self.seed}/{label}").randrange(self.every * share) == 0


def sweep_story(arguments):
    options, name, share = arguments
    story = next(story for story in all_stories() if story.name == name)
    findings = Findings(options, story)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="syncline-sweep-", dir=scratch()) as folder:
        observer = Observer(options.tool)
        reference = Reference(options, story, folder, observer)
        for message in reference.wrong:
            findings.add("reference", message)
        lines = [f"{len(story.steps)} steps"]
        if not options.skips("cut") or (options.only or "").startswith("cut/"):
            lines.append(sweep_cuts(options, reference, findings, folder, observer, share))
        if story.name == "history" and (options.only is None or options.only.startswith("look-")):
            lines.append(sweep_readers(options, reference, findings, folder))
        for fault in FAULTS:
            if options.only is None or options.only.split("/")[0] == fault[0]:
                lines.append(sweep_fault(options, reference, findings, folder, observer, fault))
        observer.close()
    print(f"{name}: {', '.join(lines)}; {findings.count} failures; {time.monotonic() - begin:.0f} s", flush=True)
    return int(re.search(r"(\d+) disk states", ", ".join(lines) + " 0 disk states").group(1)), findings.count


def scratch():
    """Where stores are made: in memory, if there is such a place, because nothing here needs a real disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main(words):
    options = Options(words)
    names = [story.name for story in all_stories() if options.story in (None, story.name)]
    if not names:
        raise SystemExit(f"there is no story {options.story}")
    # The last ones have most to do.
    tasks = [(options, name, options.states // len(names)) for name in reversed(names)]
    if options.jobs > 1 and len(tasks) > 1:
        with multiprocessing.Pool(options.jobs) as pool:
            results = pool.map(sweep_story, tasks, chunksize=1)
    else:
        results = [sweep_story(task) for task in tasks]
    states, failures = (sum(column) for column in zip(*results))
    print(f"{len(names)} stories, {states} disk states, seed {options.seed}: "
          f"{f'{failures} failures' if failures else 'no failure'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
