"""Power cuts: the disks that may be left after each call of a life, opened by the tool."""

import json
import os
import shutil

import checks
import disk
import program
from life import fresh


#: States of a call that are made in one walk over the record.
STRETCH = 8


def sweep_cuts(options, reference, findings, folder, observer, wanted):
    """Disk states after a power cut at each call, until there are as many as are wanted, or no others are found."""
    story, states, checked, known = reference.story, set(), set(), {}
    record = list(disk.calls(reference.record))
    for first in range(0, options.variants, STRETCH):
        made = disk.Disk(options.deaf)
        for number, (position, call) in enumerate(record):
            made.carry_out(call)
            if call.kind not in disk.CHANGES:
                continue
            done = sum(1 for place in reference.acknowledged if place <= position)
            for variant in range(first, min(first + STRETCH, 2 + 2**min(made.choices, 12))):
                label = f"cut/{number}/{variant}"
                if options.skips(label):
                    continue
                tree = made.after(disk.luck(f"{options.seed}/{story.name}/{number}/{variant}", variant))
                name = disk.name_of_state(tree)
                if (name, done) in checked:
                    continue
                checked.add((name, done))
                states.add(name)
                root = os.path.join(folder, f"cut-{len(checked)}")
                disk.lay(tree, fresh(root))
                seen, wrong = examine(options, reference, observer, root, done, known)
                shutil.rmtree(root)
                if wrong:
                    findings.add(label, f"power cut after `{call}`: {'; '.join(wrong)}",
                                 lambda folder: keep(folder, reference, tree, done, seen, wrong))
        if len(states) >= wanted:
            break
    return f"{len(states)} disk states at {sum(1 for _, call in record if call.kind in disk.CHANGES)} calls"


def examine(options, reference, observer, root, done, known):
    """What the stores of a state show, and what is wrong with that after the given number of answered steps."""
    world = checks.World(root)
    observed = observer.observe(world, reference.story, known=known)
    wrong = reference.complaints(observed, done, is_other_run=False)
    return observed[0], wrong or create_again(options, reference, observer, world, observed[0], done)


def keep(folder, reference, tree, done, seen, wrong):
    disk.lay(tree, fresh(os.path.join(folder, "state")))
    with open(os.path.join(folder, "found.json"), "w") as file:
        json.dump({"wrong": wrong, "found": seen, "before": reference.seen[done],
                   "after": reference.seen[done + 1:done + 2]}, file, indent=1)


def create_again(options, reference, observer, world, seen, done):
    """If a store that was being created does not exist, creating it again must succeed."""
    story = reference.story
    if done >= len(story.steps):
        return []
    step = story.steps[done]
    if not getattr(step, "creates", False) or seen[step.store] != checks.ABSENT:
        return []
    words = [reference.life.server.url if word == "URL" else word for word in step.words]
    text = reference.life.kept.get(step.text, step.text)
    reply = program.alone(options.tool, world.store(step.store), words, None, text)
    if reply.exit:
        return [f"`{step}` again: {reply}"]
    again, wrong = observer.observe(world, story, [step.store])
    reason = checks.judge(checks.plain(again[step.store]), *[checks.plain(reference.seen[done + 1][step.store])] * 2, False)
    left = [name for name in os.listdir(world.root) if name not in story.stores]
    if left:
        wrong.append(f"left beside the store after `{step}` again: {', '.join(left)}")
    return wrong + ([reason] if reason else [])
