"""Power cuts: the disks that may be left after each call of a life, opened by the tool."""

import json
import os

import checks
import disk
import program
from life import fresh


def sweep_cuts(options, reference, findings, folder, wanted):
    """Disk states after a power cut at each call, until there are as many as are wanted."""
    story, states, checked, known = reference.story, set(), set(), {}
    root = os.path.join(folder, "cut")
    record = list(disk.calls(reference.record))
    barren = 0  # rounds that brought nothing new
    for variant in range(2 + options.variants):
        before = len(checked)
        made = disk.Disk(options.deaf)
        for number, (position, call) in enumerate(record):
            made.carry_out(call)
            if call.kind not in disk.CHANGES or options.skips(f"cut/{number}/{variant}"):
                continue
            done = sum(1 for place in reference.acknowledged if place <= position)
            tree = made.after(disk.luck(f"{options.seed}/{story.name}/{number}/{variant}", variant))
            name = disk.name_of_state(tree)
            if (name, done) in checked:
                continue
            checked.add((name, done))
            states.add(name)
            check_cut(options, reference, findings, root, tree, done, known, f"cut/{number}/{variant}", call)
        barren = 0 if len(checked) > before else barren + 1
        if len(states) >= wanted or barren == 5:
            break
    return f"{len(states)} disk states at {sum(1 for _, call in record if call.kind in disk.CHANGES)} calls"


def check_cut(options, reference, findings, root, tree, done, known, label, call):
    story = reference.story
    disk.lay(tree, fresh(root))
    world = checks.World(options.tools, root)
    seen, wrong = checks.observe(world, story, known=known)
    reason = reference.judge(seen, done, is_other_run=False)
    if reason:
        wrong = wrong + [reason]
    else:
        wrong = wrong + create_again(options, reference, world, seen, done)
    if wrong:
        def keep(folder):
            disk.lay(tree, fresh(os.path.join(folder, "state")))
            with open(os.path.join(folder, "found.json"), "w") as file:
                json.dump({"found": seen, "before": reference.seen[done], "after": reference.seen[done + 1:done + 2],
                           "wrong": wrong}, file, indent=1)
        findings.add(label, f"power cut after `{call}`: {'; '.join(wrong)}", keep)


def create_again(options, reference, world, seen, done):
    """Where a store is not there that was being made, making it again must do."""
    story = reference.story
    if done >= len(story.steps):
        return []
    step = story.steps[done]
    if not getattr(step, "creates", False) or seen[step.store] != checks.ABSENT:
        return []
    words = [reference.life.server.url if word == "URL" else word for word in step.words]
    text = reference.life.kept.get(step.text, step.text)
    reply = program.alone(world.tool, world.store(step.store), words, None, text)
    if reply.exit:
        return [f"`{step}` again: {reply}"]
    again, wrong = checks.observe(world, story, [step.store])
    reason = checks.judge(checks.plain(again[step.store]), *[checks.plain(reference.seen[done + 1][step.store])] * 2, False)
    left = [name for name in os.listdir(world.root) if name not in story.stores]
    if left:
        wrong.append(f"left beside the store after `{step}` again: {', '.join(left)}")
    return wrong + ([reason] if reason else [])
