// The list of events. Only the lines that can be seen are elements, and they come from the server in parts, so that a
// million events are as light as ten.

import { at, counted, grouped, make } from './dom.js';
import { ask, listen, moment, show, state, store } from './store.js';
import { share } from './share.js';
import { brief, full, precise } from './times.js';

const height = 30, part = 100, most = 120;
// The boxes of a browser can't be as high as a million lines: beyond this the scroll bar is a scale.
const limit = 4000000;
const groups = [
  ['', 'all kinds'], ['local,undo,drop', 'changes here'], ['sent,answer,server-worked', 'pushes'],
  ['pull,purge,cursor-reset', 'pulls'], ['resolution', 'decisions'],
  ['opened,configured,indexed,declared,carried', 'settings and openings'], ['lost', 'can’t be read'],
];
let total = 0, drawing = 0, failed = console.error;
let open = new Set(), parts = new Map(), selected = -1, selectedFor = 0;

const box = () => at('list');
const room = () => Math.min(total * height, limit);
const visible = () => Math.max(1, Math.min(most, Math.floor(box().clientHeight / height)));

/// The controls, and the names of what they choose.
const controls = { kind: 'kind', table: 'in', outcome: 'outcome', row: 'only' };

function filter() {
  const { kind, in: table, outcome, only, fold } = state.frame, row = (only || '').match(/^([^/]+)\/(.+)$/);
  return { kinds: kind, table: row ? row[1] : table, id: row ? row[2] : null, outcome, fold, open: [...open].join(',') };
}

const isFiltered = () => Object.values(controls).some(name => state.frame[name]);

function choose(values) {
  open = new Set();
  show({ frame: values });
}

function chooseControls() {
  const values = Object.entries(controls).map(([id, name]) => [name, at(id).value.trim()]);
  choose({ ...Object.fromEntries(values), fold: at('fold').checked ? '' : 'off' });
}

function showControls() {
  for (const [id, name] of Object.entries(controls)) at(id).value = state.frame[name] || '';
  at('fold').checked = state.frame.fold !== 'off';
}

// MARK: Parts of the list

function fetchPart(number) {
  if (!parts.has(number)) {
    if (parts.size > 30) parts.delete(parts.keys().next().value);
    const answer = ask('lines', { ...filter(), skip: number * part, top: part });
    parts.set(number, answer);
    answer.catch(() => parts.delete(number));
  }
  return parts.get(number);
}

async function line(index) {
  if (index < 0 || index >= total) return null;
  return (await fetchPart(Math.floor(index / part))).lines[index % part] || null;
}

function firstShown() {
  const length = room() - box().clientHeight;
  const share = length > 0 ? box().scrollTop / length : 0;
  return Math.max(0, Math.round(share * Math.max(0, total - visible())));
}

function scrollTo(index) {
  const first = firstShown();
  if (index >= first && index < first + visible()) return;
  const wanted = Math.min(Math.max(0, index - Math.floor(visible() / 2)), Math.max(0, total - visible()));
  const length = room() - box().clientHeight;
  box().scrollTop = length > 0 ? length * wanted / Math.max(1, total - visible()) : 0;
}

async function paint() {
  const turn = ++drawing;
  at('space').style.height = room() + 'px';
  const first = firstShown();
  const last = Math.min(total, first + visible() + 1);
  const lines = await Promise.all(Array.from({ length: last - first }, (_, index) => line(first + index)));
  if (turn !== drawing) return;
  at('lines').replaceChildren(...lines.map((line, index) => line && element(line, first + index)));
  const chosen = at('lines').querySelector('[aria-selected=true]');
  if (chosen) box().setAttribute('aria-activedescendant', chosen.id); else box().removeAttribute('aria-activedescendant');
  document.body.dataset.list = total;
}

function element(line, index) {
  const isFolded = line.last !== line.n || 'open' in line;
  const numbers = line.last === line.n ? '@' + line.n : `@${line.n}–${line.last}`;
  const fold = 'open' in line && line.kind !== 'lost'
    ? make('button', { type: 'button', class: 'fold', tabindex: -1, 'aria-label': line.open ? 'Close' : 'Open',
      onclick: event => { event.stopPropagation(); toggle(line); } }, line.open ? '▾' : '▸') : null;
  return make('div', { class: ['line', line.kind === 'lost' && 'lost', line.problem && 'bad', line.part && 'part',
    isFolded && 'folded'].filter(Boolean).join(' '), role: 'option', id: 'line-' + index,
  'aria-selected': index === selected, 'aria-setsize': total, 'aria-posinset': index + 1,
  'aria-expanded': 'open' in line && line.kind !== 'lost' ? line.open : null, 'data-event': line.last,
  title: `${full(line.time)}\n${line.what}`, onclick: () => pick(line, index) },
  fold || make('i', { class: 'fold' }), make('b', {}, numbers), make('time', {}, clock(line.time)),
  make('span', { class: 'kind ' + line.kind }, line.kind), make('span', { class: 'what' }, line.what));
}

const clock = time => store.lastTime - store.firstTime > 86400000 ? brief(time) : precise(time).slice(0, 8);

// MARK: Choosing

/// The event of a line: of a folded line the last one, of one that is open the first.
const eventOf = line => line.open ? line.n : line.last;

function select(line, index) {
  selected = index;
  selectedFor = eventOf(line);
}

function pick(line, index) {
  select(line, index);
  // On a small window the list is a view of its own.
  show({ at: eventOf(line), view: state.view === 'events' ? 'event' : state.view }, true);
  paint().catch(failed);
}

async function toggle(line) {
  if (line.open) open.delete(line.n); else open.add(line.n);
  await reload();
}

async function key(event) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: visible() - 1, PageUp: 1 - visible(), Home: -total, End: total };
  if (event.key in steps) {
    event.preventDefault();
    const index = Math.min(total - 1, Math.max(0, selected + steps[event.key]));
    const next = await line(index);
    if (!next) return;
    scrollTo(index);
    select(next, index);
    show({ at: eventOf(next) }, true);
    return paint();
  }
  if (['ArrowRight', 'ArrowLeft', 'Enter'].includes(event.key)) {
    const here = await line(selected);
    if (!here) return;
    event.preventDefault();
    if ('open' in here && here.kind !== 'lost' && (event.key === 'Enter' || here.open === (event.key === 'ArrowLeft')))
      return toggle(here);
    if (event.key === 'Enter') return pick(here, selected);
  }
}

/// Chooses the line of the moment, and moves it to where it can be seen.
async function follow() {
  if (selected >= 0 && selectedFor === moment()) { scrollTo(selected); return paint(); }
  const found = await ask('lines', { ...filter(), skip: 0, top: 0, find: moment() });
  total = found.count;
  selected = found.place === null || total === 0 ? -1 : found.place;
  selectedFor = moment();
  at('space').style.height = room() + 'px';
  if (selected >= 0) scrollTo(selected);
  await paint();
}

async function reload() {
  parts = new Map();
  selected = -1;
  at('clear').hidden = !isFiltered();
  await follow();
  share(at('listed'), 'events', isFiltered() ? `${counted(total, 'line')} of ${counted(store.indexed - store.first + 1, 'event')}`
    : counted(store.indexed - store.first + 1, 'event'),
  store.complete ? '' : ` · read ${grouped(Math.floor(100 * store.indexed / Math.max(1, store.last)))} %`);
}

// MARK: Filters

function options(select, all) {
  if (select.options.length === all.length) return;
  select.replaceChildren(...all.map(([key, text]) => make('option', { value: key }, text)));
  select.value = state.frame[controls[select.id]] || '';
}

function fillFilters() {
  options(at('kind'), [...groups, ...store.kinds.filter(kind => !groups.some(([key]) => key === kind)).map(kind => [kind, 'only ' + kind])]);
  options(at('table'), [['', 'all tables'], ...store.tables.map(name => [name, name])]);
  options(at('outcome'), [['', 'all outcomes'], ['problem', 'needs attention'], ...store.outcomes.map(word => [word, word])]);
}

/// Shows only the events of a row.
export const filterRow = row => choose({ only: `${row.table}/${row.id}` });

export function start(report) {
  failed = error => report(error);
  box().addEventListener('scroll', () => paint().catch(failed));
  box().addEventListener('keydown', event => key(event).catch(failed));
  for (const id of ['kind', 'table', 'outcome', 'row', 'fold'])
    at(id).addEventListener('change', chooseControls);
  document.querySelector('.filters').addEventListener('submit', event => { event.preventDefault(); chooseControls(); });
  at('clear').addEventListener('click', () => choose(Object.fromEntries(Object.values(controls).map(name => [name, '']))));
  showControls();
  new ResizeObserver(() => {
    if (!total) return;
    if (selected >= 0) scrollTo(selected);
    paint().catch(failed);
  }).observe(box());
  listen(what => {
    if (what.has('frame')) showControls();
    if (what.has('store') || what.has('frame')) { fillFilters(); reload().catch(failed); }
    else if (what.has('moment')) follow().catch(failed);
    else if (what.has('view')) paint().catch(failed);
  });
}
