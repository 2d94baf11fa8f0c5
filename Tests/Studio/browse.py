"""The page of `syncline studio`, as somebody uses it: in windows of four sizes, in light and dark, with the keyboard alone, on a
store with a conflict, on a damaged one, on one with many events, and beside an app that writes.
Usage: browse.py FOLDER-OF-THE-TOOLS FOLDER-FOR-SCREENSHOTS [STORY…]"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import stores
from browser import Browser

tools, shots, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
stores.tools = tools
run = stores.run
SIZES = [(360, 740), (768, 1024), (1280, 860), (1920, 1080)]
VIEWS = ["event", "row", "tables", "sql", "outbox", "conflicts", "syncs", "debugger", "charts"]
AUDIT = open(os.path.join(os.path.dirname(__file__), "audit.js")).read()
STORIES = {}


def story(body):
    STORIES[body.__name__] = body
    return body


class Studio:
    running = []

    def __init__(self, store, *words):
        self.process = subprocess.Popen(
            [os.path.join(tools, "syncline"), "studio", "-s", store, *words], stdout=subprocess.PIPE, text=True)
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
    """The line that is chosen stands where somebody sees it."""
    browser.until(
        "(() => { const box = document.getElementById('list').getBoundingClientRect(), line = document.querySelector"
        "('.line[aria-selected=true]').getBoundingClientRect(); return line.top >= box.top - 1 && line.bottom <= box.bottom + 1; })()")


def audit(browser, where):
    found = browser.ask(AUDIT)
    assert found == [], f"{where}: {found}"


@story
def looks(browser, folder):
    """Every view in every size, in light and in dark."""
    studio = Studio(life(folder))
    assert status(studio.root) == 403 and status(studio.root + "api/lines") == 403, "without the token nothing is shown"
    studio.open(browser)
    assert status(studio.url) == 403, "the token opens the page once"
    assert status(studio.root, Host="example.com") == 403, "another name is refused"
    go(browser, "notes/r1")
    browser.until("document.body.dataset.ready === 'row'")
    for width, height in SIZES:
        browser.size(width, height)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            for name in VIEWS + (["events"] if width < 896 else []):
                view(browser, name)
                time.sleep(0.05)
                browser.until("document.querySelector('#chart svg').viewBox.baseVal.width <= innerWidth")
                audit(browser, f"{name} at {width}, {scheme}")
                browser.picture(f"{shots}/{name}-{width}-{scheme}.png")
                if (width, scheme) == (1280, "light") and name in ["row", "conflicts"]:
                    browser.picture(f"{shots}/{name}.png")
    assert browser.ask("document.querySelectorAll('#panel b, .line .what b').length") == 0, "texts are no markup"
    browser.size(1280, 860)
    browser.scheme("light")
    studio.close()


@story
def answers(browser, folder):
    """What happened to this row, and why."""
    studio = Studio(life(folder))
    studio.open(browser)
    last = moment(browser)
    go(browser, "notes/r1")
    browser.until("document.body.dataset.ready === 'row'")
    words = text(browser)
    for part in ["notes/r1 exists", "is in conflict", "both changed", "water the <b>cactus</b> only", "water the plants twice",
                 "syncline resolve notes/r1 --keep-mine"]:
        assert part in words, (part, words)
    go(browser, "tuesday 12:00")
    browser.until(f"document.getElementById('chart').getAttribute('aria-valuenow') !== '{last}'")
    assert "Tue" in browser.ask("document.getElementById('time').textContent")
    go(browser, "@1")
    at(browser, 1)
    go(browser, "notes/r1@-1")
    at(browser, last)
    go(browser, "notez/r1")
    browser.until("!document.getElementById('answer').hidden && document.getElementById('answer').textContent.includes('notes/r1')")
    browser.press("Escape")

    # Filters: a table, an outcome, a row.
    choose = "(id, value) => { const field = document.getElementById(id); field.value = value; field.dispatchEvent(new Event('change')); }"
    everything = int(browser.ask("document.body.dataset.list"))
    for field, value in [("kind", "pull,purge,cursor-reset"), ("table", "lists"), ("outcome", "problem"), ("row", "notes/n1")]:
        browser.ask(f"({choose})('{field}', {json.dumps(value)})")
        browser.until(f"!document.getElementById('clear').hidden && Number(document.body.dataset.list) < {everything}"
                      " && Number(document.body.dataset.list) > 0")
        browser.ask("document.getElementById('clear').click()")
        browser.until(f"Number(document.body.dataset.list) === {everything}")
    browser.ask("document.getElementById('fold').click()")
    browser.until(f"Number(document.body.dataset.list) === {last}")
    browser.ask("document.getElementById('fold').click()")

    # Tables can be sorted and filtered.
    view(browser, "tables")
    browser.ask("document.getElementById('which').value = 'notes'; document.getElementById('which').dispatchEvent(new Event('change'))")
    browser.until("document.querySelectorAll('.rows tbody tr').length > 20")
    assert "updatedAt" not in browser.ask("document.querySelector('.rows thead').innerText"), "system columns are folded away"
    sort = "[...document.querySelectorAll('.sort')].find(b => b.textContent.trim().startsWith('stars')).click()"
    for way in ["ascending", "descending"]:
        browser.ask(sort)
        browser.until(f"document.querySelector('th[aria-sort={way}]')")
    browser.until("document.querySelector('.rows tbody tr').innerText.includes('5')")
    browser.ask(f"({choose})('filter', \"done eq true and stars gt 2\")")
    browser.until("document.querySelectorAll('.rows tbody tr').length < 12")
    browser.ask(f"({choose})('filter', 'stars gt')")
    browser.until("document.querySelector('#panel .problem')")
    # The answer 400 is what was asked for.
    browser.complaints = [words for words in browser.complaints if "400" not in words]

    # Syncs, and the requests behind them.
    view(browser, "syncs")
    browser.ask("[...document.querySelectorAll('.syncs details')][0].open = true")
    browser.until("document.querySelector('.exchange')")
    assert "/tables/notes" in text(browser)
    studio.close()


@story
def searches(browser, folder):
    """A search for a string, and the parts of a long table, at any moment."""
    studio = Studio(stores.large(folder))
    studio.open(browser)
    last = moment(browser)
    view(browser, "tables")
    ids = "[...document.querySelectorAll('.rows tbody th')].map(head => head.innerText)"
    browser.until("document.querySelectorAll('.rows tbody tr').length === 100")
    first = browser.ask(ids)
    assert "1–100 of 3,000" in text(browser), text(browser)
    browser.ask("document.getElementById('after').click()")
    browser.until("document.getElementById('panel').innerText.includes('101–200 of 3,000')")
    assert not set(first) & set(browser.ask(ids)), "a row is in two parts"
    go(browser, f"@{last // 2}")
    at(browser, last // 2)
    browser.until("document.getElementById('panel').innerText.includes('1–100 of') && !document.getElementById('panel').innerText.includes('3,000')")
    browser.ask("document.getElementById('after').click()")
    browser.until("document.getElementById('panel').innerText.includes('101–200 of')")
    browser.press("n")
    at(browser, last)

    def search(words):
        browser.until("document.getElementById('panel').ariaBusy !== 'true'")
        browser.ask("document.getElementById('search').value = ''; document.getElementById('search').focus()")
        browser.write(words)
        browser.press("Enter")

    search("ROW 299")
    browser.until("document.getElementById('matches').innerText === '11 rows found.'")
    assert browser.ask("document.querySelector('.found mark').textContent") == "row 299"
    search("row")
    browser.until("document.getElementById('matches').innerText === '50 rows found in this part.'")
    browser.ask("document.getElementById('after').click()")
    browser.until("document.getElementById('panel').innerText.includes('Rows 51–100 were read')")
    search("no such words")
    browser.until("document.getElementById('matches').innerText === 'No row has this string.'")
    # What the box does not know can be searched for.
    go(browser, "row 1234")
    browser.until("!document.getElementById('answer').hidden && document.getElementById('search-rows')")
    browser.ask("document.getElementById('search-rows').click()")
    browser.until("document.getElementById('matches').innerText === '1 row found.'")
    browser.complaints = [words for words in browser.complaints if "400" not in words]
    for width, height in SIZES:
        browser.size(width, height)
        browser.scheme("dark" if width in (768, 1920) else "light")
        audit(browser, f"the search at {width}")
        browser.picture(f"{shots}/search-{width}.png")
    browser.size(1280, 860)
    browser.scheme("light")
    browser.ask("document.querySelector('.found .link').click()")
    browser.until("document.body.dataset.ready === 'row' && document.getElementById('panel').innerText.includes('r1234')")
    studio.close()


@story
def selects(browser, folder):
    """SQL at any moment, by keyboard: an answer, an error, a statement that would write, and one that never ends."""
    store = life(folder)
    studio = Studio(store)
    studio.open(browser)
    last = moment(browser)
    browser.press("4")
    browser.until("document.body.dataset.ready === 'sql'")

    def ask(statement):
        browser.ask("document.getElementById('statement').focus(); document.getElementById('statement').select()")
        browser.write(statement)
        browser.ask("delete document.body.dataset.asked")
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", windowsVirtualKeyCode=13, modifiers=2)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", windowsVirtualKeyCode=13, modifiers=2)

    def answer(statement):
        ask(statement)
        browser.until("document.body.dataset.asked")
        return browser.ask("document.getElementById('result').innerText")

    many = "select id, text, stars from notes where stars > 3 order by stars desc, id"
    count = len(json.loads(run(store, "sql", many, "--json")))
    found = answer(many)
    assert f"{count} rows" in found and "water the plants twice" in found and f"as of @{last}" in found, found
    # The moment is a slider: the same statement is asked again wherever it stops.
    browser.ask("document.getElementById('sql-moment').focus()")
    browser.press("ArrowLeft")
    at(browser, last - 1)
    browser.until(f"document.body.dataset.asked === '{last - 1}'")
    browser.press("Home")
    at(browser, 1)
    browser.until("document.getElementById('result').innerText.includes('there is no table')")
    browser.press("End")
    at(browser, last)
    browser.until(f"document.body.dataset.asked === '{last}' && document.querySelector('#result tbody')")
    assert browser.ask("document.getElementById('statement').value").startswith("select id, text"), "the statement stays"
    found = answer(f"select new.id, old.text, new.text from notes new join \"notes@{last // 2}\" old using (id) where new.text is not old.text")
    assert "book the night train" in found and "book the train" in found, found
    for width, height in SIZES:
        browser.size(width, height)
        browser.scheme("dark" if width in (768, 1920) else "light")
        audit(browser, f"SQL at {width}")
        browser.picture(f"{shots}/select-{width}.png")
    browser.size(1280, 860)
    browser.scheme("light")
    browser.picture(f"{shots}/sql.png")
    assert "Did you mean \"notes\"?" in answer("select * from notez")
    assert "would change notes" in answer("delete from notes")
    assert "The first 200 of 3,000 rows" in answer("with recursive s(n) as (select 1 union all select n + 1 from s limit 3000) select n from s")
    ask("with recursive s(n) as (select 1 union all select n + 1 from s) select max(n) from s")
    browser.until("!document.getElementById('cancel').disabled && document.querySelector('#result .working')")
    browser.press("Escape")
    browser.until("document.getElementById('result').innerText.includes('was cancelled')")
    found = answer("select event, cause, id from syncline_events where event > 5 limit 3")
    browser.ask("document.querySelector('#result tbody .link').click()")
    at(browser, 6)
    browser.until("document.body.dataset.asked === '6'")
    view(browser, "event")
    view(browser, "sql")
    browser.until("document.querySelector('#result tbody .link')")
    browser.complaints = [words for words in browser.complaints if "422" not in words]
    studio.close()


@story
def asks(browser, folder):
    """The debugger: when it began, what would have been, another policy, another store."""
    browser.size(1280, 860)
    studio = Studio(life(folder))
    studio.open(browser)

    def ask(kind, words):
        view(browser, "debugger")
        for name, value in words.items():
            browser.ask(f"document.querySelector('#ask-{kind} [name={name}]').value = {json.dumps(value)}")
        browser.ask(f"document.querySelector('#ask-{kind} form').requestSubmit()")
        browser.until(f"document.querySelector('#ask-{kind} [data-done={kind}]')", 60)
        return browser.ask(f"document.querySelector('#ask-{kind} .result').innerText")

    found = ask("bisect", {"condition": "conflicts ge 1"})
    assert "answer" in found and "syncline replay '--bisect=conflicts ge 1'" in found, found
    event = browser.ask("document.querySelector('#ask-bisect .result .link').textContent")
    assert "never became true" in ask("bisect", {"condition": "pending gt 500"})
    assert "Did you mean" in ask("bisect", {"condition": "count(notez) gt 1"})
    browser.complaints = [words for words in browser.complaints if "422" not in words]
    assert "would differ" in ask("policy", {"policy": "client-wins"})
    browser.ask("document.getElementById('ask-policy').scrollIntoView()")
    browser.picture(f"{shots}/debugger.png")
    found = ask("without", {"events": event})
    assert "Left out" in found, found
    assert "differ" in ask("compare", {"with": "@1"})
    assert "differ" in ask("compare", {"with": os.path.join(folder, "other"), "table": "notes"})
    studio.close()


@story
def decides(browser, folder):
    """With --write a conflict is decided in the page, without it is not."""
    store = life(folder)
    studio = Studio(store)
    studio.open(browser)
    view(browser, "conflicts")
    words = text(browser)
    assert "--write" in words and "The next push sends an update of" in words and "Not possible: both sides changed" in words, words
    assert browser.ask("document.querySelectorAll('[data-choice]').length") == 0, "without --write there is no button"
    refused = browser.ask("fetch('/api/resolve', { method: 'POST', body: '{}' }).then(a => a.status)")
    assert refused == 403, "without --write nothing is decided"
    browser.complaints = [words for words in browser.complaints if "/api/resolve" not in words]
    studio.close()
    studio = Studio(store, "--write")
    studio.open(browser)
    view(browser, "conflicts")
    for left in [2, 1]:
        browser.until(f"document.querySelectorAll('[data-choice=keep-mine]').length === {left}")
        browser.ask("document.querySelector('[data-choice=keep-mine]').click()")
    browser.until("document.getElementById('panel').innerText.includes('Nothing waits for a decision')")
    assert json.loads(run(store, "conflicts", "--json")) == []
    studio.close()


@story
def keys(browser, folder):
    """Everything by keyboard, and what has the focus can be seen."""
    studio = Studio(life(folder))
    studio.open(browser)
    last = moment(browser)

    def focused(expression):
        browser.until(f"document.activeElement && document.activeElement.matches('{expression}')")
        ring = browser.ask("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none", f"the focus of {expression} can't be seen"

    browser.press("l")
    focused("#list")
    browser.press("ArrowUp")
    at(browser, last - 1)
    browser.press("Home")
    at(browser, 1)
    sees(browser)
    # To a push that is folded; open it, go into it, close it.
    for _ in range(60):
        browser.press("ArrowDown")
        browser.until("document.querySelector('.line[aria-selected=true]')")
        if browser.ask("!!document.querySelector('.line[aria-selected=true][aria-expanded=false] .push')"):
            break
    count = int(browser.ask("document.body.dataset.list"))
    browser.press("ArrowRight")
    browser.until(f"Number(document.body.dataset.list) > {count}")
    browser.press("Escape")
    browser.press("t")
    focused("#chart")
    before = moment(browser)
    browser.press("ArrowLeft")
    at(browser, before - 1)
    browser.press("End")
    at(browser, last)
    browser.press("[")
    at(browser, last - 1)
    browser.press("n")
    at(browser, last)
    for index, name in enumerate(VIEWS):
        browser.press(str(index + 1))
        browser.until(f"document.body.dataset.ready === '{name}'")
    focused("#panel")
    browser.ask("document.getElementById('tab-charts').focus()")
    browser.press("ArrowLeft")
    focused("#tab-debugger")
    browser.press("?")
    browser.until("document.getElementById('keys').open")
    browser.press("Escape")
    browser.until("!document.getElementById('keys').open")
    # Every control that Tab reaches has a ring.
    browser.ask("document.querySelector('.skip').focus()")
    seen = set()
    for _ in range(60):
        browser.press("Tab")
        found = browser.ask("(() => { const e = document.activeElement; return e === document.body ? null : [e.tagName + '#' + e.id, "
                            "getComputedStyle(e).outlineStyle]; })()")
        if found is None:
            break
        assert found[1] != "none", f"the focus of {found[0]} can't be seen"
        seen.add(found[0])
    for name in ["INPUT#box", "BUTTON#help", "DIV#chart", "DIV#list", "SECTION#panel"]:
        assert name in seen, f"Tab does not reach {name}: {seen}"
    # The buttons of the browser go back and forth.
    browser.press("1")
    browser.until("document.body.dataset.ready === 'event'")
    browser.ask("history.back()")
    browser.until("document.body.dataset.ready === 'debugger'")
    studio.close()


@story
def damaged(browser, folder):
    """A store whose log is damaged: what can't be read is marked, with the place and the remedy in words."""
    life(folder)
    studio = Studio(stores.damage(os.path.join(folder, "draft"), folder))
    studio.open(browser)
    browser.until("document.body.dataset.list > 0 && document.querySelector('#chart .lost')")
    words = browser.ask("document.getElementById('damage').textContent")
    assert "can’t be read" in words and "s1:" in words and "syncline repair --salvage" in words, words
    gap = browser.ask("document.querySelector('#damage .link').textContent")
    browser.ask("document.querySelector('#damage .link').click()")
    browser.until("document.getElementById('panel').textContent.includes('can’t be read')")
    browser.until("document.querySelector('.line.lost[aria-selected=true]')")
    assert "syncline repair --salvage" in text(browser)
    browser.size(1280, 700)
    browser.scheme("dark")
    browser.until("document.querySelector('#chart svg').viewBox.baseVal.width > 1000")
    browser.picture(f"{shots}/damaged.png")
    for width, height in SIZES:
        browser.size(width, height)
        browser.scheme("dark" if width in (768, 1920) else "light")
        for name in ["event", "tables", "outbox", "conflicts", "row"]:
            view(browser, name)
            audit(browser, f"{name} of a damaged store at {width}")
        browser.picture(f"{shots}/damaged-{width}.png")
    browser.size(1280, 860)
    browser.scheme("light")
    browser.press("n")
    go(browser, "notes/r1")
    browser.until("document.body.dataset.ready === 'row' && document.getElementById('panel').innerText.includes('Events are missing')")
    view(browser, "event")
    print(f"damaged at {gap}")
    studio.close()


@story
def reports(browser, folder):
    """A report in place of a store: the same events and requests, with masked values; it can't be changed."""
    store, file = life(folder), os.path.join(folder, "bug.jsonl")
    run(store, "report", "-o", file)
    last = int(json.loads(run(store, "log", "-n", "1", "--json"))[0]["address"][1:])
    studio = Studio(file)
    studio.open(browser)
    assert moment(browser) == last, "a report has all events"
    go(browser, "notes/r1")
    browser.until("document.body.dataset.ready === 'row'")
    words = text(browser)
    assert "notes/r1 exists" in words and "both changed" in words and "plants" not in words, words
    view(browser, "conflicts")
    assert "The next push sends an update of" in text(browser)
    view(browser, "syncs")
    browser.ask("[...document.querySelectorAll('.syncs details')][0].open = true")
    browser.until("document.querySelector('.exchange')")
    assert "/tables/notes" in text(browser) and "plants" not in text(browser)
    view(browser, "debugger")
    browser.ask("document.querySelector('#ask-bisect [name=condition]').value = 'conflicts ge 1'")
    browser.ask("document.querySelector('#ask-bisect form').requestSubmit()")
    browser.until("document.querySelector('#ask-bisect [data-done=bisect] .link')", 60)
    browser.picture(f"{shots}/report.png")
    studio.close()
    assert "reports are read-only" in run(file, "studio", "--write", fails=True), "a report is never changed"


@story
def follows(browser, folder):
    """The page beside an app that writes, and two studios side by side."""
    store = life(folder)
    studio, other = Studio(store), Studio(os.path.join(folder, "other"))
    studio.open(browser)
    last = moment(browser)
    run(store, "update", "notes", '{"id":"r4","text":"book the early train"}')
    browser.until(f"Number(document.getElementById('chart').getAttribute('aria-valuenow')) > {last}")
    browser.until("document.getElementById('panel').innerText.includes('book the early train')")
    go(browser, "@5")
    at(browser, 5)
    run(store, "update", "notes", '{"id":"r4","text":"book the late train"}')
    browser.until("document.getElementById('pending').textContent.includes('operation') || true")
    time.sleep(1.5)
    at(browser, 5)
    other.open(browser)
    mine = browser.ask(f"fetch('{other.root}api/summary').then(a => a.status)")
    browser.open(studio.root)
    browser.until("document.body.dataset.ready && document.querySelectorAll('.line').length > 2")
    assert mine == 200, "the other studio answers"
    browser.open(other.root)
    browser.until("document.body.dataset.ready && document.getElementById('store').textContent === 'other'")
    studio.close()
    other.close()


@story
def many(browser, folder):
    """Many events: the page is as light as with a few."""
    studio = Studio(stores.many(folder))
    for width, height in [(1280, 860), (900, 700), (360, 740)]:
        browser.size(width, height)
    browser.size(1280, 860)
    begin = time.monotonic()
    studio.open(browser)
    browser.until("!document.getElementById('listed').textContent.includes('read')", 120)
    print(f"read in {time.monotonic() - begin:.2f} s")
    last = moment(browser)
    begin = time.monotonic()
    for target in [1, 0.5, 0.9]:
        number = max(1, int(last * target))
        go(browser, f"@{number}")
        at(browser, number)
        browser.until(f"document.body.dataset.shown === '{number}'", 60)
        sees(browser)
    print(f"{last} events, three jumps in {time.monotonic() - begin:.2f} s")
    for name in ["tables", "outbox", "event"]:
        begin = time.monotonic()
        view(browser, name)
        print(f"{name} in {time.monotonic() - begin:.2f} s")
        audit(browser, f"{name} of {last} events")
    for width, height in [(900, 700), (360, 740), (1920, 1080)]:
        browser.size(width, height)
        audit(browser, f"{last} events at {width}")
    browser.size(1280, 860)
    box = browser.ask("(() => { const b = document.getElementById('chart').getBoundingClientRect(); return [b.left, b.top, b.width]; })()")
    browser.click(box[0] + box[2] / 4, box[1] + 40)
    browser.until(f"document.getElementById('chart').getAttribute('aria-valuenow') !== '{max(1, int(last * 0.9))}'")
    sees(browser)
    browser.ask("document.getElementById('list').scrollTop = document.getElementById('list').scrollHeight / 2")
    browser.until("document.querySelectorAll('.line').length > 5 && document.querySelectorAll('.line').length < 130")
    browser.picture(f"{shots}/many.png")
    studio.close()


def life(folder):
    return stores.life(folder)


complaints = []
for name, body in STORIES.items():
    if wanted and name not in wanted:
        continue
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="syncline-studio-") as folder:
        browser = Browser()
        try:
            body(browser, folder)
        except BaseException:
            browser.picture(f"{shots}/failed-{name}.png")
            raise
        finally:
            browser.close()
            for process in Studio.running:
                process.kill()
                process.wait()
            Studio.running.clear()
        complaints += [f"{name}: {words}" for words in browser.complaints]
    print(f"{name}: passed in {time.monotonic() - begin:.0f} s")
if complaints:
    raise SystemExit("the page's scripts complained:\n" + "\n".join(complaints))
print(f"the page passes; see {shots}")
