"""Stories about what happens to a store beneath an open page: history is removed, a schema changes, a second store is erased or
damaged, and the studio itself is killed with a report that was dropped on it."""

import json
import os
import shutil
import signal

import stores
from backwards import settled
from beside import INNER, drop
from page import Studio, at, audit, go, life, moment, run, shots, story, text, view


def first_event(store):
    return int(json.loads(run(store, "stats", "--json"))["firstEvent"])


def cut(store):
    """Removes history until the first events are gone."""
    run(store, "config", "retention", "5 events")
    for number in range(9):
        if first_event(store) > 40:
            return first_event(store)
        for stars in [5, 0, number % 5]:
            run(store, "update", "notes", json.dumps({"id": "r5", "stars": stars}))
        run(store, "compact")
    raise SystemExit("no history was removed")


@story
def cut_beneath(browser, folder):
    """History is removed and a schema changes beneath an open page: pins, the watch and the list know of it."""
    store = life(folder)
    studio = Studio(store)
    browser.size(1280, 860)
    studio.open(browser)
    view(browser, "event")
    for number in [8, 20]:
        go(browser, f"@{number}")
        at(browser, number)
        browser.press("p")
        browser.until(f"document.querySelector('.pinned [aria-label=\"Unpin @{number}\"]')")
    run(store, "config", "columns", "notes", "stars:integer,done:boolean")
    floor = cut(store)
    assert floor > 20, floor
    last = int(json.loads(run(store, "log", "-n", "1", "--json"))[0]["address"][1:])
    # The moment was removed: the page goes to the first one that there is, and the pins are gone.
    browser.until("document.querySelectorAll('.pinned').length === 0", 60)
    browser.until(f"document.getElementById('chart').getAttribute('aria-valuemin') === '{floor}'")
    at(browser, floor)
    settled(browser, "event")
    assert "can’t be read" not in text(browser) and f"@{floor}" in text(browser), text(browser)
    browser.until("document.querySelectorAll('.line').length > 2")
    numbers = browser.ask("[...document.querySelectorAll('.line')].map(line => Number(line.dataset.event))")
    assert min(numbers) >= floor, numbers
    # The watch finds what a search of the rest finds, both ways, and the differences of what is left.
    changes = []
    while True:
        answer = json.loads(run(store, "replay", "--bisect=count(notes: stars gt 3)", f"--from=@{changes[-1] + 1 if changes else floor}", "--json", fails=True))
        if not answer.get("event"):
            break
        changes.append(int(answer["event"]["address"][1:]))
    assert changes, "the condition changes"
    browser.press("w")
    browser.until("document.activeElement.id === 'watched'")
    browser.write("count(notes: stars gt 3)")
    browser.press("Enter")
    for number in [one for one in changes if one > floor]:
        at(browser, number)
        browser.until(f"document.getElementById('said').textContent.includes('at @{number};')")
        browser.ask("document.activeElement.blur()")
        browser.press(">")
    browser.until("document.getElementById('said').textContent.startsWith('It was ')")
    browser.press("n")
    at(browser, last)
    browser.press("<")
    at(browser, changes[-1])
    for number in [floor, last]:
        go(browser, f"@{number}")
        at(browser, number)
        browser.press("p")
    browser.until("document.querySelectorAll('.pinned').length === 2")
    browser.press("d")
    browser.until("document.querySelector('#ask-compare [data-done=compare]')", 60)
    assert "syncline diff" in browser.ask("document.querySelector('#ask-compare .result').innerText")
    # Every other view is whole, and an address with removed moments shows something.
    for name in ["status", "row", "tables", "outbox", "conflicts", "syncs", "charts", "log"]:
        view(browser, name)
        audit(browser, f"{name} after history was removed")
    browser.open("about:blank")
    browser.open(studio.root + "#view=event&at=3&pins=2,9&watch=pending")
    settled(browser, "event")
    at(browser, floor)
    browser.complaints = [words for words in browser.complaints if "400" not in words and "422" not in words and "500" not in words]
    browser.picture(f"{shots}/cut-beneath.png")
    studio.close()


@story
def killed(browser, folder):
    """A studio is killed with a report that is open and one that arrives: the next start leaves nothing of them."""
    store, file, scratch = life(folder), os.path.join(folder, "bug.jsonl"), os.path.join(folder, "scratch")
    os.mkdir(scratch)
    run(store, "report", "-o", file)
    report = open(file).read()
    studio, living = Studio(store, TMPDIR=scratch), Studio(file, TMPDIR=scratch)
    studio.open(browser)
    drop(browser, "bug.jsonl", report)
    browser.until("document.getElementById('file-alone')")
    half = browser.ask(f"fetch('/api/drop?ticket=half&offset=0&size=99999999&name=half', {{ method: 'POST', body: {json.dumps(report[:2000])} }})"
                       ".then(answer => answer.status)")
    assert half == 200 and len(os.listdir(scratch)) == 3, (half, os.listdir(scratch))
    studio.process.send_signal(signal.SIGKILL)
    studio.process.wait()
    assert len(os.listdir(scratch)) == 3, "what a killed process made stays"
    # What another user's program has there is not touched, nor is what is in use.
    os.symlink(folder, os.path.join(scratch, "syncline-report.abcdef"))
    os.mkdir(os.path.join(scratch, "syncline-report.longer-name"))
    again = Studio(store, TMPDIR=scratch)
    left = os.listdir(scratch)
    assert len(left) == 3 and {"syncline-report.longer-name", "syncline-report.abcdef"} < set(left), left
    assert os.path.exists(file)
    living.open(browser)
    go(browser, "notes/r1")
    settled(browser, "row")
    assert "notes/r1 exists" in text(browser), "the other studio's report is whole"
    living.close()
    again.close()
    assert len(os.listdir(scratch)) == 2
    browser.complaints = []


@story
def beside_attacked(browser, folder):
    """The second store is damaged, then erased, beneath the page: the first one works as before, and the other says what is wrong."""
    store, other = life(folder), os.path.join(folder, "other")
    studio = Studio(store, "--beside", other)
    browser.size(1280, 860)
    studio.open(browser)
    browser.until("!document.getElementById('besides').parentElement.hidden")
    browser.ask("(choice => { choice.value = '1'; choice.dispatchEvent(new Event('change')); })(document.getElementById('besides'))")
    browser.until(f"{INNER}.body.dataset.ready && {INNER}.getElementById('store').textContent === 'other'")
    run(other, "erase", "--force")
    for number in [12, 30]:
        go(browser, f"@{number}")
        at(browser, number)
        settled(browser, "event")
    browser.until(f"{INNER}.body.dataset.lost === 'true' || {INNER}.querySelector('.problem')")
    browser.picture(f"{shots}/beside-erased.png")
    browser.open("about:blank")
    studio.close()
    # A store that is not there when the studio starts is named; one that is damaged is shown with its damage.
    refused = run(store, "studio", "--beside", other, fails=True)
    assert other in refused and "contains no log" in refused, refused
    whole = os.path.join(folder, "draft")
    damaged = stores.damage(whole, folder)
    studio = Studio(store, "--beside", damaged)
    studio.open(browser)
    browser.until("!document.getElementById('besides').parentElement.hidden")
    browser.ask("(choice => { choice.value = '1'; choice.dispatchEvent(new Event('change')); })(document.getElementById('besides'))")
    browser.until(f"{INNER}.body.dataset.ready && !{INNER}.getElementById('damage').hidden")
    assert "can’t be read" in browser.ask(f"{INNER}.getElementById('damage').textContent")
    for number in [12, 30]:
        go(browser, f"@{number}")
        at(browser, number)
        settled(browser, "event")
    browser.picture(f"{shots}/beside-damaged.png")
    # Its files go altogether.
    shutil.rmtree(damaged)
    view(browser, "tables")
    browser.until("document.querySelectorAll('.rows tbody tr').length > 0")
    browser.until(f"{INNER}.body.dataset.lost === 'true' || {INNER}.querySelector('.problem')")
    browser.open("about:blank")
    browser.complaints = [words for words in browser.complaints if " 500 " not in words]
    studio.close()
