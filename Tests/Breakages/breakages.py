"""Makes a copy of the log, the core, SQL, the server and their tests, with every breakage of breakages.txt in it, each enabled by a switch.

    breakages.py COPY [NAME]  writes the package to the folder COPY; files that are as they should be keep their times.
                              Refuses a NAME that no breakage has
    breakages.py              only says whether every breakage has its place in the sources
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "Tests/Breakages"
SOURCES = ROOT / "Sources"
MODULES = ("SegmentLog", "SynclineCore", "SynclineServer", "SynclineSQL", "SynclineTables")


class Breakage:
    """One place of a breakage: the lines as they are, and those that take their place."""

    def __init__(self, head, lines):
        self.name, path = head.split()
        first, _, rest = path.partition("/")
        self.module = first if first in MODULES else MODULES[0]
        self.path = f"{self.module}/{rest if first in MODULES else path}"
        self.lines = [(line[0], line[2:].strip()) for line in lines]
        self.found = [text for kind, text in self.lines if kind != "+"]

    def place(self, lines):
        """Where its lines are. They must occur exactly once."""
        bare = [line.strip() for line in lines]
        places = [
            at for at in range(len(bare)) if bare[at:at + len(self.found)] == self.found
        ]
        if len(places) != 1:
            raise SystemExit(
                f"breakage {self.name}: its lines occur {len(places)} times in {self.path}, and should once:\n  "
                + "\n  ".join(self.found))
        return places[0]


def table():
    breakages = []
    for paragraph in (HERE / "breakages.txt").read_text().split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        if any(line[:2] not in ("- ", "+ ", "  ") for line in lines[1:]) or len(lines[0].split()) != 2:
            raise SystemExit(f"breakage {lines[0]}: a paragraph is a name, a file, and lines that begin with -, + or spaces")
        breakages.append(Breakage(lines[0], lines[1:]))
        if len(breakages) > 1 and breakages[-2].name.lower() > breakages[-1].name.lower():
            raise SystemExit(f"breakage {breakages[-1].name}: the names are not in order")
    return breakages


def broken(path, breakages):
    """A file with the breakages in it."""
    lines = path.read_text().splitlines()
    before, after = ([[] for _ in range(len(lines) + 1)] for _ in range(2))
    instead = {}
    for breakage in breakages:
        at = breakage.place(lines)
        switch = f"Breakage.{breakage.name}.isActive"
        # A new line takes the place of a removed one, or else follows the line before it.
        target = before[at]
        for kind, text in breakage.lines:
            if kind == "+":
                target.append(text.replace("BROKEN", switch))
                continue
            if kind == "-":
                if at in instead:
                    raise SystemExit(f"breakage {breakage.name}: another replaces the same line")
                target = instead.setdefault(at, [])
            else:
                target = after[at]
            at += 1
    out = []
    for at, line in enumerate(lines):
        out += before[at] + instead.get(at, [line]) + after[at]
    return "\n".join(out) + "\n"


def switches(names):
    return "\n".join([
        "// The breakages, one switch each. A test turns on one of them for what it calls, or in all threads.",
        "package enum Breakage: String, CaseIterable, Sendable {",
        *(f"    case {name}" for name in names),
        "    @TaskLocal package static var active: Breakage?",
        "    nonisolated(unsafe) package static var everywhere: Breakage?",
        "    package var isActive: Bool { Breakage.active == self || Breakage.everywhere == self }",
        "}", ""])


def dependencies(package):
    """What each target of a package depends on."""
    found = {}
    for target in re.finditer(r'\.target\(\s*name: "(\w+)",\s*dependencies: (?=\[)', package):
        depth, end = 0, target.end()
        while depth > 0 or end == target.end():
            depth += {"[": 1, "]": -1}.get(package[end], 0)
            end += 1
        found[target[1]] = set(re.findall(r'"(\w+)"', package[target.end():end]))
    return found


def check_targets():
    """The copy's targets depend on what those of the sources do, except the test kit, of which the copy has a part."""
    own, copied = dependencies((ROOT / "Package.swift").read_text()), dependencies((HERE / "Package.swift").read_text())
    for name in sorted((own.keys() & copied.keys()) - {"SynclineTesting"}):
        if own[name] != copied[name]:
            raise SystemExit(f"{HERE}/Package.swift: {name} depends on other targets than in Package.swift: {sorted(own[name] ^ copied[name])}")


def package():
    """Every file of the copy: the log, the core, SQL, the server and what is below them, what simulates disks, and the
    tests that are to catch something."""
    breakages = table()
    files = {"Package.swift": (HERE / "Package.swift").read_text()}
    folders = (
        "CAtomics", "CChecksum", "CCrypto", "CCurl", "CLZ4", "CLibrary", "CMalloc", "CMicroHTTPD", "CPostgres",
        "CSQLite", "CZlib", "LogTesting", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineReports",
        "SynclineSQL", "SynclineServer", "SynclineTables", "SynclineWire")
    for folder in [*(f"Sources/{name}" for name in folders), "Tests/CSpawn", "Tests/ChildProcesses"]:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file():
                files[str(path.relative_to(ROOT))] = path.read_text()
    for path in ("Sources/SynclineTesting/Exports.swift", "Tests/SegmentLogTests/StorageFixture.swift"):
        files[path.replace("SegmentLogTests", "BreakageTests")] = (ROOT / path).read_text()
    for folder in ("Scenarios", "Simulation", "Torture"):
        for path in sorted((ROOT / "Tests/SegmentLogTests" / folder).glob("*.swift")):
            if path.name != "SimulationTests.swift":
                files[f"Tests/BreakageTests/{folder}/{path.name}"] = path.read_text()
    support = ("Fold/RandomHistory", "Fold/RandomHistory+Push", "Ordered/MemoryBlocks", "Support/RandomValues")
    for name, own in (("ColumnBreakageTests", "Columns/ColumnQueryTests"), ("LiveBreakageTests", "Query/LiveHistory")):
        for path in (*support, own):
            files[f"Tests/{name}/{path}.swift"] = (ROOT / f"Tests/SynclineCoreTests/{path}.swift").read_text()
    # The process and the server that these tests need are not part of the copy.
    for path in sorted((ROOT / "Tests/SynclineSQLTests").glob("*.swift")):
        if path.name not in ("KillTests.swift", "TypedHistoryTests.swift"):
            files[f"Tests/SQLBreakageTests/{path.name}"] = path.read_text()
    for path in (
            "Access/AccessTests", "Rights/ColumnReaderTests", "Rights/RightsClients", "Rights/RightsListeners", "Rights/RightsModelTests",
            "Rights/RightsRequests", "Rights/RightsWorld", "Rights/RuleTakeoverTests", "Support/CountingDatabase",
            "Support/PrivatePostgres", "Support/ServiceDesk", "Support/Shell", "Support/TestBackend"):
        files[f"Tests/RightsBreakageTests/{path}.swift"] = (
            ROOT / f"Tests/SynclineServerTests/{path}.swift").read_text()
    for path in ("TypedColumnTests", "Support/TestStore"):
        files[f"Tests/TypeBreakageTests/{path}.swift"] = (ROOT / f"Tests/SynclineTests/{path}.swift").read_text()
    for name in (
            "BreakageTests", "ColumnBreakageTests", "LiveBreakageTests", "RightsBreakageTests", "SQLBreakageTests",
            "TypeBreakageTests"):
        files[f"Tests/{name}/{name}.swift"] = (HERE / f"{name}.swift").read_text()
    for path in {breakage.path for breakage in breakages}:
        if not (SOURCES / path).is_file():
            raise SystemExit(f"there is no Sources/{path}")
        files[f"Sources/{path}"] = broken(
            SOURCES / path, [breakage for breakage in breakages if breakage.path == path])
    for module in MODULES:
        names = {breakage.name for breakage in breakages if breakage.module == module}
        files[f"Sources/{module}/Breakage.swift"] = switches(sorted(names, key=str.lower))
    return files, {breakage.name for breakage in breakages}


def write(copy, files):
    for path in [path for folder in ("Sources", "Tests") for path in (copy / folder).rglob("*")]:
        if path.is_file() and str(path.relative_to(copy)) not in files:
            path.unlink()
    for name, text in files.items():
        path = copy / name
        if path.is_file() and path.read_text() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    if any(word.startswith("-") for word in sys.argv[1:]) or len(sys.argv) > 3:
        raise SystemExit("usage: breakages.py [COPY [NAME]]")
    check_targets()
    files, names = package()
    if len(sys.argv) > 2 and sys.argv[2] not in names:
        raise SystemExit(f"there is no breakage {sys.argv[2]}")
    if len(sys.argv) > 1:
        write(pathlib.Path(sys.argv[1]), files)
    print(f"{len(names)} breakages")
