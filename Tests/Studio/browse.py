"""The page of `syncline studio`, as somebody uses it: with the keyboard, with the mouse, in light and dark, with and without
--write. Usage: browse.py FOLDER-OF-THE-TOOLS FOLDER-FOR-SCREENSHOTS"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from browser import Browser

tools, shots = sys.argv[1], sys.argv[2]
tool = os.path.join(tools, "syncline")


def run(store, *words, text=None, fails=False):
    done = subprocess.run([tool, *words, "-s", store], input=text, capture_output=True, text=True)
    if done.returncode and not fails:
        raise SystemExit(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


def conflict(folder):
    """A store with a life: rows, an undo, a push, and a conflict that waits."""
    store, other = os.path.join(folder, "store"), os.path.join(folder, "other")
    server = subprocess.Popen(
        [os.path.join(tools, "syncline-server"), "--store", f"sqlite:{folder}/server.db", "--listen", "127.0.0.1:0",
         "--table", "todoitem", "--log", "none"], stdout=subprocess.PIPE, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"]
        for path in [store, other]:
            run(path, "init", "--backend", url)
        items = "\n".join(json.dumps({"id": f"item-{n}", "text": f"thing {n}", "done": n % 3 == 0}) for n in range(40))
        run(store, "insert", "todoitem", "-", "--each", text=items)
        run(store, "delete", "todoitem", "item-7")
        run(store, "undo")
        run(store, "push")
        run(other, "pull", "todoitem")
        run(other, "update", "todoitem", '{"id":"item-1","text":"theirs"}')
        run(other, "push")
        run(store, "update", "todoitem", '{"id":"item-1","text":"mine <b>not bold</b>"}')
        run(store, "update", "todoitem", '{"id":"item-2","done":true}')
        run(store, "push", fails=True)
        run(store, "update", "todoitem", '{"id":"item-3","text":"later"}')
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    return store


class Studio:
    running = []

    def __init__(self, store, *words):
        self.process = subprocess.Popen([tool, "studio", "-s", store, *words], stdout=subprocess.PIPE, text=True)
        Studio.running.append(self.process)
        self.url = self.process.stdout.readline().strip()

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0, "it ends quietly"


def status(url, **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers)).status
    except urllib.error.HTTPError as error:
        return error.code


def sees(browser):
    """The event that is chosen stands where somebody sees it."""
    browser.until(
        "(() => { const box = at('list').getBoundingClientRect(), row = at('event-' + state.moment).getBoundingClientRect();"
        " return row.top >= box.top - 1 && row.bottom <= box.bottom + 1 && row.height > 0; })()")


def look(browser, store):
    studio = Studio(store)
    root = studio.url.split("?")[0]
    assert status(root) == 403 and status(root + "api/events") == 403, "without the token nothing is shown"
    browser.open(studio.url)
    browser.until("document.body.dataset.ready === 'event' && document.querySelectorAll('.event').length > 5")
    assert status(studio.url) == 403, "the token opens the page once"
    assert status(root, Host="example.com") == 403, "another name is refused"
    last = browser.ask("state.last")
    sees(browser)
    browser.until("document.querySelector('#density rect')")
    browser.picture(f"{shots}/1-event.png")

    browser.ask("document.getElementById('list').focus()")
    browser.press("ArrowUp")
    browser.until(f"state.moment === {last - 1}")
    browser.press("Home")
    browser.until("state.moment === 1 && document.getElementById('event-1').getAttribute('aria-selected') === 'true'")
    sees(browser)
    browser.press("PageDown")
    browser.until("state.moment > 5")
    browser.ask("at('scrub').focus()")
    before = browser.ask("state.moment")
    browser.press("ArrowRight")
    browser.until(f"state.moment === {before + 1}")

    browser.ask("at('tab-event').focus()")
    browser.press("ArrowRight")
    browser.until("document.body.dataset.ready === 'state' && document.activeElement.id === 'tab-state'")
    browser.until("document.querySelectorAll('#panel tbody tr').length > 0")
    few = browser.ask("document.querySelectorAll('#panel tbody tr').length")
    browser.ask("at('newest').click()")
    browser.until(f"document.querySelectorAll('#panel tbody tr').length > {few}")
    browser.picture(f"{shots}/2-tables.png")

    browser.ask("[...document.querySelectorAll('#panel .link')].find(l => l.textContent === 'todoitem/item-1').click()")
    browser.until("document.body.dataset.ready === 'row' && document.querySelectorAll('#panel h3').length > 2")
    text = browser.ask("at('panel').innerText")
    assert "mine <b>not bold</b>" in text and "written by this app" in text, text
    assert browser.ask("document.querySelectorAll('#panel b').length") == 0, "texts are no markup"
    browser.picture(f"{shots}/3-row.png")

    browser.ask("choose('outbox')")
    browser.until("document.body.dataset.ready === 'outbox' && at('panel').innerText.includes('item-3')")
    browser.picture(f"{shots}/4-outbox.png")
    browser.ask("choose('conflicts')")
    browser.until("at('panel').innerText.includes('--write')")
    assert browser.ask("document.querySelectorAll('[data-choice]').length") == 0, "without --write there is no button"
    browser.ask("choose('charts')")
    browser.until("document.querySelectorAll('#panel figure').length === 5")
    browser.scheme("dark")
    browser.picture(f"{shots}/5-charts-dark.png")
    refused = browser.ask("fetch('/api/resolve', { method: 'POST', body: '{}' }).then(a => a.status)")
    assert refused == 403, "without --write nothing is resolved"
    browser.complaints = [text for text in browser.complaints if "/api/resolve" not in text]
    browser.ask("choose('event')")
    browser.until("document.body.dataset.ready === 'event'")
    browser.picture(f"{shots}/6-event-dark.png")
    unnamed = browser.ask(
        "[...document.querySelectorAll('button, input, select, [role=listbox], [role=tabpanel]')].filter(e => !(e.textContent"
        ".trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || (e.labels && e.labels.length)))"
        ".map(e => e.outerHTML)")
    assert unnamed == [], f"a screen reader has no name for {unnamed}"
    studio.close()


def write(browser, store):
    studio = Studio(store, "--write")
    browser.scheme("light")
    browser.open(studio.url)
    browser.until("document.body.dataset.ready === 'event' && typeof state === 'object' && state.writable")
    browser.ask("choose('conflicts')")
    browser.until("document.querySelectorAll('[data-choice]').length === 3")
    browser.picture(f"{shots}/7-conflict.png")
    browser.ask("document.querySelector('[data-choice=keep-mine]').click()")
    browser.until("at('panel').innerText.includes('No conflicts')")
    assert json.loads(run(store, "conflicts", "--json")) == []
    studio.close()


def large(browser, folder):
    """Many events: the list is as light as a short one."""
    store = os.environ.get("SYNCLINE_LARGE_STORE")
    if not store:
        store = os.path.join(folder, "large")
        run(store, "init")
        run(store, "insert", "t", "-", "--each", text="\n".join(json.dumps({"id": f"r{n}", "n": n}) for n in range(3000)))
    studio = Studio(store)
    browser.open(studio.url)
    browser.until("document.body.dataset.ready === 'event' && document.querySelectorAll('.event').length > 5")
    begin = time.monotonic()
    for target in [1, 0.5, 0.9]:
        number = browser.ask(f"Math.max(1, Math.floor(state.last * {target}))")
        browser.ask(f"go({number})")
        browser.until(f"document.getElementById('event-{number}')", 60)
        sees(browser)
    assert browser.ask("document.querySelectorAll('.event').length") < 80, "only what can be seen is made"
    browser.until(f"at('panel').innerText.includes('@{number}')", 60)
    print(f"{browser.ask('state.last')} events, three jumps in {time.monotonic() - begin:.2f} s")
    browser.picture(f"{shots}/8-large.png")
    studio.close()


with tempfile.TemporaryDirectory(prefix="syncline-studio-") as folder:
    browser = Browser()
    try:
        store = conflict(folder)
        look(browser, store)
        write(browser, store)
        large(browser, folder)
    finally:
        browser.close()
        for process in Studio.running:
            process.kill()
    if browser.complaints:
        raise SystemExit("the page's scripts complained:\n" + "\n".join(browser.complaints))
    print(f"the page passes; see {shots}")
