// The script of the page. Data is never interpreted as markup: strings become text nodes. Lists are drawn one screen at
// a time and fetched one page at a time, so that a million events are as light as ten.

enum StudioScript {
    /// Requests to the store, and creation of elements.
    static let core = #"""
        'use strict';
        const at = id => document.getElementById(id);
        const state = { first: 1, last: 1, moment: 1, tab: 'event', row: null, table: null, writable: false, skip: 0 };
        async function ask(path, parameters) {
          const query = new URLSearchParams(parameters || {}).toString();
          const answer = await fetch('/api/' + path + (query ? '?' + query : ''), { cache: 'no-store' });
          if (!answer.ok) {
            let text = await answer.text();
            try { text = JSON.parse(text).error.message; } catch { /* it is plain text */ }
            throw new Error(text);
          }
          return answer.json();
        }
        function make(name, attributes, ...children) {
          const element = document.createElement(name);
          for (const [key, value] of Object.entries(attributes || {})) {
            if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
            else if (value !== null && value !== undefined) element.setAttribute(key, value);
          }
          element.append(...children.flat().map(child => child instanceof Node ? child : String(child)));
          return element;
        }
        const drawn = (name, attributes, ...children) => {
          const element = document.createElementNS('http://www.w3.org/2000/svg', name);
          for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
          element.append(...children);
          return element;
        };
        const shown = value => value === null || value === undefined ? '–'
          : typeof value === 'string' ? value : JSON.stringify(value);
        const grouped = number => Number(number).toLocaleString('en');
        const counted = (number, thing) => `${grouped(number)} ${thing}${Number(number) === 1 ? '' : 's'}`;
        const bytes = count => {
          const units = ['B', 'KiB', 'MiB', 'GiB'];
          let place = 0;
          while (count >= 1024 && place < 3) { count /= 1024; place += 1; }
          return (place ? count.toFixed(1) : count) + ' ' + units[place];
        };
        const duration = milliseconds => {
          const seconds = milliseconds / 1000;
          if (seconds < 90) return seconds.toFixed(0) + ' s';
          if (seconds < 5400) return (seconds / 60).toFixed(0) + ' min';
          if (seconds < 129600) return (seconds / 3600).toFixed(1) + ' h';
          return (seconds / 86400).toFixed(1) + ' d';
        };
        function changes(fields) {
          return make('table', {},
            make('thead', {}, make('tr', {}, ['Column', 'Before', 'After'].map(t => make('th', { scope: 'col' }, t)))),
            make('tbody', {}, fields.map(field => make('tr', {}, make('th', { scope: 'row' }, field.name),
              make('td', {}, make('del', {}, shown(field.before))), make('td', {}, make('ins', {}, shown(field.after)))))));
        }
        const rowLink = (table, id) => make('button', { type: 'button', class: 'link',
          onclick: () => { state.row = { table, id }; choose('row', true); } }, table + '/' + id);
        const eventLink = number => make('button', { type: 'button', class: 'link',
          onclick: () => go(number) }, '@' + number);
        """#

    /// The list of events: only visible rows are created.
    static let list = #"""

        const height = 26, pageSize = 200, limit = 8000000;
        const pages = new Map();
        let drawing = 0;
        const total = () => state.last - state.first + 1;
        // A browser's boxes can't be as high as a million rows: beyond a limit the scroll bar is a scale.
        const space = () => Math.min(total() * height, limit);
        const visible = () => Math.max(1, Math.floor(at('list').clientHeight / height));
        function firstShown() {
          const room = space() - at('list').clientHeight;
          const share = room > 0 ? at('list').scrollTop / room : 0;
          return Math.max(0, Math.round(share * Math.max(0, total() - visible())));
        }
        function reveal(number) {
          const index = number - state.first;
          const first = firstShown();
          if (index >= first && index < first + visible() - 1) return draw();
          const room = space() - at('list').clientHeight;
          const wanted = Math.min(Math.max(0, index - Math.floor(visible() / 2)), Math.max(0, total() - visible()));
          at('list').scrollTop = room > 0 ? room * wanted / Math.max(1, total() - visible()) : 0;
          return draw();
        }
        function page(number) {
          if (!pages.has(number)) {
            if (pages.size > 40) pages.delete(pages.keys().next().value);
            const from = state.first + number * pageSize;
            pages.set(number, ask('events', { from, count: pageSize }).then(
              list => new Map(list.map(event => [event.n, event]))).catch(error => {
                pages.delete(number);
                throw error;
              }));
          }
          return pages.get(number);
        }
        async function draw() {
          const turn = ++drawing;
          at('space').style.height = space() + 'px';
          const first = firstShown();
          const last = Math.min(total(), first + visible() + 1);
          const parts = [];
          for (let number = Math.floor(first / pageSize); number <= Math.floor(Math.max(first, last - 1) / pageSize); number++)
            parts.push(page(number));
          const events = new Map((await Promise.all(parts)).flatMap(part => [...part]));
          if (turn !== drawing) return;
          const rows = [];
          for (let index = first; index < last; index++) {
            const number = state.first + index;
            const event = events.get(number) || { n: number, kind: 'lost', what: 'can’t be read', time: '' };
            rows.push(make('div', { class: 'event', role: 'option', id: 'event-' + number,
              'aria-selected': number === state.moment, 'aria-setsize': total(), 'aria-posinset': index + 1,
              title: event.time, onclick: () => { go(number); at('list').focus(); } },
              make('b', {}, '@' + number), make('span', {}, event.kind), make('i', {}, event.what)));
          }
          at('rows').replaceChildren(...rows);
          at('list').setAttribute('aria-activedescendant', 'event-' + state.moment);
        }
        function key(event) {
          const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: visible() - 1, PageUp: 1 - visible(),
            Home: -total(), End: total() };
          if (!(event.key in steps)) return;
          event.preventDefault();
          go(state.moment + steps[event.key]);
        }
        """#

    /// The panels beside the list.
    static let panels = #"""

        const tabs = ['event', 'state', 'row', 'outbox', 'conflicts', 'charts'];
        let showing = 0;
        function choose(tab, focuses) {
          state.tab = tab;
          for (const name of tabs) {
            at('tab-' + name).setAttribute('aria-selected', name === tab);
            at('tab-' + name).tabIndex = name === tab ? 0 : -1;
          }
          at('panel').setAttribute('aria-labelledby', 'tab-' + tab);
          if (focuses) at('tab-' + tab).focus();
          return show();
        }
        async function show() {
          const turn = ++showing;
          const busy = setTimeout(() => at('panel').replaceChildren(make('p', { class: 'note' }, 'Replaying the log…')), 300);
          let content;
          try {
            content = await panels[state.tab]();
          } catch (error) {
            content = [make('p', { class: 'problem', role: 'alert' }, error.message)];
          }
          clearTimeout(busy);
          if (turn === showing) at('panel').replaceChildren(...content);
          document.body.dataset.ready = state.tab;
        }
        const panels = {
          async event() {
            const found = await ask('event', { n: state.moment });
            if (!found.event) return [make('p', { class: 'note' }, 'There is no event with this number.')];
            const parts = [make('h2', {}, `@${found.n} ${found.event.kind}`), make('p', { class: 'note' }, found.event.time)];
            for (const change of found.changes) {
              parts.push(make('h3', {}, change.change + ' ', rowLink(change.table, change.id)));
              if (change.fields.length) parts.push(changes(change.fields));
              else if (change.change === 'changed')
                parts.push(make('p', { class: 'note' }, 'Nothing visible to the app changed.'));
            }
            if (!found.changes.length) parts.push(make('p', { class: 'note' }, 'No row changed.'));
            parts.push(make('h3', {}, 'The event'), make('pre', {}, JSON.stringify(found.event, null, 2)));
            return parts;
          },
          async state() {
            const tables = await ask('tables', { at: state.moment });
            if (!tables.length) return [make('p', { class: 'note' }, 'There are no tables yet.')];
            if (!tables.some(table => table.table === state.table)) { state.table = tables[0].table; state.skip = 0; }
            const found = await ask('table', { name: state.table, at: state.moment, skip: state.skip, top: 100 });
            const columns = [...new Set(found.rows.flatMap(row => Object.keys(row)))];
            const choice = make('select', { id: 'table', onchange: event => {
              state.table = event.target.value; state.skip = 0; show(); } },
              tables.map(table => make('option', { value: table.table,
                selected: table.table === state.table ? '' : null }, `${table.table} (${grouped(table.rows)})`)));
            const turn = (text, skip, isOn) => make('button', { type: 'button', disabled: isOn ? null : '',
              onclick: () => { state.skip = skip; show(); } }, text);
            return [
              make('p', {}, make('label', { for: 'table' }, 'RowTable '), choice, ' ',
                turn('Before', Math.max(0, state.skip - 100), state.skip > 0), ' ',
                turn('Further', state.skip + 100, state.skip + 100 < found.count)),
              make('table', {}, make('caption', {}, `Rows ${found.rows.length ? state.skip + 1 : 0} to `
                  + `${state.skip + found.rows.length} of ${grouped(found.count)} as of @${found.at}`),
                make('thead', {}, make('tr', {}, columns.map(name => make('th', { scope: 'col' }, name)))),
                make('tbody', {}, found.rows.map(row => make('tr', {}, columns.map(name => make('td', {},
                  name === 'id' ? rowLink(state.table, row.id) : shown(row[name]))))))),
            ];
          },
          async row() {
            if (!state.row) return [make('p', { class: 'note' }, 'Choose a row in Tables, or in an event.')];
            const found = await ask('row', state.row);
            const parts = [make('h2', {}, `${found.table}/${found.id}`)];
            if (found.fields.length) parts.push(make('table', {}, make('caption', {}, 'Source of each column’s value'),
              make('thead', {}, make('tr', {}, ['Column', 'Value', 'Event', 'By'].map(t => make('th', { scope: 'col' }, t)))),
              make('tbody', {}, found.fields.map(field => make('tr', {}, make('th', { scope: 'row' }, field.field),
                make('td', {}, shown(field.value)), make('td', {}, eventLink(field.n)), make('td', {}, field.by))))));
            else parts.push(make('p', { class: 'note' }, 'The row does not exist now.'));
            for (const step of found.history.slice().reverse()) {
              parts.push(make('h3', {}, eventLink(step.n), ` ${step.kind} `, make('span', { class: 'note' }, step.time)));
              if (step.difference.fields.length) parts.push(changes(step.difference.fields));
              else parts.push(make('p', { class: 'note' }, 'Only internal data of the row changed.'));
            }
            return parts;
          },
          async outbox() {
            const found = await ask('outbox', { at: state.moment });
            const parts = [make('h2', {}, `${grouped(found.operations.length)} operations as of @${state.moment}`)];
            for (const operation of found.operations) {
              parts.push(make('h3', {}, `${operation.address} ${operation.kind} `, rowLink(operation.table, operation.id),
                ` ${operation.state}`), make('p', { class: 'note' }, `stands ${operation.place}`),
                make('ul', {}, operation.changes.map(change => make('li', {}, eventLink(change.event.slice(1)),
                  ` ${change.kind} ${change.columns.join(', ')}: ${change.rule}`))));
            }
            if (found.cursors.length) parts.push(make('h3', {}, 'Cursors'), make('ul', {}, found.cursors.map(cursor =>
              make('li', {}, `${cursor.table}/${cursor.queryId} at ${cursor.position}`))));
            return parts;
          },
          async conflicts() {
            const found = await ask('outbox', { at: state.moment });
            if (!found.conflicts.length) return [make('p', { class: 'note' }, `No conflicts as of @${state.moment}.`)];
            const isNow = state.moment === state.last;
            return found.conflicts.map(conflict => {
              const sides = ['base', 'mine', 'server'];
              const columns = [...new Set(sides.flatMap(side => Object.keys(conflict[side] || {})))];
              const decide = (text, choice) => make('button', { type: 'button', 'data-choice': choice,
                onclick: () => resolve(conflict, choice) }, text);
              return make('section', {}, make('h3', {}, `${conflict.kind} `, rowLink(conflict.table, conflict.id),
                  [' ' + conflict.state, conflict.message || (conflict.code !== conflict.state && conflict.code)]
                    .filter(Boolean).join(': ')),
                make('table', {}, make('thead', {}, make('tr', {}, ['Column', 'Base', 'Mine', 'Server'].map(
                    t => make('th', { scope: 'col' }, t)))),
                  make('tbody', {}, columns.map(name => make('tr', {}, make('th', { scope: 'row' }, name),
                    sides.map(side => make('td', {}, conflict[side] ? shown(conflict[side][name]) : 'does not exist')))))),
                state.writable && isNow ? make('p', {}, decide('Take the server’s', 'take-server'), ' ',
                  decide('Keep mine', 'keep-mine'), ' ', decide('Merge', 'merge'))
                  : make('p', { class: 'note' }, state.writable ? 'Go to the newest event to decide.'
                    : 'Start the page with --write to decide here.'));
            });
          },
          async charts() { return charts(await ask('charts')); },
        };
        async function resolve(conflict, choice) {
          const answer = await fetch('/api/resolve', { method: 'POST', headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ table: conflict.table, id: conflict.id, choice }) });
          if (!answer.ok) {
            let text = await answer.text();
            try { text = JSON.parse(text).error.message; } catch { /* it is plain text */ }
            at('panel').prepend(make('p', { class: 'problem', role: 'alert' }, text));
            return;
          }
          await load(true);
        }
        """#

    /// Lines and bars.
    static let charts = #"""

        function lines(title, description, points, series, format) {
          const width = 600, height = 150, left = 70, right = 10, head = 10, foot = 22;
          const most = Math.max(1, ...points.flatMap(point => series.map(one => point[one.name])));
          const x = index => left + (width - left - right) * (points.length > 1 ? index / (points.length - 1) : 0);
          const y = value => head + (height - head - foot) * (1 - value / most);
          const svg = drawn('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', preserveAspectRatio: 'none' },
            drawn('title', {}, `${title}. ${description}`));
          for (const share of [0, .5, 1]) {
            svg.append(drawn('line', { class: 'axis', x1: left, x2: width - right, y1: y(most * share), y2: y(most * share) }),
              drawn('text', { class: 'label', x: left - 6, y: y(most * share) + 4, 'text-anchor': 'end' }, format(most * share)));
          }
          if (points.length) svg.append(
            drawn('text', { class: 'label', x: left, y: height - 6 }, '@' + points[0].n),
            drawn('text', { class: 'label', x: width - right, y: height - 6, 'text-anchor': 'end' }, '@' + points.at(-1).n));
          for (const one of series) svg.append(drawn('polyline', { class: one.style,
            points: points.map((point, index) => `${x(index).toFixed(1)},${y(point[one.name]).toFixed(1)}`).join(' ') }));
          return make('figure', {}, make('figcaption', {}, title), svg, make('p', { class: 'note' }, description));
        }
        function charts(found) {
          const points = found.points, newest = points.at(-1);
          if (!newest) return [make('p', { class: 'note' }, 'There is no data to draw yet.')];
          const compressed = found.segments.map((segment, index) => ({ n: index + 1, bytes: segment.bytes,
            rawBytes: segment.rawBytes }));
          const stored = found.segments.reduce((sum, segment) => sum + segment.bytes, 0);
          const raw = found.segments.reduce((sum, segment) => sum + segment.rawBytes, 0);
          return [
            lines('Changes', `${grouped(newest.made)} made (solid), ${grouped(newest.done)} settled (dashed).`, points,
              [{ name: 'made', style: 'one' }, { name: 'done', style: 'two' }], value => grouped(Math.round(value))),
            lines('Pending', `${counted(newest.pending, 'operation')} to be pushed.`, points,
              [{ name: 'pending', style: 'one' }], value => grouped(Math.round(value))),
            lines('Age of the oldest pending change', newest.pending ? `${duration(newest.age)} now.` : 'There are no pending changes.',
              points, [{ name: 'age', style: 'one' }], duration),
            lines('Events in the log', `${bytes(newest.bytes)} before compression.`, points,
              [{ name: 'bytes', style: 'one' }], bytes),
            bars('Compression', `${bytes(raw)} are kept in ${bytes(stored)}`
              + (stored ? `, ${(raw / stored).toFixed(1)} : 1.` : '.'), compressed),
          ];
        }
        function bars(title, description, segments) {
          const width = 600, height = 150, foot = 22, most = Math.max(1, ...segments.map(one => one.rawBytes));
          const step = width / Math.max(1, segments.length);
          const svg = drawn('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', preserveAspectRatio: 'none' },
            drawn('title', {}, `${title} by segment. ${description}`));
          const bar = (style, index, value) => drawn('rect', { class: style, x: index * step + step * .1, width: step * .8,
            y: (height - foot) * (1 - value / most), height: (height - foot) * value / most });
          segments.forEach((segment, index) => {
            svg.append(bar('back', index, segment.rawBytes), bar('bar', index, segment.bytes));
            if (segments.length <= 20) svg.append(drawn('text', { class: 'label', x: (index + .5) * step, y: height - 6,
              'text-anchor': 'middle' }, 's' + segment.n));
          });
          return make('figure', {}, make('figcaption', {}, title), svg, make('p', { class: 'note' },
            description + ' The whole bar is what a segment holds, the part in colour what it takes.'));
        }
        """#

    /// The moment, and the start of the script.
    static let start = #"""

        let settling = 0;
        function go(number) {
          state.moment = Math.min(Math.max(state.first, Number(number)), state.last);
          at('scrub').value = state.moment;
          at('scrub').setAttribute('aria-valuetext', 'event ' + state.moment);
          at('moment').value = `@${state.moment} of @${state.last}`;
          reveal(state.moment).catch(failed);
          // While the slider moves only where it stops is looked at.
          clearTimeout(settling);
          settling = setTimeout(() => { if (state.tab !== 'charts' && state.tab !== 'row') show(); }, 60);
        }
        function failed(error) { at('counts').replaceChildren(make('span', { class: 'problem' }, error.message)); }
        async function load(stays) {
          const summary = await ask('summary');
          const wasNewest = state.moment === state.last;
          Object.assign(state, { first: summary.first, last: Math.max(summary.first, summary.last), writable: summary.writable });
          pages.clear();
          at('store').replaceChildren(summary.store);
          at('counts').replaceChildren(`${counted(summary.last - summary.first + 1, 'event')}, ${grouped(summary.pending)} pending, `
            + counted(summary.conflicts, 'conflict'), ...summary.damage.map(text => make('span', { class: 'problem' }, ' ' + text)));
          at('space').style.height = space() + 'px';
          at('scrub').min = state.first;
          at('scrub').max = state.last;
          go(!stays || wasNewest ? state.last : state.moment);
        }
        async function density() {
          const found = await ask('charts');
          const points = found.points, most = Math.max(1, ...points.map(point => point.pending));
          const svg = drawn('svg', { viewBox: '0 0 1000 40', preserveAspectRatio: 'none' });
          points.forEach((point, index) => {
            const part = 36 * point.pending / most, step = 1000 / points.length;
            svg.append(drawn('rect', { class: 'bar', x: index * step, width: step * .8, y: 38 - part, height: part + 2 }));
          });
          at('density').replaceChildren(svg);
        }
        at('list').addEventListener('scroll', () => draw().catch(failed));
        at('list').addEventListener('keydown', key);
        at('scrub').addEventListener('input', event => go(event.target.value));
        at('previous').addEventListener('click', () => go(state.moment - 1));
        at('following').addEventListener('click', () => go(state.moment + 1));
        at('newest').addEventListener('click', () => load(false).catch(failed));
        window.addEventListener('resize', () => draw().catch(failed));
        for (const name of tabs) {
          at('tab-' + name).addEventListener('click', () => choose(name));
          at('tab-' + name).addEventListener('keydown', event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (step) choose(tabs[(tabs.indexOf(name) + step + tabs.length) % tabs.length], true);
          });
        }
        load(false).then(density).catch(failed);
        """#
}
