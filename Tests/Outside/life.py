"""One life of a story: its steps are carried out, and each answer is noted with the position of the record by then."""

import glob
import json
import os
import shutil
import subprocess
import sys

import program
from checks import World
from stories import Elsewhere, Kill

class Life:
    """Carries out a story below a folder, which is empty at the beginning."""

    def __init__(self, tools, library, folder, story, records=False):
        self.story, self.folder = story, folder
        root = os.path.join(folder, "root")
        os.makedirs(root)
        self.shim = program.Shim(library, folder, root, os.path.join(folder, "record") if records else None)
        self.server = program.Server(os.path.join(tools, "syncline-server"), folder) if story.server else None
        self.world = LivingWorld(root, self.server, self.shim)
        self.tool = os.path.join(tools, "syncline")
        self.kept = {}
        self.session = None
        self.done = 0  # steps that were carried out and answered

    def close(self):
        if self.session:
            self.session.kill()
        if self.server:
            self.server.stop()

    def words(self, step):
        known = {"URL": self.server.url if self.server else "", "REPORT": self.world.root + ".report"}
        return [known.get(word, word) for word in step.words]

    def ask(self, step, is_alone):
        """The answer to a step, from the session that is open or from a process of its own."""
        text = self.kept.get(step.text, step.text)
        path = self.world.store(step.store)
        if is_alone:
            reply = program.alone(self.tool, path, self.words(step), self.shim.environment, text)
        else:
            if self.session is None:
                self.session = program.Session(self.tool, path, self.shim.environment)
            reply = self.session.run(self.words(step), text)
        return reply

    def run(self, start=0, answer=None, after_step=None):
        """Carries out the steps from one on. `answer` looks at each answer (of None: the end of a session), and gives the
        one that counts."""
        number = 0
        for steps in self.story.sessions:
            is_alone = len(steps) == 1
            for step in steps:
                if number >= start:
                    self.carry_out(step, is_alone, answer)
                    self.done = number + 1
                    if after_step:
                        after_step()
                number += 1
            self.end_session(answer)

    def end_session(self, answer=None):
        session, self.session = self.session, None
        if session:
            end = session.end()
            if answer:
                answer(None, end)

    def carry_out(self, step, is_alone, answer):
        if isinstance(step, Elsewhere):
            step.act(self.world)
        elif isinstance(step, Kill):
            session, self.session = self.session, None
            if session:
                session.kill()
        else:
            reply = self.ask(step, is_alone)
            if answer:
                reply = answer(step, reply)
            if step.keeps:
                self.kept[step.keeps] = lines_of(reply.value)


class LivingWorld(World):
    def __init__(self, root, server, shim):
        super().__init__(root, server)
        self.shim = shim

    def damage(self, ending):
        """Done by a process under the shim, so that the record has it."""
        path = max(glob.glob(f"{self.store('store')}/*{ending}"))
        code = ("import os,sys; f=os.open(sys.argv[1],os.O_RDWR); n=24; b=os.pread(f,1,n); "
                "os.pwrite(f,bytes([b[0]^255]),n); os.fsync(f)")
        environment = {name: value for name, value in self.shim.environment.items() if name != "SWEEP_FAULT"}
        subprocess.run([sys.executable, "-c", code, path], env=environment, check=True)


def lines_of(value):
    """A list as the lines that it has without --json."""
    return "".join(json.dumps(element) + "\n" for element in value)


def fresh(folder):
    """An empty folder in the place of another."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder
