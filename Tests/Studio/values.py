"""Values that look like something else: a page shows them as they are stored, and stays quick with long ones."""

import json
import os
import time

from page import SIZES, Studio, at, go, run, shots, story, text, view


@story
def values(browser, folder):
    store = os.path.join(folder, "odd")
    odd = "see @3 on 2026-05-19T21:30:00.000Z and `rm -rf`"
    run(store, "init")
    for number in range(3):
        run(store, "insert", "notes", json.dumps({"id": f"n{number}", "text": "plain"}))
    run(store, "insert", "notes", json.dumps({"id": "odd", "text": odd, "name": "a\u202eexe.txt\u2066b"}))
    long = "lorem ipsum dolor " * 60_000
    for number in range(4):
        run(store, "update", "notes", "-", text=json.dumps({"id": "long", "text": f"{number} {long}"}))
    studio = Studio(store)
    browser.size(*SIZES[2])
    studio.open(browser)
    go(browser, "notes/odd")
    browser.until("document.body.dataset.ready === 'row' && document.getElementById('panel').innerText.includes('notes/odd')")
    shown = text(browser)
    assert shown.count(odd) >= 2, shown
    assert "\u202e" not in shown and "\\u{202e}exe.txt\\u{2066}b" in shown, shown
    links = browser.ask("[...document.querySelectorAll('.reasons button')].map(link => link.textContent)")
    assert "@3" not in links and links, links
    browser.picture(f"{shots}/values.png")
    begin = time.monotonic()
    go(browser, "notes/long")
    browser.until("document.getElementById('panel').innerText.includes('notes/long') && document.getElementById('panel').ariaBusy !== 'true'")
    assert "Show all" in text(browser) and len(text(browser)) < 200_000, len(text(browser))
    browser.ask("[...document.querySelectorAll('button')].find(one => one.textContent.startsWith('Show all')).click()")
    assert browser.ask("document.querySelector('#panel textarea').value.length") > 1_000_000
    browser.picture(f"{shots}/long.png")
    for name in ["event", "tables", "outbox"]:
        view(browser, name)
    # In all that took a minute before; the limit leaves room for a slow machine.
    assert time.monotonic() - begin < 20, time.monotonic() - begin
    go(browser, "yesterday")
    browser.until("!document.getElementById('answer').hidden")
    answer = browser.ask("document.getElementById('answer').innerText")
    assert "The first event is @1, of " in answer, answer
    studio.close()
