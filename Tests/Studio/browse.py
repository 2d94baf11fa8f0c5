"""The page of `syncline studio`, as a person uses it: in windows of four sizes, in light and dark, with the keyboard alone, on a
store with a conflict, on a damaged one, on one with many events, and beside an app that writes.
Usage: browse.py FOLDER-OF-THE-TOOLS FOLDER-FOR-SCREENSHOTS [STORY…]"""

import sys
import tempfile
import time

import addresses  # The stories are noted when they are read.
import attacks
import backwards
import beside
import page
import questions
import rows
import values
import views
from browser import Browser

complaints = []
for name, body in page.STORIES.items():
    if sys.argv[3:] and name not in sys.argv[3:]:
        continue
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="syncline-studio-") as folder:
        browser = Browser()
        try:
            body(browser, folder)
        except BaseException:
            browser.picture(f"{page.shots}/failed-{name}.png")
            raise
        finally:
            browser.close()
            for process in page.Studio.running:
                process.kill()
                process.wait()
            page.Studio.running.clear()
        complaints += [f"{name}: {words}" for words in browser.complaints]
    print(f"{name}: passed in {time.monotonic() - begin:.0f} s")
if complaints:
    raise SystemExit("the page's scripts complained:\n" + "\n".join(complaints))
print(f"the page passes; see {page.shots}")
