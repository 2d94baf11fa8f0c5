"""Stories about the address of the page: what it holds survives a reload, goes back and forward, and is shared as a command or
a file."""

import csv
import io
import json
import os
import shlex
import time

from page import SIZES, Studio, at, audit, go, life, run, shots, story, text, view

CHOOSE = "(id, value) => { const field = document.getElementById(id); field.value = value; field.dispatchEvent(new Event('change')); }"


def settled(browser):
    browser.until("document.body.dataset.ready && document.body.dataset.view === document.body.dataset.ready"
                  " && document.getElementById('panel').ariaBusy !== 'true'"
                  " && document.querySelectorAll('.line').length > 0")


def choose(browser, name, value):
    browser.ask(f"({CHOOSE})('{name}', {json.dumps(value)})")


def submit(browser, kind, **values):
    for name, value in values.items():
        browser.ask(f"document.querySelector('#ask-{kind} [name={name}]').value = {json.dumps(value)}")
    browser.ask(f"document.querySelector('#ask-{kind} form').requestSubmit()")


def bytes_of(browser, number):
    go(browser, f"@{number}")
    at(browser, number)
    view(browser, "event")
    browser.ask("[...document.querySelectorAll('#panel .actions button')].find(one => one.textContent === 'Its bytes').click()")


def write_statement(browser, statement):
    browser.ask("document.getElementById('statement').focus(); document.getElementById('statement').select()")
    browser.write(statement)
    browser.ask("document.getElementById('run').click()")


STATEMENT = "select id, text from notes where stars > 3 order by id"
# What a person chooses in each view, how the page shows that, and whether its command stands in the view.
CHOICES = {
    "event": (lambda b: go(b, "@9"), "document.querySelector('#panel h2').textContent.startsWith('@9 ')"),
    "row": (lambda b: go(b, "notes/r1"), "document.querySelector('#panel h2').textContent.startsWith('notes/r1')"),
    "tables": (lambda b: (choose(b, "which", "notes"), b.until("document.querySelectorAll('.rows tbody tr').length > 20"),
                          choose(b, "filter", "stars gt 2"), b.until("document.querySelectorAll('.rows tbody tr').length < 21"),
                          b.ask("[...document.querySelectorAll('.sort')].find(one => one.textContent.trim().startsWith('stars')).click()")),
               "document.getElementById('filter').value === 'stars gt 2' && document.querySelector('th[aria-sort=ascending]')"
               " && document.querySelectorAll('.rows tbody tr').length < 21"),
    "sql": (lambda b: write_statement(b, STATEMENT),
            f"document.getElementById('statement').value === {json.dumps(STATEMENT)} && document.querySelector('#result tbody')"),
    "outbox": (lambda b: go(b, "@20"), "document.querySelector('#panel h2').textContent.includes('as of @20')"),
    "conflicts": (lambda b: go(b, "@-2"), "document.querySelector('#panel h2').textContent.includes('as of @')"),
    "debugger": (lambda b: submit(b, "bisect", condition="pending ge 1", to="@30"),
                 "document.querySelector('#ask-bisect [name=condition]').value === 'pending ge 1'"
                 " && document.querySelector('#ask-bisect [name=to]').value === '@30'"
                 " && document.querySelector('#ask-bisect [data-done=bisect] .link')"),
    "log": (lambda b: bytes_of(b, 12), "document.getElementById('bytes') && document.getElementById('panel').innerText.includes('record @12')"),
    "status": (lambda b: None, "document.querySelector('#panel .facts')"),
    "syncs": (lambda b: None, "document.querySelector('.syncs')"),
    "charts": (lambda b: None, "document.querySelectorAll('#panel figure').length === 5"),
}


@story
def addresses(browser, folder):
    """Every view from its address alone, in a new page; back and forward; and the list of events and the timeline with it."""
    store = life(folder)
    studio = Studio(store)
    studio.open(browser)
    links = {}
    for name, (choice, shown) in CHOICES.items():
        browser.press("n")
        view(browser, name)
        choice(browser)
        browser.until(shown)
        settled(browser)
        links[name] = browser.ask("location.href")
    for name, link in reversed(links.items()):
        browser.open("about:blank")
        browser.open(link)
        browser.until(CHOICES[name][1])
        settled(browser)
        assert browser.ask("location.href") == link, (name, link, browser.ask("location.href"))
    # Filters, span and axis belong to every view.
    browser.open(links["row"])
    settled(browser)
    everything = int(browser.ask("document.body.dataset.list"))
    for name, value in [("table", "notes"), ("kind", "local,undo,drop"), ("row", "notes/r1"), ("span", "86400000")]:
        choose(browser, name, value)
    browser.until(f"Number(document.body.dataset.list) < {everything} && document.getElementById('clear').hidden === false")
    few, link = int(browser.ask("document.body.dataset.list")), browser.ask("location.href")
    browser.open("about:blank")
    browser.open(link)
    browser.until(f"document.getElementById('row').value === 'notes/r1' && document.body.dataset.list === '{few}'"
                  " && document.getElementById('kind').value === 'local,undo,drop' && document.getElementById('table').value === 'notes'"
                  " && document.getElementById('span').value === '86400000'")
    # A choice is one step back, and forward again.
    view(browser, "tables")
    choose(browser, "which", "notes")
    browser.until("document.querySelectorAll('.rows tbody tr').length > 20")
    for value in ["stars gt 2", "stars gt 4"]:
        choose(browser, "filter", value)
        browser.until(f"location.hash.includes('{value.replace(' ', '+')}') && document.getElementById('panel').ariaBusy !== 'true'")
    browser.ask("history.back()")
    browser.until("document.getElementById('filter').value === 'stars gt 2'")
    browser.ask("history.back()")
    browser.until("document.getElementById('filter').value === '' && document.querySelectorAll('.rows tbody tr').length > 20")
    browser.ask("history.forward()")
    browser.until("document.getElementById('filter').value === 'stars gt 2'")
    # A statement that is written and not yet run is in the address beside the one that was run.
    browser.open("about:blank")
    browser.open(links["sql"])
    browser.until(CHOICES["sql"][1])
    browser.ask("document.getElementById('statement').focus(); document.getElementById('statement').select()")
    browser.write("select id from")
    browser.until("location.hash.includes('draft=select+id+from')")
    link = browser.ask("location.href")
    browser.open("about:blank")
    browser.open(link)
    browser.until("document.getElementById('statement').value === 'select id from' && document.querySelector('#result tbody')")
    assert "order by id" in browser.ask("document.querySelector('#result .command code').textContent")
    write_statement(browser, STATEMENT)
    browser.until("!location.hash.includes('draft') && document.querySelector('#result tbody')")
    # What is written into a form stays there, also if another moment was chosen just before.
    view(browser, "outbox")
    settled(browser)
    browser.ask("document.getElementById('previous').click(); document.getElementById('tab-debugger').click()")
    browser.until("document.querySelector('#ask-bisect [name=condition]')")
    browser.ask("document.querySelector('#ask-bisect [name=condition]').value = 'pending ge 7'; window.wroteAt = Date.now()")
    browser.until("Date.now() - window.wroteAt > 120")
    assert browser.ask("document.querySelector('#ask-bisect [name=condition]').value") == "pending ge 7"
    # An address that someone made up shows something, and nothing breaks.
    for parts in ["view=nothing&at=-4", "view=tables&table=nope&order=x&filter=(((", "view=outbox&skip=1e9", "view=log&bytes=s99:1",
                  "view=sql&statement=drop+table+notes", "view=debugger&ask=__proto__&__proto__=1", "view=row&row=nope/x&kind=zz&span=-1"]:
        browser.open("about:blank")
        browser.open(studio.root + "#" + parts)
        browser.until("document.body.dataset.ready && document.getElementById('panel').ariaBusy !== 'true'")
    browser.complaints = [words for words in browser.complaints if "400" not in words and "422" not in words and "500" not in words]
    studio.close()


@story
def shares(browser, folder):
    """The command of each view prints what the view shows, and each view is a file."""
    store = life(folder)
    files = os.path.join(folder, "files")
    os.mkdir(files)
    studio = Studio(store)
    studio.open(browser)
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=files)

    def saved(name, press):
        browser.ask(press)
        path = os.path.join(files, name)
        for _ in range(1000):
            if os.path.exists(path) and os.path.getsize(path):
                break
            time.sleep(0.02)
        content = open(path).read()
        os.remove(path)
        return content

    for name, (choice, shown) in CHOICES.items():
        browser.press("n")
        view(browser, name)
        choice(browser)
        browser.until(f"{shown} && document.querySelector('#panel .share [data-form=json]')")
        press = "document.querySelector('#panel .share [data-form={}]').click()"
        whole = json.loads(saved(f"syncline-{name}.json", press.format("json")))
        # A browser refuses more than some twenty files without a click of a hand.
        if name in ["tables", "sql", "charts"]:
            lines = list(csv.reader(io.StringIO(saved(f"syncline-{name}.csv", press.format("csv")))))
            assert len(lines) == 1 + len(whole), (name, lines[:3])
        if name == "charts":
            continue
        place = "#result" if name == "sql" else "#ask-bisect" if name == "debugger" else ".share"
        browser.until(f"window.words = document.querySelector('#panel {place} .command code').textContent")
        words = browser.ask("window.words")
        assert words.startswith("syncline "), (name, words)
        printed = json.loads(run(store, *insert(shlex.split(words)[1:])))
        if name != "status":
            assert printed == whole, (name, words)
    view(browser, "charts")
    picture = saved("syncline-changes.svg", "document.querySelector('figure [data-form=svg]').click()")
    assert picture.startswith("<svg") and "stroke" in picture and "class=" not in picture, picture[:400]
    choose(browser, "table", "lists")
    browser.until("document.querySelector('#listed .kept').title === 'syncline log --table=lists'"
                  " || document.querySelector('#listed .kept').title.includes(\"'--table=lists'\")")
    events = saved("syncline-events.json", "document.querySelector('#listed [data-form=json]').click()")
    assert json.loads(events) == json.loads(run(store, "log", "--table", "lists", "--json"))
    for width, height in SIZES:
        browser.size(width, height)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            for name in ["tables", "row", "charts"]:
                view(browser, name)
                browser.until("document.querySelector('#panel .share')")
                browser.ask("document.querySelector('#panel .share').scrollIntoView()")
                audit(browser, f"the foot of {name} at {width}, {scheme}")
                browser.picture(f"{shots}/share-{name}-{width}-{scheme}.png")
    studio.close()


def insert(words):
    """Asks for JSON, before the words that follow the options."""
    place = words.index("--") if "--" in words else len(words)
    return [*words[:place], "--json", *words[place:]]
