// The SQL page: a statement, the moment that it asks about, and its result. It runs again when the moment moves.

import { at, button, command, grid, grouped, make, note, problem, title } from './dom.js';
import { asked, listen, moment, own, show, state, store, tell } from './store.js';
import { eventLink, partly, rowLink } from './fields.js';

/// The statement as it was written last, and what was found: an answer or an error, and whether it took so short that it
/// may run by itself.
const last = { text: '', answer: null, error: null, statement: null, isQuick: false };
/// The statement that the address of the page had last.
let addressed = '';
/// The statement that is running, with its ticket.
let running = null, turn = 0, settling = 0, drafting = 0;

export function sqlPage() {
  const statement = make('textarea', { id: 'statement', rows: 4, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
    placeholder: 'select …', oninput: event => { last.text = event.target.value; keepDraft(); }, onkeydown: key });
  const { statement: given = '', draft } = own();
  const isNews = given !== addressed && given !== '';
  if (isNews) last.text = addressed = given;
  if (draft) last.text = draft;
  statement.value = last.text;
  const slider = make('input', { type: 'range', id: 'sql-moment', step: 1, oninput: event => show({ at: Number(event.target.value) }, true) });
  setTimeout(() => { follow(); busy(); if (isNews) run(given); else draw(); }, 0);
  return [title('SQL'),
    make('form', { class: 'sql', onsubmit: event => { event.preventDefault(); run(); } },
      make('label', {}, make('span', {}, 'Statement'), statement),
      make('p', { class: 'actions' }, make('button', { class: 'primary', id: 'run' }, 'Run'),
        button('Cancel', stop, { id: 'cancel', disabled: true }), make('span', { class: 'note' }, make('kbd', {}, 'Ctrl'), ' ', make('kbd', {}, 'Enter'))),
      make('label', { for: 'sql-moment' }, make('span', {}, 'Moment ', make('b', { id: 'sql-at' })), slider)),
    make('div', { id: 'result', class: 'result', 'aria-live': 'polite' }),
    make('details', { open: !last.answer && !last.error }, make('summary', {}, 'Tables'),
      make('ul', { class: 'reasons' },
        make('li', {}, names(store.tables.map(quoted)), ' have the rows as of the moment.'),
        make('li', {}, make('code', {}, `"${store.tables[0] || 'notes'}@${Math.max(1, moment() - 1)}"`), ' is a table as of another event, so two moments can be joined.'),
        make('li', {}, names(['syncline_events', 'syncline_outbox', 'syncline_conflicts', 'syncline_cursors', 'syncline_tables']), ' are about the store itself.')))];
}

const names = list => list.map((name, index) => [index ? ', ' : '', make('code', {}, name)]);
const quoted = name => /^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

function key(event) {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  if (event.key === 'Escape') stop();
}

/// What is written and not yet run is in the address, too.
function keepDraft() {
  clearTimeout(drafting);
  drafting = setTimeout(() => {
    if (state.view === 'sql') show({ own: { ...own(), draft: last.text.trim() === addressed ? '' : last.text } }, true);
  }, 300);
}

// MARK: Running

/// Runs the statement as of the moment; one that is still running is stopped first.
async function run(given = last.text) {
  const mine = ++turn, statement = given.trim();
  clearTimeout(settling);
  if (running) { stop(); await running.ended; }
  if (mine !== turn || !statement) return;
  addressed = statement;
  clearTimeout(drafting);
  if (state.view === 'sql') show({ own: { statement, draft: last.text.trim() === statement ? '' : last.text } });
  const ticket = crypto.randomUUID(), begin = performance.now();
  running = { ticket, ended: tell('sql', { statement, at: asked(), ticket }).then(answer => ({ answer, error: null }), error => ({ answer: null, error })) };
  busy();
  const found = await running.ended;
  running = null;
  busy();
  if (mine !== turn) return;
  Object.assign(last, found, { statement, isQuick: performance.now() - begin < 1000 && (!found.error || found.error.code !== 'cancelled') });
  draw();
}

function stop() {
  if (running) tell('cancel', { ticket: running.ticket }).catch(() => {});
}

function busy() {
  if (!at('cancel')) return;
  at('cancel').disabled = !running;
  at('result').setAttribute('aria-busy', String(!!running));
  const mine = running;
  if (mine) setTimeout(() => { if (running === mine && at('result')) at('result').replaceChildren(make('p', { class: 'note working' }, 'Running…')); }, 300);
}

/// Shows the moment, and runs the statement again if it is the one that is shown.
function follow(isMoved) {
  const slider = at('sql-moment');
  if (!slider) return;
  Object.assign(slider, { min: store.first, max: Math.max(store.first, store.last) });
  slider.value = moment();
  slider.setAttribute('aria-valuetext', '@' + moment());
  at('sql-at').textContent = '@' + grouped(moment());
  if (!isMoved || !last.isQuick || last.statement !== last.text.trim()) return;
  clearTimeout(settling);
  settling = setTimeout(() => run(), 150);
}

export const startSQL = () => listen(what => { if (state.view === 'sql' && (what.has('moment') || what.has('store'))) follow(what.has('moment')); });

// MARK: The result

function draw() {
  const place = at('result');
  if (!place || running) return;
  const content = last.error ? [problem(last.error)] : last.answer ? result(last.answer) : [];
  place.replaceChildren(...content.flat(3).filter(Boolean));
  if (content.length) document.body.dataset.asked = last.error ? 'error' : last.answer.at;
}

function result(found) {
  const count = found.counted ? grouped(found.count) : `more than ${grouped(found.count)}`;
  const rows = found.count === 1 && found.counted ? 'row' : 'rows';
  return [partly(found), make('p', { id: 'counted' }, found.rows.length < found.count ? `The first ${grouped(found.rows.length)} of ${count} ${rows}` : `${count} ${rows}`,
    make('span', { class: 'note' }, ` as of @${grouped(found.at)}`)),
  found.rows.length ? grid(found.columns, found.rows.map(row => make('tr', {}, row.map((value, index) => cell(found, row, value, index)))),
    { label: 'Result', class: 'rows' }) : null,
  found.shortened ? note('Long values are cut off.') : null,
  note('The same in a shell: ', command(found.command))];
}

/// A value, as a link if it is an event or the id of a row.
function cell(found, row, value, index) {
  if (value === null) return make('td', { class: 'note' }, '–');
  if (typeof value === 'number') return make('td', { class: 'number' }, found.columns[index] === 'event' ? eventLink(value) : value);
  const table = found.columns.includes('table') ? row[found.columns.indexOf('table')] : found.tables.length === 1 ? found.tables[0] : null;
  return make('td', {}, found.columns[index] === 'id' && table ? rowLink(table, value, value) : value);
}
