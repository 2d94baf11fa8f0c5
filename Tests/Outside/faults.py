"""Kills and refused calls: a life for each of them, and what is left after it."""

import errno
import os
import re
import shutil

import checks
import disk
import program
from life import Life, fresh

#: Error numbers, and the codes that commands may give for them.
CODES = {errno.EIO: {"io-error"}, errno.ENOSPC: {"disk-full"}, errno.EDQUOT: {"disk-full"},
         errno.EACCES: {"io-error"}}

SPACE = {"create", "write", "truncate", "allocate", "rename", "mkdir", "link", "sync"}
READS = {"open", "read", "list"}
#: The faults: a name, the mode of the shim, the error, the calls that it is tried at, and at one of how many even by a long
#: run: reads are many, and what a read is for matters more than which one it is.
FAULTS = [
    ("kill-before", "kill-before", 0, disk.CHANGES, 1),
    ("kill-half", "kill-half", 0, {"write"}, 1),
    ("EIO", "fail", errno.EIO, disk.CHANGES | {"lock"}, 1),
    ("EIO-on", "fail-on", errno.EIO, disk.CHANGES, 1),
    ("EIO-reading", "fail", errno.EIO, READS, 5),
    ("ENOSPC", "fail", errno.ENOSPC, SPACE, 1),
    ("ENOSPC-on", "fail-on", errno.ENOSPC, SPACE, 1),
    ("EDQUOT", "fail", errno.EDQUOT, SPACE, 5),
    ("EACCES", "fail", errno.EACCES, {"open", "create", "rename", "unlink", "mkdir"}, 2),
    ("EINTR", "fail", errno.EINTR, {"open", "create", "read", "write", "truncate", "lock"}, 5),
    ("short", "short", 0, {"write"}, 1),
]
#: Faults that must not have a visible effect.
HARMLESS = {"EINTR", "short"}


def sweep_fault(options, reference, findings, folder, observer, fault):
    """A story once for each call of some kinds: the call is refused, shortened, or the end of the process."""
    name, _, _, kinds, share = fault
    story = reference.story
    calls = count_calls(options, story, folder, kinds)
    hits = 0
    for number in range(1, calls + 1):
        label = f"{name}/{number}"
        if options.skips(label) or not options.chosen(f"{story.name}/{label}", share):
            continue
        trial = Trial(options, reference, findings, os.path.join(folder, f"trial-{label}"), observer, label, fault, number)
        trial.run()
        shutil.rmtree(trial.folder)
        hits += 1
    return f"{name} {hits} of {calls}"


def count_calls(options, story, folder, kinds):
    life = Life(options.tools, options.library, fresh(os.path.join(folder, "count")), story)
    try:
        life.shim.spoil("fail", 2**40, errno.EIO, kinds)
        life.run()
        return life.shim.calls
    finally:
        life.close()


def says_where(error):
    return bool(error.get("address") or error.get("file") or re.search(r"(?<!\w)/\w", error["message"]))


class GaveUp(Exception):
    """A trial can't continue."""


class Interrupted(Exception):
    """The disk stays broken: what is left is examined on a working one."""


class Trial:
    """One life with one fault."""

    def __init__(self, options, reference, findings, folder, observer, label, fault, number):
        self.reference, self.findings, self.observer, self.label = reference, findings, observer, label
        self.copies = 0
        self.name, self.mode, self.error, kinds, _ = fault
        self.folder = folder
        self.life = Life(options.tools, options.library, fresh(folder), reference.story)
        self.life.shim.spoil(self.mode, number, self.error, kinds)

    def fail(self, message):
        self.findings.add(self.label, f"{self.mode} at `{self.life.shim.hit}`: {message}", self.keep)

    def keep(self, folder):
        shutil.copytree(self.life.world.root, os.path.join(folder, "state"))

    def run(self):
        try:
            try:
                self.life.run(answer=self.answer)
            except (program.Died, Interrupted):
                self.go_on()
            self.check_end()
        except program.Crash as crash:
            self.fail(str(crash))
        except GaveUp as reason:
            self.fail(str(reason))
        except program.Died:
            self.fail("the tool ended without an answer, and was not killed")
        finally:
            self.life.close()

    def answer(self, step, reply):
        """Looks at the answer to a step while the fault may be there."""
        if step is None:
            if reply.exit:
                self.check_code("the end of a session", reply)
            return reply
        if self.reference.expects(step, reply):
            return reply
        self.check_code(step, reply)
        if self.mode == "fail-on":
            raise Interrupted()
        return self.again(step, reply)

    def check_code(self, step, reply):
        if self.name in HARMLESS:
            return self.fail(f"`{step}` noticed it: {reply}")
        error = reply.error or {}
        if error.get("code") not in CODES[self.error]:
            self.fail(f"`{step}`: {reply}")
        elif not says_where(error):
            self.fail(f"`{step}` does not say where: {reply}")

    def again(self, step, first):
        """Tries a step again that failed and was not carried out: in the session that is open, then in a new one. A writer
        that could not sync its segment stops, and so does one that could not write it unless the disk was full; nothing
        else may keep a process from continuing."""
        if self.look() == "done":
            return first
        is_alone = self.life.session is None
        reply = self.life.ask(step, is_alone)
        if self.passes(step, reply):
            return reply
        if not is_alone:
            hit, is_full = self.life.shim.hit, self.error in (errno.ENOSPC, errno.EDQUOT)
            if not hit.endswith(".seg") or (is_full and not hit.startswith("sync")):
                self.fail(f"`{step}` fails again in the same process: {reply}; at first: {first}")
            self.life.end_session()
            if self.look() == "done":
                return first
            reply = self.life.ask(step, False)
        if not self.passes(step, reply):
            raise GaveUp(f"`{step}` fails again: {reply}; at first: {first}")
        return reply

    def passes(self, step, reply):
        return self.reference.expects(step, reply) or (step.gradual and reply.exit < 3)

    def look(self):
        """Whether the step that was not answered is done, by what a copy of the stores shows."""
        self.copies += 1
        copy = os.path.join(self.folder, f"copy-{self.copies}")
        shutil.copytree(self.life.world.root, copy)
        observed = self.observer.observe(checks.World(copy), self.life.story)
        for message in self.reference.complaints(observed, self.life.done, is_other_run=True):
            self.fail(message)
        before, after = (checks.plain(self.reference.seen[done]) for done in (self.life.done, self.life.done + 1))
        return "done" if before != after and checks.plain(observed[0]) == after else "open"

    def go_on(self):
        """After the process or its disk has ended: examines what is there, then continues the story."""
        life = self.life
        if life.session:
            try:
                life.end_session()
            except program.Died:
                pass
        life.shim.heal()
        if life.done < len(life.story.steps) and self.look() == "done":
            life.done += 1

        def answer(step, reply):
            if step and not self.passes(step, reply):
                raise GaveUp(f"afterwards `{step}`: {reply}")
            return reply
        life.run(start=life.done, answer=answer)

    def check_end(self):
        observed = self.observer.observe(self.life.world, self.life.story)
        for message in self.reference.complaints(observed, len(self.life.story.steps), is_other_run=True):
            self.fail(f"in the end: {message}")
        left = [name for name in os.listdir(self.life.world.root) if name not in self.life.story.stores]
        if left:
            self.fail(f"in the end there are left beside the stores: {', '.join(left)}")


LOOKING = [["query", "todoitem"], ["get", "todoitem", "row-7"], ["get", "todoitem", "row-7", "--at", "@-2"], ["verify"],
           ["verify", "--deep"], ["log"], ["pending"], ["blame", "todoitem/row-7"], ["replay"], ["inspect"],
           ["inspect", "checkpoints"], ["export", "--format", "jsonl"], ["stats"], ["config"]]


def sweep_readers(options, reference, findings, folder):
    """Read-only commands, with one read that fails: the whole answer, or an error that says where."""
    world, tried, known = reference.life.world, 0, 0

    def run(words, number):
        shim = program.Shim(options.library, fresh(os.path.join(folder, "readers")), world.root)
        shim.spoil("fail", number, errno.EIO, READS)
        return program.alone(options.tool, world.store("store"), words, shim.environment), shim
    for words in LOOKING:
        whole, shim = run(words, 2**40)
        known += shim.calls
        for number in range(1, shim.calls + 1):
            label = f"look-{'-'.join(words).replace('/', '.')}/{number}"
            if options.skips(label) or not options.chosen(label, 1):
                continue
            tried += 1
            try:
                reply, shim = run(words, number)
                error = reply.error or {}
                is_told = reply.exit >= 3 and error.get("code") == "io-error" and says_where(error)
                if not is_told and (reply.exit, reply.value) != (whole.exit, whole.value):
                    findings.add(label, f"EIO at `{shim.hit}`: `{' '.join(words)}`: {reply}")
            except program.Crash as crash:
                findings.add(label, f"EIO: {crash}")
    return f"look {tried} of {known}"
