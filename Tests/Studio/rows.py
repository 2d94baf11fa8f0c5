"""A long table with long strings, long ids and signs that can't be seen: its rows scroll by window, and no id is cut."""

import json
import os

from page import SIZES, Studio, audit, go, run, shots, story, text, view

COUNT = 10_000
LONG = 100_000
ROWS = "document.querySelectorAll('.rows tbody tr')"
FIRST = "(box => [...box.querySelectorAll('tbody tr')].find(row => row.offsetTop + row.offsetHeight > box.scrollTop + 40).ariaRowIndex - 1)(document.querySelector('.window'))"


def long_table(folder):
    store = os.path.join(folder, "long")
    run(store, "init")

    def row(number):
        found = {"id": f"r{number:05}", "n": number, "text": f"row {number}"}
        if number % 100 == 7:
            found["id"] = f"r{number:05}-" + "abcdefghij" * 19 + f"end{number % 1000}"
            found["text"] = f"{number} " + "lorem ipsum dolor sit amet " * (LONG // 27)
        if number % 100 == 8:
            found["text"] = "a\u202eexe.txt\u2066 \u200e\u0007 zero\u200bwidth"
            found["id"] += "\u202etxt"
        return found

    run(store, "insert", "notes", "-", text="\n".join(json.dumps(row(number)) for number in range(COUNT)))
    return store


@story
def long_rows(browser, folder):
    store = long_table(folder)
    studio = Studio(store)
    browser.size(*SIZES[0])
    browser.open(studio.url)
    browser.until("document.body.dataset.ready")
    view(browser, "tables")
    browser.until(f"{ROWS}.length >= 100")
    for width, height in SIZES:
        browser.size(width, height)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            audit(browser, f"long rows at {width}, {scheme}")
            browser.picture(f"{shots}/long-rows-{width}-{scheme}.png")
    browser.size(*SIZES[0])
    browser.scheme("light")
    # No id is cut: all of it is in its box, also one of two hundred characters.
    ids = browser.ask(f"[...{ROWS}].map(row => [row.querySelector('th .link').innerText, row.firstChild.scrollWidth <= row.firstChild.clientWidth + 1])")
    assert all(whole for _, whole in ids), [id for id, whole in ids if not whole]
    assert any(len(id) > 200 and id.endswith("end7") for id, _ in ids), ids[7]
    # Signs that can't be seen are shown, also in an id.
    shown = browser.ask("document.querySelector('.window').innerText")
    assert "\u202e" not in shown and "\\u{202e}exe.txt\\u{2066}" in shown and "notes/r00008\\u{202e}txt" in shown, shown[:3000]
    assert len(shown) < 40_000, len(shown)
    # All of a long value is one click away.
    browser.ask("document.querySelector('.window button.small').click()")
    browser.until(f"document.querySelector('.window textarea').value.length > {LONG - 30}")
    assert browser.ask("document.activeElement.tagName") == "TEXTAREA"
    browser.picture(f"{shots}/long-value-360.png")
    # To the last row and back, with the keyboard: each row once and in order, and never more than three parts.
    browser.ask("document.querySelector('.window').focus()")
    seen, turns = {}, 0

    def look():
        for number, id in browser.ask(f"[...{ROWS}].map(row => [row.ariaRowIndex - 1, row.querySelector('th .link').innerText])"):
            assert seen.setdefault(number, id) == id, (number, id, seen[number])
        assert browser.ask(f"{ROWS}.length") <= 300

    def turn(key, place):
        """Presses a key until other rows are there: the browser moves smoothly, and a press on the way may have no effect."""
        before = browser.ask(f"{place}.ariaRowIndex")
        for _ in range(60):
            browser.press(key)
            for _ in range(20):
                if browser.ask(f"{place}.ariaRowIndex") != before:
                    return look()
        raise SystemExit(f"{key} does not lead away from row {before}")

    while COUNT not in seen:
        turn("End", f"{ROWS}[{ROWS}.length - 1]")
        turns += 1
    assert sorted(seen) == list(range(1, COUNT + 1)) and len(set(seen.values())) == COUNT
    assert all(f"notes/r{number - 1:05}" in id for number, id in seen.items())
    assert turns <= COUNT // 100 + 1, turns
    browser.ask("document.querySelector('.window').scrollTop = 1e9")
    browser.until("document.getElementById('panel').innerText.includes('9,901–10,000 of 10,000')")
    browser.picture(f"{shots}/long-rows-end.png")
    for _ in range(3):
        turn("PageUp", f"{ROWS}[0]")
    # An app that writes does not move what is looked at.
    place = "document.querySelector('.window')"
    for offset in [0, 900]:
        browser.ask(f"{place}.scrollTop += {offset}")
        browser.until(f"{place}.scrollTop > 0")
        here = int(browser.ask(f"(window.box = {place}, {FIRST})"))
        run(store, "update", "notes", json.dumps({"id": "r00001", "n": offset}))
        browser.until(f"{place} !== window.box && document.getElementById('panel').ariaBusy !== 'true' && {place}.scrollTop > 0")
        browser.until(f"Math.abs({FIRST} - {here}) <= 1")
    # The address leads back to the part that is looked at, and the rows before and after it.
    here = int(browser.ask(FIRST))
    browser.until("location.hash.includes('after=')")
    link = browser.ask("location.href")
    browser.open("about:blank")
    browser.open(link)
    browser.until(f"{ROWS}.length >= 100")
    assert abs(int(browser.ask(FIRST)) - here) <= 100, (browser.ask(FIRST), here)
    browser.press("n")
    # The row itself: its id as a heading, at every size.
    long_id = next(id for id in seen.values() if id.endswith("end7")).removeprefix("notes/")
    go(browser, "notes/" + long_id)
    browser.until("document.body.dataset.ready === 'row' && document.getElementById('panel').ariaBusy !== 'true'")
    assert long_id in text(browser) and "Show all" in text(browser)
    for width, height in SIZES:
        browser.size(width, height)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            audit(browser, f"a long row at {width}, {scheme}")
            browser.picture(f"{shots}/long-row-{width}-{scheme}.png")
    browser.scheme("light")
    studio.close()
