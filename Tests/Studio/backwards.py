"""Stories about looking backwards: the events that changed a row or a field, pinned moments, a condition that stops, and the
list of a person's own steps."""

import json
import shlex

from page import SIZES, Studio, at, audit, go, life, moment, run, shots, story, text, view


def settled(browser, name):
    browser.until(f"document.body.dataset.ready === '{name}' && document.getElementById('panel').ariaBusy !== 'true'"
                  " && document.body.dataset.shown === document.getElementById('chart').getAttribute('aria-valuenow')")


@story
def backwards(browser, folder):
    """The events that changed a row or a field, by keys and in the address."""
    store = life(folder)
    studio = Studio(store)
    browser.size(1280, 860)
    studio.open(browser)
    last = moment(browser)
    # Of which events the story tells, as the tool knows them.
    events = [int(line["address"][1:]) for line in json.loads(run(store, "log", "--row", "notes/r1", "--json"))]
    events = sorted(set(events))
    browser.press("{")
    browser.until("document.getElementById('said').textContent === 'Choose a row first.'")
    go(browser, "notes/r1")
    settled(browser, "row")
    walked = []
    for _ in events:
        before = moment(browser)
        browser.press("{")
        browser.until(f"document.getElementById('chart').getAttribute('aria-valuenow') !== '{before}'"
                      " || document.getElementById('said').textContent.startsWith('No event before')")
        if moment(browser) == before:
            break
        settled(browser, "row")
        walked.insert(0, moment(browser))
    assert walked and walked == [event for event in events if event < last][-len(walked):], (walked, events)
    browser.press("{")
    browser.until("document.getElementById('said').textContent.startsWith('No event before this one changed notes/r1')")
    browser.press("}")
    at(browser, walked[1])
    # A field: fewer of them, and it stays in the address.
    browser.press("n")
    at(browser, last)
    settled(browser, "row")
    browser.ask("(field => { field.value = 'done'; field.dispatchEvent(new Event('change')); })(document.getElementById('field'))")
    browser.until("location.hash.includes('field=done') && document.querySelectorAll('.story li').length < %d" % len(events))
    settled(browser, "row")
    assert browser.ask("document.querySelectorAll('.story li').length") == browser.ask(
        "[...document.querySelectorAll('.story li')].filter(step => [...step.querySelectorAll('dt')].some(name => name.textContent === 'done')).length")
    browser.until("document.querySelector('#panel .share .command code').textContent === 'syncline why -- notes/r1.done'")
    browser.press("{")
    browser.until(f"Number(document.getElementById('chart').getAttribute('aria-valuenow')) < {last}")
    settled(browser, "row")
    assert browser.ask("document.querySelector('.story [aria-current=step] dt').textContent") == "done"
    link = browser.ask("location.href")
    browser.open("about:blank")
    browser.open(link)
    settled(browser, "row")
    assert browser.ask("document.getElementById('field').value") == "done"
    # Another row has all its fields.
    go(browser, "notes/r2")
    browser.until("document.querySelector('#panel h2').textContent.startsWith('notes/r2') && document.getElementById('field').value === ''")
    looked(browser, "row", "backwards")
    studio.close()


def looked(browser, name, words, before=lambda: None):
    for width, height in SIZES:
        browser.size(width, height)
        for scheme in ["light", "dark"]:
            browser.scheme(scheme)
            browser.until("document.querySelector('#chart svg').viewBox.baseVal.width <= innerWidth")
            before()
            audit(browser, f"{words} at {width}, {scheme}")
            browser.picture(f"{shots}/{words}-{width}-{scheme}.png")
    browser.size(1280, 860)
    browser.scheme("light")


@story
def pins(browser, folder):
    """Two moments are pinned, with the time and the difference between them, in the address."""
    store = life(folder)
    studio = Studio(store)
    browser.size(1280, 860)
    studio.open(browser)
    assert browser.ask("document.getElementById('marks').hidden")
    view(browser, "event")
    for number in [8, 20]:
        go(browser, f"@{number}")
        at(browser, number)
        browser.press("p")
        browser.until(f"document.querySelector('.pinned [aria-label=\"Unpin @{number}\"]')")
    browser.until("location.hash.includes('pins=8%2C20') && document.getElementById('apart').textContent.includes('12 events apart')")
    browser.until("Number(document.getElementById('pin-0').getAttribute('x1')) > 0 && Number(document.getElementById('pin-1').getAttribute('x1')) > 0")
    looked(browser, "event", "pins")
    link = browser.ask("location.href")
    browser.open("about:blank")
    browser.open(link)
    browser.until("document.querySelectorAll('.pinned').length === 2")
    browser.press("d")
    browser.until("document.querySelector('#ask-compare [data-done=compare]')", 60)
    shown = browser.ask("document.querySelector('#ask-compare .result').innerText")
    expected = json.loads(run(store, "diff", "@8", "@20", "--json", fails=True))
    assert f"{len(expected)} rows differ." in shown or len(expected) == 1 and "1 row differs." in shown, (shown, len(expected))
    assert "syncline diff -- @8 @20" in shown, shown
    # A pin just after a step: the view still follows the step.
    view(browser, "event")
    browser.ask("document.getElementById('following').click(); document.getElementById('pin').click()")
    browser.until("document.querySelectorAll('.pinned').length === 2 && location.hash.includes('pins=20%2C21')")
    settled(browser, "event")
    browser.ask("document.getElementById('pin').click()")
    # A third replaces the first; one alone is compared with the moment that is shown; none says what to do.
    go(browser, "@30")
    at(browser, 30)
    browser.press("p")
    browser.until("location.hash.includes('pins=20%2C30')")
    browser.press("p")
    browser.until("/pins=20(&|$)/.test(location.hash)")
    browser.until("document.getElementById('apart').textContent.includes('10 events apart')")
    browser.ask("document.querySelector('.pinned .small').click()")
    browser.until("document.getElementById('marks').hidden && !location.hash.includes('pins')")
    browser.press("d")
    browser.until("document.getElementById('said').textContent.startsWith('Pin a moment first')")
    # An address that someone made up.
    browser.open("about:blank")
    browser.open(studio.root + "#view=event&pins=9999999,zz,-4,3,3&at=5")
    browser.until("document.querySelectorAll('.pinned').length === 1 && document.getElementById('apart').textContent.includes(', 2 events apart')")
    studio.close()


@story
def watches(browser, folder):
    """A condition stops where it became true, forwards and backwards from the moment, and stays in the address."""
    store = life(folder)
    studio = Studio(store)
    browser.size(1280, 860)
    studio.open(browser)
    last = moment(browser)

    def rises(condition):
        """The events where it became true, as the tool finds them one after the other."""
        found, place = [], 1
        while place <= last:
            answer = json.loads(run(store, "replay", f"--bisect={condition}", f"--from=@{place}", "--json", fails=True))
            if not answer.get("event"):
                return found
            found.append(int(answer["event"]["address"][1:]))
            place = found[-1] + 1
        return found

    expected = rises("pending ge 1")
    assert len(expected) > 2, expected
    view(browser, "event")
    browser.press("w")
    browser.until("document.activeElement.id === 'watched'")
    browser.write("pending ge 1")
    browser.ask("document.getElementById('stop-before').click()")
    for number in reversed(expected):
        at(browser, number)
        browser.until(f"document.getElementById('said').textContent.startsWith('Became true at @{number}; this is after it.')")
        browser.ask("document.activeElement.blur()")
        browser.press("<")
    browser.until("document.getElementById('said').textContent.includes('ecame true')")
    browser.until(f"!document.getElementById('said').textContent.startsWith('Became true at @{expected[0]};')")
    at(browser, expected[0])
    for number in expected[1:]:
        browser.press(">")
        at(browser, number)
        browser.until(f"document.getElementById('said').textContent.startsWith('Became true at @{number}; this is after it.')")
    looked(browser, "event", "watch")
    words = browser.ask("document.querySelector('#said button').title")
    answer = json.loads(run(store, *shlex.split(words)[1:], "--json"))
    assert answer["event"]["address"] == f"@{moment(browser)}", (words, answer)
    browser.press(">")
    browser.until("document.getElementById('said').textContent.includes('become true') || document.getElementById('said').textContent.includes('never')")
    link = browser.ask("location.href")
    assert "watch=pending+ge+1" in link, link
    browser.open("about:blank")
    browser.open(link)
    browser.until("document.getElementById('watched').value === 'pending ge 1' && document.body.dataset.ready === 'event'")
    # A count alone stops at each of its changes, and says from what to what.
    changed = rises("count(notes)")
    assert len(changed) > 2, changed
    go(browser, "@1")
    at(browser, 1)
    browser.ask("document.getElementById('watched').value = 'count(notes)'; document.getElementById('watched').focus()")
    for number in changed:
        browser.ask("document.getElementById('stop-after').click()")
        at(browser, number)
        browser.until(f"/^Changed from [0-9]+ to [0-9]+ at @{number}; this is after it/.test(document.getElementById('said').textContent)")
    browser.ask("document.getElementById('stop-after').click()")
    browser.until("/^It was [0-9]+ in all of /.test(document.getElementById('said').textContent)")
    # A search that takes long is ended by its button or by Escape, and the studio is told of it.
    browser.ask("""(() => { const real = window.fetch; window.told = []; window.fetch = (address, ...rest) => {
      if (address.endsWith('/cancel')) window.told.push(JSON.parse(rest[0].body).ticket);
      return address.endsWith('/watch') ? new Promise(done => { window.release = done; }).then(() => real(address, ...rest)) : real(address, ...rest);
    }; })()""")
    for end in ["(button => { button.focus(); button.click(); })(document.getElementById('cancel-search'))", None]:
        here = moment(browser)
        browser.ask("window.told.length = 0; document.getElementById('stop-before').focus(); document.getElementById('stop-before').click()")
        browser.until("document.getElementById('said').textContent === 'Searching…' && !document.getElementById('cancel-search').hidden")
        if end:
            audit(browser, "a search that runs")
            browser.picture(f"{shots}/watch-runs.png")
            browser.ask(end)
        else:
            browser.press("Escape")
        browser.until("document.getElementById('said').textContent === 'The search was cancelled.' && document.getElementById('cancel-search').hidden")
        browser.until("window.told.length > 1")
        browser.ask("window.release()")
        browser.until("window.told.length === window.before || void (window.before = window.told.length)")
        assert moment(browser) == here, "a search that was cancelled goes nowhere"
        assert browser.ask("document.activeElement.id") == ("watched" if end else "stop-before")
    browser.call("Page.reload")
    browser.until("document.body.dataset.ready === 'event'")
    # A word that is wrong is named, and a condition that is always true is refused.
    for words, answer in [("count(notez) ge 1", "Did you mean"), ("pending ge 0", "is true for every state"), ("((", "can't be read")]:
        browser.ask(f"document.getElementById('watched').value = {json.dumps(words)}; document.getElementById('stop-before').click()")
        browser.until(f"document.getElementById('said').textContent.includes({json.dumps(answer)})")
    browser.ask("document.getElementById('unwatch').click()")
    browser.until("document.getElementById('marks').hidden && !location.hash.includes('watch')")
    browser.complaints = [words for words in browser.complaints if "422" not in words]
    studio.close()


@story
def began(browser, folder):
    """From a conflict to the event where it began."""
    store = life(folder)
    # The newest event of a row is not the one since which it waits.
    for id in ["r1", "r2"]:
        run(store, "update", "notes", json.dumps({"id": id, "stars": 4}))
    studio = Studio(store)
    browser.size(1280, 860)
    studio.open(browser)
    view(browser, "conflicts")
    row = browser.ask("document.querySelector('.conflict .link').textContent")
    looked(browser, "conflicts", "began")
    browser.ask("[...document.querySelectorAll('.conflict .actions button')].find(one => one.textContent === 'Where it began').click()")
    settled(browser, "event")
    assert row in text(browser) and "conflict" in text(browser), text(browser)
    newest = max(int(line["address"][1:]) for line in json.loads(run(store, "log", "--row", row, "--json")))
    assert moment(browser) < newest, "the row's newest event is another"
    before = len(json.loads(run(store, "conflicts", f"--at=@{moment(browser) - 1}", "--json")))
    after = len(json.loads(run(store, "conflicts", f"--at=@{moment(browser)}", "--json")))
    assert after == before + 1, (before, after)
    studio.close()


@story
def steps(browser, folder):
    """The list of one's own steps leads back to each, also after a reload."""
    studio = Studio(life(folder))
    browser.size(1280, 860)
    studio.open(browser)
    last = moment(browser)
    go(browser, "notes/r1")
    settled(browser, "row")
    go(browser, "@12")
    at(browser, 12)
    view(browser, "tables")
    browser.until("document.getElementById('filter')")
    browser.ask("(field => { field.value = 'stars gt 2'; field.dispatchEvent(new Event('change')); })(document.getElementById('filter'))")
    browser.until("location.hash.includes('filter')")
    view(browser, "outbox")
    names = "[...document.querySelectorAll('#trail-list a')].map(link => link.textContent)"
    for again in [False, True]:
        if again:
            browser.call("Page.reload")
            browser.until("document.body.dataset.ready === 'outbox'")
        browser.ask("document.activeElement.blur()")
        browser.press("s")
        browser.until("document.getElementById('trail').open")
        listed = browser.ask(names)
        assert listed[0].startswith("Outbox @12") and "stars gt 2" in listed[1] and any(words.startswith("Row notes/r1") for words in listed), listed
        if not again:
            browser.press("Escape")
            browser.until("!document.getElementById('trail').open")
    looked(browser, "outbox", "steps")
    browser.ask("[...document.querySelectorAll('#trail-list a')].find(link => link.textContent.startsWith('Row notes/r1')).click()")
    settled(browser, "row")
    at(browser, last)
    assert not browser.ask("document.getElementById('trail').open")
    studio.close()
