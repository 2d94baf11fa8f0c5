"""What went wrong, and the life without trouble that all else is compared with."""

import collections
import os
import re
import shutil

import checks
import disk
from life import Life, fresh


class Findings:
    """What went wrong, each kind of it once."""

    def __init__(self, options, story):
        self.options, self.story = options, story
        self.groups = collections.OrderedDict()

    def add(self, label, message, keep=None):
        shape = re.sub(r"\W+", " ", re.sub(r"`.*?`|[0-9a-f]{8,}|\d+|\S*/\S*", "", message))[:100]
        group = self.groups.setdefault((re.split("[/-]", label)[0], shape), [])
        group.append(label)
        if len(group) > 1:
            return
        folder = os.path.join(self.options.failures, self.story.name, label.replace("/", "-"))
        if keep:
            fresh(folder)
            keep(folder)
            message += f"\n    kept in {folder}"
        print(f"FAILED {self.story.name} {label}: {message}\n    again: tools/sweep --story {self.story.name} "
              f"--seed {self.options.seed} --only {label}", flush=True)

    @property
    def count(self):
        return sum(len(labels) for labels in self.groups.values())


class Reference:
    """A life without trouble: its record, its answers, and what the stores showed after each step."""

    def __init__(self, options, story, folder, observer):
        self.story = story
        self.life = Life(options.tools, options.library, os.path.join(folder, "reference"), story, records=True)
        self.seen, self.acknowledged, self.answers, self.wrong = [], [], {}, []
        self.seen.append({name: checks.ABSENT for name in story.stores})

        def answer(step, reply):
            if step:
                self.answers[id(step)] = (reply.exit, reply.error and reply.error["code"])
                if reply.exit > 1:
                    raise RuntimeError(f"{story.name}: {step}: {reply}")
            elif reply.exit:
                raise RuntimeError(f"{story.name}: at the end of a session: {reply}")
            return reply

        def look():
            self.acknowledged.append(self.life.shim.position)
            copy = os.path.join(folder, f"copy-{len(self.seen)}")
            shutil.copytree(self.life.world.root, copy)
            observed = observer.observe(checks.World(copy), story)
            self.seen.append(observed[0])
            self.wrong += self.complaints(observed, self.life.done, is_other_run=False)
        try:
            self.life.run(answer=answer, after_step=look)
        finally:
            self.life.close()
        self.record = os.path.join(self.life.folder, "record")
        self.check_record()

    def check_record(self):
        """The record must account for every file. Otherwise a call bypassed the shim, and the states mean nothing."""
        made = disk.Disk()
        for _, call in disk.calls(self.record):
            made.carry_out(call)
        there = disk.tree_of(self.life.world.root)
        if made.seen() != there:
            names = [name for name in made.seen().keys() | there.keys() if made.seen().get(name) != there.get(name)]
            raise RuntimeError(f"{self.story.name}: the record does not account for {', '.join(sorted(names))}")

    def expects(self, step, reply):
        return (reply.exit, reply.error and reply.error["code"]) == self.answers[id(step)]

    def complaints(self, observed, done, is_other_run):
        """What is wrong with what was observed after the given number of answered steps."""
        seen, wrong = observed
        steps = self.story.steps
        if any(getattr(step, "damages", False) for step in steps[max(0, done - 1):done + 1]):
            wrong = [message for message in wrong if ": verify: " not in message]
        reason = self.judge(seen, done, is_other_run)
        return wrong + ([reason] if reason else [])

    def judge(self, seen, done, is_other_run):
        """Why what was seen can't follow from this number of steps; None if it can."""
        form = checks.plain if is_other_run else (lambda value: value)
        steps = self.story.steps
        is_gradual = done < len(steps) and getattr(steps[done], "gradual", False)
        before, after = form(self.seen[done]), form(self.seen[min(done + 1, len(self.seen) - 1)])
        seen = form(seen)
        for name in self.story.stores:
            reason = checks.judge(seen[name], before[name], after[name], is_gradual)
            if reason:
                return f"{name} after {done} steps, at `{steps[min(done, len(steps) - 1)]}`: {reason}"
        return None
