// The page: one document without external parts.

enum StudioPage {
    static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Syncline studio</title>
        <link rel="icon" href="data:,">
        <style>\(StudioStyle.css)</style>
        </head>
        <body>
        <a class="skip" href="#list">Skip to the events</a>
        <header>
        <h1>Syncline studio</h1>
        <p id="store"></p>
        <p id="counts" role="status" aria-live="polite"></p>
        </header>
        <section class="timeline" aria-label="Timeline">
        <div id="density" aria-hidden="true"></div>
        <label for="scrub">Moment <output id="moment" for="scrub"></output></label>
        <div class="scrub">
        <button type="button" id="previous" aria-label="Previous event">◀</button>
        <input type="range" id="scrub" min="1" max="1" value="1" step="1">
        <button type="button" id="following" aria-label="Next event">▶</button>
        <button type="button" id="newest">Newest</button>
        </div>
        </section>
        <main>
        <section class="events" aria-labelledby="events-title">
        <h2 id="events-title">Events</h2>
        <div id="list" role="listbox" tabindex="0" aria-labelledby="events-title">
        <div id="rows"></div>
        <div id="space"></div>
        </div>
        </section>
        <section class="detail">
        <div role="tablist" aria-label="Views">
        <button role="tab" id="tab-event" aria-controls="panel" aria-selected="true">Event</button>
        <button role="tab" id="tab-state" aria-controls="panel" aria-selected="false" tabindex="-1">Tables</button>
        <button role="tab" id="tab-row" aria-controls="panel" aria-selected="false" tabindex="-1">Row</button>
        <button role="tab" id="tab-outbox" aria-controls="panel" aria-selected="false" tabindex="-1">Outbox</button>
        <button role="tab" id="tab-conflicts" aria-controls="panel" aria-selected="false" tabindex="-1">Conflicts</button>
        <button role="tab" id="tab-charts" aria-controls="panel" aria-selected="false" tabindex="-1">Charts</button>
        </div>
        <div id="panel" role="tabpanel" tabindex="0" aria-labelledby="tab-event"></div>
        </section>
        </main>
        <script>\(StudioScript.core)\(StudioScript.list)\(StudioScript.panels)\(StudioScript.charts)\(StudioScript.start)</script>
        </body>
        </html>
        """
}
