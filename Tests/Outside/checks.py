"""What a store shows, and what it may show after a power cut, a kill or a fault."""

import glob
import json
import os
import stat

import disk
import program
from stories import TABLE

#: What another run of the same story has otherwise.
VOLATILE = {"version", "updatedAt", "createdAt", "updated", "position", "events", "address", "message", "status",
            "backend", "maybeSent"}
ABSENT = "absent"


class World:
    """A folder with the stores of one life, and the server that they know."""

    def __init__(self, root, server=None):
        self.root, self.server = root, server

    def store(self, name):
        return os.path.join(self.root, name)


class Observer:
    """Opens stores with the tool, as an app would after a crash, and returns all that they show. One process of the tool does
    that for many stores, each of which must have a path of its own."""

    def __init__(self, tool):
        self.tool, self.session, self.looks = tool, None, 0

    def close(self):
        if self.session:
            self.session.kill()
            self.session = None

    def observe(self, world, story, stores=None, known=None):
        """What each store of a story shows, and what is wrong with it in any case. `known` has what was seen of the same
        files before."""
        seen, wrong = {}, []
        for name in stores or story.stores:
            key = known is not None and (name, disk.name_of_state(disk.tree_of(world.store(name))))
            if not key or key not in known:
                found = []
                shown = self.look(world, story, name, found) if os.path.isdir(world.store(name)) else ABSENT
                if key:
                    known[key] = shown, found
            else:
                shown, found = known[key]
            seen[name] = shown
            wrong += found
        return seen, wrong

    def look(self, world, story, name, wrong):
        self.looks += 1
        if self.looks % 200 == 0:
            self.close()
        if not self.session:
            self.session = program.Session(self.tool, os.devnull, None)
        try:
            return self.ask_all(world, story, name, wrong)
        except (program.Crash, program.Died) as reason:
            wrong.append(f"{name}: {reason or 'the tool ended'}")
            self.close()
            return ABSENT

    def ask_all(self, world, story, name, wrong):
        store = world.store(name)

        def ask(*words):
            reply = self.session.run([*words, "-s", store])
            if reply.exit:
                wrong.append(f"{name}: {' '.join(words)}: {reply}")
            return reply.value

        first = self.session.run(["config", "-s", store])
        if first.error and first.error["code"] == "no-store":
            check_secrets(world, story, name, wrong, allowed="")
            return ABSENT
        if first.exit:
            wrong.append(f"{name}: it does not open: {first}")
            return ABSENT
        shown = {"config": first.value, "rows": ask("query", TABLE), "pending": ask("pending"),
                 "conflicts": ask("conflicts"), "cursors": ask("cursors")}
        ask("insert", TABLE, '{"id":"afterwards"}')
        ask("verify")
        ask("inspect", "operations")
        shown["secrets"] = secrets(world, name, wrong)
        if story.server:
            ask("report", "-o", world.root + ".report")
        check_secrets(world, story, name, wrong)
        if story.secrets and shown["secrets"]:
            ask("config", "token", "token-afterwards")
            check_secrets(world, story, name, wrong, allowed="secrets.json")
        return shown


def secrets(world, name, wrong):
    path = os.path.join(world.store(name), "secrets.json")
    try:
        with open(path, "rb") as file:
            return json.loads(file.read())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        wrong.append(f"{path} can't be read: {error}")
        return {}


def check_secrets(world, story, name, wrong, allowed=None):
    """A secret is only in files that no other user can read and, if names are given, only in files with such a name."""
    for path in glob.glob(world.store(name) + "/**", recursive=True):
        if not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            content = file.read()
        if not any(secret.encode() in content for secret in story.secrets):
            continue
        if stat.S_IMODE(os.stat(path).st_mode) != 0o600:
            wrong.append(f"{path} holds a secret, and others can read it")
        if allowed is not None and os.path.basename(path) != allowed:
            wrong.append(f"{path} still holds a secret")


# MARK: Allowed states

def plain(value):
    """Without values that differ from run to run."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if name not in VOLATILE}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value


def judge(seen, before, after, gradual):
    """Why a store that was seen is neither as before a step nor as after it; nothing if it is."""
    if seen in (before, after):
        return None
    if gradual and ABSENT not in (seen, before, after):
        return judge_part(seen, before, after)
    return f"it is neither as before nor as after: {difference(seen, before)}; {difference(seen, after)}"


def judge_part(seen, before, after):
    for part in ["config", "secrets"]:
        if seen[part] not in (before[part], after[part]):
            return f"{part}: {difference(seen, before)}"
    for part in ["rows", "pending", "conflicts"]:
        now, old, new = (by_id(shown[part]) for shown in (seen, before, after))
        for key in now.keys() | old.keys() | new.keys():
            if part == "pending" and key in now:
                if key not in old and key not in new:
                    return f"pending: {shown(now[key])} was never there"
            elif now.get(key) not in (old.get(key), new.get(key)):
                return f"{part}: {shown(now.get(key))}, before {shown(old.get(key))}, after {shown(new.get(key))}"
    known = {(cursor["table"], cursor["queryId"]) for cursor in after["cursors"]}
    for cursor in before["cursors"]:
        if (cursor["table"], cursor["queryId"]) in known and not any(
                (cursor["table"], cursor["queryId"]) == (other["table"], other["queryId"]) for other in seen["cursors"]):
            return f"cursors: {cursor} is not there"
    return None


def by_id(items):
    return {(item.get("table"), item["id"]): item for item in items}


def difference(seen, other):
    """The first part in which two differ."""
    if ABSENT in (seen, other):
        return f"{'' if seen == ABSENT else 'not '}absent"
    part = next(part for part in seen if seen[part] != other[part])
    left, right = seen[part], other[part]
    if isinstance(left, list):
        left, right = [item for item in left if item not in right], [item for item in right if item not in left]
    elif isinstance(left, dict):
        names = [name for name in sorted(left.keys() | right.keys()) if left.get(name) != right.get(name)]
        left, right = {name: left.get(name) for name in names}, {name: right.get(name) for name in names}
    return f"{part}: {shown(left)} and not {shown(right)}"


def shown(value):
    """A value as a message has it: long texts are cut."""
    def cut(value):
        if isinstance(value, dict):
            return {name: cut(part) for name, part in value.items()}
        if isinstance(value, list):
            return [cut(part) for part in value[:5]]
        return value[:40] + "…" if isinstance(value, str) and len(value) > 40 else value
    return json.dumps(cut(value), ensure_ascii=False)[:500]
