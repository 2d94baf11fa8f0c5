// The store that the page shows, and what the page shows of it. The address of the page holds what is shown, so that the
// buttons of the browser go back and forth.

export async function answer(response, form = 'json') {
  if (response.ok) return response[form]();
  const text = await response.text();
  const error = new Error(text.trim() || 'The studio does not answer.');
  try { Object.assign(error, JSON.parse(text).error); } catch { /* it is plain text */ }
  throw error;
}

/// A report that was dropped on the page has a path of its own.
const base = (location.pathname.match(/^\/open\/\d+/) || [''])[0] + '/api/';

export async function ask(path, parameters) {
  const given = Object.entries(parameters || {}).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const query = new URLSearchParams(given).toString();
  return answer(await fetch(base + path + (query ? '?' + query : ''), { cache: 'no-store' }));
}

const post = (path, body) => fetch(base + path, { method: 'POST', headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body) });
export const tell = async (path, body) => answer(await post(path, body));
/// The content of a view as a file.
export const content = async (parts, form) => answer(await post('export', { ...parts, form }), 'blob');

/// What the page shows. `at` is an event; null stands for the newest. `own` has what was chosen in each view, `frame` what
/// was chosen in the list of events and in the timeline, `marks` what is kept beside the moment; all by the names in the
/// address.
export const state = { view: 'status', at: null, row: null, own: {}, frame: {}, marks: {} };
const frameNames = ['kind', 'in', 'outcome', 'only', 'fold', 'span', 'axis'];
const markNames = ['pins', 'watch', 'beside', 'apart'];
const ownNames = { row: ['field'], tables: ['table', 'order', 'filter', 'search', 'by', 'system', 'after', 'before'], sql: ['statement', 'draft'],
  debugger: ['ask', 'condition', 'events', 'policy', 'with', 'from', 'to', 'table'], outbox: ['skip'], syncs: ['skip'],
  log: ['bytes', 'frames', 'fields'] };
export const own = () => state.own[state.view] || {};
/// A number from the address; 0 for anything else.
export const whole = text => /^\d{1,15}$/.test(text || '') ? Number(text) : 0;
/// The pinned moments, at most two; one whose event was removed is left out.
export const pins = () => [...new Set((state.marks.pins || '').split(',').map(whole))]
  .filter(number => number >= store.first && number <= store.last).slice(-2);
/// The state of the store when it was last requested.
export const store = { first: 1, last: 0, indexed: 0, complete: false, tables: [], kinds: [], outcomes: [], damage: [], gaps: [] };

export const moment = () => state.at === null ? Math.max(store.first, store.last) : state.at;
/// The moment for a request: the present state is asked for without a number, because it is found sooner.
export const asked = () => state.at === null || state.at >= store.last ? null : state.at;

const kinds = ['moment', 'view', 'row', 'own', 'frame', 'marks'];
const isRow = row => state.row && row.table === state.row.table && row.id === state.row.id;
const listeners = [];
/// Calls a function with what changed: `moment`, `view`, `row`, `own`, `frame`, `marks` or `store`.
export const listen = body => listeners.push(body);
export const changed = (...what) => listeners.forEach(body => body(new Set(what)));

/// What is shown, by the names in the address of the page.
export function shownParts() {
  const parts = { view: state.view };
  if (state.at !== null) parts.at = String(state.at);
  if (state.row) parts.row = `${state.row.table}/${state.row.id}`;
  return { ...parts, ...state.frame, ...state.marks, ...own() };
}

const address = () => '#' + new URLSearchParams(shownParts());

/// The members with these names that are not empty, as strings.
const chosen = (names, values) => Object.fromEntries((names || []).map(name => [name, values[name] ?? ''])
  .filter(([, value]) => value !== '').map(([name, value]) => [name, String(value)]));

/// Shows something else. `own` replaces what was chosen in the view, `frame` and `marks` a part of what was chosen around it.
/// Steps from event to event do not fill the history of the browser.
export function show({ own: mine, frame, marks, ...next }, replaces) {
  const parts = () => [state.at, state.view, state.row, ...[own(), state.frame, state.marks].map(part => JSON.stringify(part))];
  const before = parts();
  // The pages about the store and the log show no moment.
  if ('at' in next && next.at !== null && !next.view && ['status', 'log'].includes(state.view)) next = { ...next, view: 'event' };
  if (next.row && !isRow(next.row)) delete state.own.row;
  Object.assign(state, next);
  if (mine) state.own[state.view] = chosen(ownNames[state.view], mine);
  if (frame) state.frame = chosen(frameNames, { ...state.frame, ...frame });
  if (marks) state.marks = chosen(markNames, { ...state.marks, ...marks });
  if (state.at !== null) state.at = Math.max(store.first, Math.min(store.last, Number(state.at)));
  if (state.at === store.last && 'at' in next) state.at = null;
  // A part of a table follows a row that another moment may not have.
  if (state.at !== before[0] && state.own.tables) state.own.tables = chosen(ownNames.tables, { ...state.own.tables, after: '', before: '' });
  const now = parts();
  const what = kinds.filter((_, index) => before[index] !== now[index]);
  if (location.hash !== address()) history[replaces ? 'replaceState' : 'pushState'](replaces ? 'walk' : null, '', address());
  if (what.length) changed(...what);
}

let noting = 0;

/// Notes a choice that the view already shows. Browsers take few new addresses in a second.
export function noted(mine) {
  state.own[state.view] = chosen(ownNames[state.view], mine);
  clearTimeout(noting);
  noting = setTimeout(() => { if (location.hash !== address()) history.replaceState('walk', '', address()); }, 150);
}

/// Takes what is shown from the address of the page.
export function restore() {
  const parts = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  state.view = parts.view || 'status';
  state.at = whole(parts.at) || null;
  const slash = (parts.row || '').indexOf('/');
  if (slash > 0) state.row = { table: parts.row.slice(0, slash), id: parts.row.slice(slash + 1) };
  state.frame = chosen(frameNames, parts);
  state.marks = chosen(markNames, parts);
  if (ownNames[state.view]) state.own[state.view] = chosen(ownNames[state.view], parts);
  changed(...kinds);
}
