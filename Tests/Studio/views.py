"""Stories about what the page shows: every view in every size, damaged stores, reports, many events, and an app that writes."""

import json
import os
import time

import stores
from page import LOG, SIZES, VIEWS, Studio, at, audit, go, life, moment, run, sees, shots, status, story, text, view


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
            for name in VIEWS + [LOG] + (["events"] if width < 896 else []):
                view(browser, name)
                time.sleep(0.05)
                browser.until("document.querySelector('#chart svg').viewBox.baseVal.width <= innerWidth")
                audit(browser, f"{name} at {width}, {scheme}")
                browser.picture(f"{shots}/{name}-{width}-{scheme}.png")
                if (width, scheme) == (1280, "light") and name in ["row", "conflicts"]:
                    browser.picture(f"{shots}/{name}.png")
    assert browser.ask("document.querySelectorAll('#panel b, .line .what b').length") == 0, "strings are not markup"
    browser.size(1280, 860)
    browser.scheme("light")
    studio.close()


@story
def first(browser, folder):
    """The page about the store comes first, says what `status` says, follows the app, and leads to events."""
    store = life(folder)
    found = json.loads(run(store, "status", "--json"))
    studio = Studio(store)
    studio.open(browser)
    browser.until("document.body.dataset.ready === 'status'")
    words = text(browser)
    expected = [*found["findings"], found["backend"], found["lastPush"]["outcome"], f"{found['outbox']['toPush']} to push"]
    expected += [step[name] for step in found["next"] for name in ["command", "effect"]]
    expected += [table["table"] for table in found["tables"]] + [page["table"] + ": " for page in found["lastPages"]]
    assert all(word in words for word in expected), ([word for word in expected if word not in words], words)
    run(store, "insert", "notes", '{"id":"new"}')
    browser.until(f"document.getElementById('panel').innerText.includes('{found['outbox']['toPush'] + 1} to push')")
    browser.ask("document.querySelector('#panel .facts .link.mono').click()")
    browser.until("document.body.dataset.ready === 'event'")
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
        browser.press(str((index + 1) % 10))
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
    browser.press("2")
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
    gaps = browser.ask("[...document.querySelectorAll('#damage p .link')].map(link => link.textContent)")
    assert len(gaps) == 2, gaps
    # The page of each gap names the damage that it comes from.
    addresses = []
    for number, gap in enumerate(gaps):
        browser.ask(f"document.querySelectorAll('#damage p .link')[{number}].click()")
        browser.until(f"document.querySelector('#panel h2').textContent.startsWith('{gap}')")
        addresses.append(browser.ask("document.querySelector('#panel .lead code').textContent"))
    listed = browser.ask("[...document.querySelectorAll('#damage li')].map(line => line.textContent)")
    assert len(set(addresses)) == 2 and all(address in line for address, line in zip(addresses, listed)), (addresses, listed)
    browser.ask("document.querySelector('#damage .link').click()")
    browser.until("document.getElementById('panel').textContent.includes('can’t be read')")
    browser.until(f"document.querySelector('#panel h2').textContent.startsWith('{gaps[0]}')"
                  f" && document.querySelector('.line.lost[aria-selected=true]').textContent.includes('{gaps[0]}')")
    assert "syncline repair --salvage" in text(browser)
    browser.size(1280, 700)
    browser.scheme("dark")
    browser.until("document.querySelector('#chart svg').viewBox.baseVal.width > 1000")
    browser.picture(f"{shots}/damaged.png")
    for width, height in SIZES:
        browser.size(width, height)
        browser.scheme("dark" if width in (768, 1920) else "light")
        for name in ["status", "event", "tables", "outbox", "conflicts", "row"]:
            view(browser, name)
            audit(browser, f"{name} of a damaged store at {width}")
        browser.picture(f"{shots}/damaged-{width}.png")
    browser.size(1280, 860)
    browser.scheme("light")
    browser.press("n")
    go(browser, "notes/r1")
    browser.until("document.body.dataset.ready === 'row' && document.getElementById('panel').innerText.includes('Events are missing')")
    view(browser, "event")
    print(f"damaged at {' and '.join(gaps)}")
    studio.close()


@story
def bytes_of_the_log(browser, folder):
    """The page of the log: files to scale, frames, every byte by its name, from an event and back, and damage in its place."""
    store = life(folder)
    run(store, "checkpoint")
    studio = Studio(store)
    studio.open(browser)
    go(browser, "@12")
    at(browser, 12)
    view(browser, "event")
    browser.ask("[...document.querySelectorAll('#panel .actions button')].find(button => button.textContent === 'Its bytes').click()")
    browser.until("document.body.dataset.ready === 'log' && document.getElementById('bytes')")
    words = text(browser)
    assert "record @12" in words and "every check passes" in words, words
    address = browser.ask("document.querySelector('#bytes code').textContent")
    # The address of the page holds what is chosen.
    link = browser.ask("location.href")
    assert "bytes=%4012" in link and "view=log" in link, link
    browser.open("about:blank")
    browser.open(link)
    browser.until(f"document.getElementById('bytes') && document.querySelector('#bytes code').textContent === '{address}'")
    assert browser.ask("document.querySelector('.frames tr[aria-current] .link').textContent") == address
    # With the keyboard alone: the frame before, and back.
    browser.ask("document.querySelector('.frames tr[aria-current] .link').focus()")
    browser.press("ArrowUp")
    browser.until(f"document.querySelector('#bytes code').textContent !== '{address}'")
    browser.until("document.activeElement.id === 'frame-' + document.querySelector('#bytes code').textContent")
    browser.press("ArrowDown")
    browser.until(f"document.querySelector('#bytes code').textContent === '{address}'")
    for width, height in SIZES:
        browser.size(width, height)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            audit(browser, f"bytes at {width}, {scheme}")
            browser.picture(f"{shots}/bytes-{width}-{scheme}.png")
    browser.size(1280, 860)
    browser.scheme("light")
    browser.size(1280, 1180)
    browser.ask("document.getElementById('panel').scrollTop = 0; document.activeElement.blur()")
    browser.until("document.querySelector('#chart svg').viewBox.baseVal.width > 1000")
    browser.picture(f"{shots}/log.png")
    browser.size(1280, 860)
    # A checkpoint: its blocks are named by what they are, and a block's columns by their encoding.
    browser.ask("document.querySelector('.files .file[id^=file-c]').click()")
    browser.until("document.querySelector('.frames') && document.getElementById('panel').innerText.includes('Run 1')")
    browser.ask("[...document.querySelectorAll('.frames tr')].find(row => row.textContent.includes('entries')).querySelector('button').click()")
    browser.until("document.getElementById('bytes') && document.getElementById('panel').innerText.includes('shared bytes of key 1')")
    browser.ask("history.back()")
    browser.until("!document.getElementById('bytes')")
    browser.ask("history.back()")
    browser.until(f"document.getElementById('bytes') && document.querySelector('#bytes code').textContent === '{address}'")
    browser.ask("[...document.querySelectorAll('table.bytes .link')].find(link => link.textContent === '@12').click()")
    browser.until("document.body.dataset.ready === 'event'")
    at(browser, 12)
    browser.open("about:blank")
    studio.close()
    # Damage is a piece of its own, and one click away.
    damaged = Studio(stores.damage(os.path.join(folder, "draft"), folder))
    damaged.open(browser)
    browser.until("document.querySelector('#damage li .link')")
    browser.ask("document.querySelector('#damage li .link').click()")
    browser.until("document.body.dataset.ready === 'log' && document.getElementById('bytes')")
    assert "wrong" in text(browser) and browser.ask("document.querySelectorAll('.files .piece.damaged').length") == 2
    browser.scheme("dark")
    audit(browser, "bytes of a damaged store")
    browser.picture(f"{shots}/bytes-damaged.png")
    browser.scheme("light")
    damaged.close()


@story
def sizes(browser, folder):
    """How much room the events take by kind and table, what was written for the values, and the bytes of the small files."""
    store = life(folder)
    studio = Studio(store)
    studio.open(browser)
    view(browser, "log")
    browser.ask("document.getElementById('sizes').focus(); document.getElementById('sizes').click()")
    browser.until("document.getElementById('written') && document.getElementById('panel').ariaBusy !== 'true'")
    words = text(browser)
    listed = json.loads(run(store, "inspect", "events", "--json"))
    rows = browser.ask("[...document.querySelectorAll('#panel tbody tr')].map(row => [...row.children].map(cell => cell.innerText.trim()))")
    assert [row[:3] for row in rows] == [[one["kind"], one["table"] or "–", f"{one['events']:,}"] for one in listed], rows
    written = json.loads(run(store, "stats", "--json"))["written"]
    assert f"{written['ownValues']} B of values from the app" in words and f"{written['amplification']:.2f} bytes for each" in words, words
    assert browser.ask("document.activeElement.id") == "sizes" and "bytes=sizes" in browser.ask("location.hash")
    browser.until("document.querySelector('#panel .share .command code').textContent === 'syncline inspect events'")
    assert browser.ask("!!document.querySelector('figure [data-form=svg]')")
    for width, height in SIZES:
        browser.size(width, height)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            audit(browser, f"sizes at {width}, {scheme}")
            browser.picture(f"{shots}/sizes-{width}-{scheme}.png")
    browser.size(1280, 860)
    browser.scheme("light")
    # The small files, with the keyboard alone.
    browser.ask("document.getElementById('file-HEAD').focus()")
    browser.press("Enter")
    browser.until("document.getElementById('bytes') && document.querySelector('#bytes code').textContent === 'HEAD'")
    words = text(browser)
    assert "slot 1: generation" in words and "the one in force" in words and "every check passes" in words, words
    assert "syncline inspect frame HEAD --bytes" in words and browser.ask("document.activeElement.id") == "file-HEAD"
    link = browser.ask("location.href")
    browser.open("about:blank")
    browser.open(link)
    browser.until("document.getElementById('bytes') && document.querySelector('#file-HEAD[aria-current=true]')")
    for width, height in SIZES:
        browser.size(width, height)
        browser.scheme("dark" if width in (768, 1920) else "light")
        audit(browser, f"HEAD at {width}")
        browser.picture(f"{shots}/head-{width}.png")
    browser.size(1280, 860)
    browser.scheme("light")
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
    view(browser, "event")
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
    for name in ["tables", "outbox", "event", "log"]:
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
