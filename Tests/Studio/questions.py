"""Stories about what the page is asked: a row, a search, SQL, the debugger, and decisions."""

import json
import os

import stores
from page import SIZES, Studio, at, audit, go, life, moment, run, shots, status, story, text, view


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

    # Syncs, and their requests.
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
    second = browser.ask("[...document.querySelectorAll('.rows tbody tr')].filter(row => row.ariaRowIndex > 101 && row.ariaRowIndex <= 201)"
                         ".map(row => row.firstChild.innerText)")
    assert len(second) == 100 and not set(first) & set(second), "a row is in two parts"
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
    # What no row has any more is found in the history, with the event, and from an address.
    run(studio.store, "update", "rows", '{"id":"r2999","text":"other"}')
    at(browser, last + 2)
    search("row 2999")
    browser.until("document.getElementById('matches').innerText === 'No row has this string.' && document.getElementById('by-history')")
    browser.ask("document.getElementById('by-history').focus(); document.getElementById('by-history').click()")
    browser.until("document.getElementById('matches').innerText.endsWith('in events.')")
    listed = json.loads(run(studio.store, "search", "--history", "--table", "rows", "row 2999", "--json"))
    found = browser.ask("[...document.querySelectorAll('.found h3 .link')].map(link => link.textContent)")
    assert found[1::2] == [f"rows/{one['id']}" for one in reversed(listed)] and "rows/r2999" in found, found
    browser.until("document.querySelector('#panel .share .command code').textContent === \"syncline search --history '--table=rows' -- 'row 2999'\""
                  " || document.querySelector('#panel .share .command code').textContent === \"syncline search --history --table=rows -- 'row 2999'\"")
    audit(browser, "the search through the history")
    browser.picture(f"{shots}/search-history.png")
    link = browser.ask("location.href")
    assert "by=history" in link, link
    browser.open("about:blank")
    browser.open(link)
    browser.until("document.getElementById('matches').innerText.endsWith('in events.')")
    browser.ask("document.getElementById('by-rows').click()")
    browser.until("document.getElementById('by-history')")
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
    browser.press("5")
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
