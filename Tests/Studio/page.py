"""What the stories share: a studio that runs, and what a person does with its page and sees of it."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import stores

tools, shots = sys.argv[1], sys.argv[2]
stores.tools = tools
run, life = stores.run, stores.life
SIZES = [(360, 740), (768, 1024), (1280, 860), (1920, 1080)]
VIEWS = ["status", "event", "row", "tables", "sql", "outbox", "conflicts", "syncs", "debugger", "charts"]
LOG = "log"
AUDIT = open(os.path.join(os.path.dirname(__file__), "audit.js")).read()
STORIES = {}


def story(body):
    STORIES[body.__name__] = body
    return body


class Studio:
    running = []

    def __init__(self, store, *words, **variables):
        self.store = store
        self.process = subprocess.Popen(
            [os.path.join(tools, "syncline"), "studio", "-s", store, *words], stdout=subprocess.PIPE, text=True,
            env={**os.environ, **variables})
        Studio.running.append(self.process)
        self.url = self.process.stdout.readline().strip()
        self.root = self.url.split("?")[0]

    def open(self, browser):
        browser.open(self.url)
        browser.until("document.body.dataset.ready && document.querySelectorAll('.line').length > 2 && document.querySelector('#cursor')")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0, "it ends quietly"


def status(url, **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers)).status
    except urllib.error.HTTPError as error:
        return error.code


def text(browser):
    return browser.ask("document.getElementById('panel').innerText")


def view(browser, name):
    browser.ask(f"document.getElementById('tab-{name}').click()")
    browser.until(f"document.body.dataset.ready === '{name}' && document.getElementById('panel').ariaBusy !== 'true'"
                  f" && document.body.dataset.view === '{name}'")


def go(browser, words):
    """Writes into the box, with the keyboard alone."""
    browser.ask("document.activeElement.blur()")
    browser.press("/")
    browser.until("document.activeElement.id === 'box'")
    browser.write(words)
    browser.press("Enter")


def moment(browser):
    return browser.ask("Number(document.getElementById('chart').getAttribute('aria-valuenow'))")


def at(browser, number):
    browser.until(f"document.getElementById('chart').getAttribute('aria-valuenow') === '{number}'")


def sees(browser):
    """The line that is chosen is visible."""
    browser.until(
        "(() => { const box = document.getElementById('list').getBoundingClientRect(), line = document.querySelector"
        "('.line[aria-selected=true]').getBoundingClientRect(); return line.top >= box.top - 1 && line.bottom <= box.bottom + 1; })()")


def audit(browser, where):
    found = browser.ask(AUDIT)
    assert found == [], f"{where}: {found}"
    assert "[object" not in text(browser), f"{where}: something is not shown"
