"""Stories about a second store: a report that is dropped on the page, and two stores in step."""

import json
import os

from backwards import looked, settled
from page import Studio, at, go, life, moment, run, story, text, view

DROP = """(async (name, parts) => {
  const files = new DataTransfer();
  for (const part of parts) files.items.add(new File([part], name));
  for (const kind of ['dragenter', 'dragover', 'drop'])
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true }));
})"""
SAID = "document.getElementById('file-said').textContent"


def drop(browser, name, *parts):
    browser.ask(f"{DROP}({json.dumps(name)}, {json.dumps(list(parts))})")


@story
def drops(browser, folder):
    """A report's file is dropped on the page; other files are refused in words."""
    store, file = life(folder), os.path.join(folder, "bug.jsonl")
    # More than one part.
    run(store, "insert", "notes", "-", text=json.dumps({"id": "long", "text": "lorem ipsum " * 120_000}))
    run(store, "report", "-o", file)
    report = open(file).read()
    studio = Studio(store)
    browser.size(1280, 860)
    studio.open(browser)
    browser.press("o")
    browser.until("document.getElementById('file').open")
    looked(browser, "status", "file")
    browser.press("Escape")
    for parts, words in [(["hello"], "neither a store nor a report"), ([""], "neither a store nor a report"),
                         ([report[:len(report) // 2]], "is not a complete report"), ([report[:-3]], "is not a complete report"),
                         ([report.replace('"report":2', '"report":7')], "newer version"), ([report, report], "One file at a time")]:
        drop(browser, "b\u202eug.jsonl", *parts)
        browser.until(f"{SAID}.includes({json.dumps(words)})")
        assert "\u202e" not in browser.ask(SAID)
    browser.complaints = [words for words in browser.complaints if "422" not in words]
    drop(browser, "bug.jsonl", report)
    browser.until("document.getElementById('file-alone')")
    assert not browser.ask("'over' in document.body.dataset")
    looked(browser, "status", "dropped")
    browser.ask("document.getElementById('file-alone').click()")
    browser.until("location.pathname === '/open/1/' && document.body.dataset.ready && document.getElementById('store').textContent === 'bug.jsonl'")
    go(browser, "notes/r1")
    settled(browser, "row")
    assert "notes/r1 exists" in text(browser) and "plants" not in text(browser)
    go(browser, "@9")
    at(browser, 9)
    view(browser, "debugger")
    browser.ask("document.querySelector('#ask-bisect [name=condition]').value = 'conflicts ge 1'; document.querySelector('#ask-bisect form').requestSubmit()")
    browser.until("document.querySelector('#ask-bisect [data-done=bisect] .link')", 60)
    # Its address survives a reload, and one that was closed says so.
    browser.call("Page.reload")
    browser.until("document.body.dataset.ready === 'debugger' && document.getElementById('store').textContent === 'bug.jsonl'")
    browser.open(studio.root + "open/7/")
    browser.until("document.body.innerText.includes('no longer open')")
    browser.complaints = [words for words in browser.complaints if "404" not in words]
    studio.close()


INNER = "document.querySelector('#beside iframe').contentDocument"


@story
def in_step(browser, folder):
    """Two devices of one story beside each other: the same time, view and row in both, whichever moves."""
    store = life(folder)
    other = os.path.join(folder, "other")
    studio = Studio(store, "--beside", other)
    browser.size(1280, 860)
    studio.open(browser)
    browser.until("!document.getElementById('besides').parentElement.hidden")
    browser.ask("(choice => { choice.value = '1'; choice.dispatchEvent(new Event('change')); })(document.getElementById('besides'))")
    browser.until(f"{INNER}.body.dataset.ready && {INNER}.getElementById('store').textContent === 'other'")
    studio.close()
    # The other device at the same times: a report of it, made earlier, is the store as of another time.
    file = os.path.join(folder, "bug.jsonl")
    run(store, "report", "--no-mask", "-o", file)
    run(store, "update", "notes", '{"id":"r4","text":"later"}')
    studio = Studio(store, "--beside", file)
    studio.open(browser)
    last = moment(browser)
    go(browser, "notes/r1")
    settled(browser, "row")
    browser.ask("(choice => { choice.value = '1'; choice.dispatchEvent(new Event('change')); })(document.getElementById('besides'))")
    inner = f"{INNER}.getElementById('chart').getAttribute('aria-valuenow')"
    browser.until(f"{INNER}.body.dataset.ready === 'row' && Number({inner}) > 5")
    end = int(browser.ask(inner))
    assert end < last
    for number in [12, 7, 30]:
        go(browser, f"@{number}")
        at(browser, number)
        browser.until(f"{inner} === '{number}' && {INNER}.body.dataset.ready === 'event'")
    # The other way.
    browser.ask(f"{INNER}.getElementById('previous').click()")
    at(browser, 29)
    browser.ask(f"{INNER}.getElementById('tab-tables').click()")
    browser.until("document.body.dataset.ready === 'tables'")
    browser.press("n")
    at(browser, last)
    browser.until(f"{inner} === '{end}'")
    view(browser, "row")
    browser.until(f"{INNER}.body.dataset.ready === 'row'")
    looked(browser, "row", "beside")
    # Apart, and in the address.
    browser.ask("document.getElementById('in-step').click()")
    go(browser, "@5")
    at(browser, 5)
    browser.ask(f"{INNER}.getElementById('tab-outbox').click()")
    browser.until(f"{INNER}.body.dataset.ready === 'outbox'")
    assert browser.ask("document.body.dataset.view") == "event" and browser.ask(inner) == str(end)
    link = browser.ask("location.href")
    assert "beside=1" in link and "apart=yes" in link, link
    browser.open("about:blank")
    browser.open(link)
    browser.until(f"{INNER}.body.dataset.ready && !document.getElementById('in-step').checked")
    browser.ask("document.querySelector('#beside .actions [aria-label=Close]').click()")
    browser.until("document.getElementById('beside').hidden && !location.hash.includes('beside')")
    studio.close()
