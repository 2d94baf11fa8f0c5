// The store that the page shows, and what the page shows of it. The address of the page holds what is shown, so that the
// buttons of the browser go back and forth.

async function answer(response) {
  if (response.ok) return response.json();
  const text = await response.text();
  const error = new Error(text.trim() || 'The studio does not answer.');
  try { Object.assign(error, JSON.parse(text).error); } catch { /* it is plain text */ }
  throw error;
}

export async function ask(path, parameters) {
  const given = Object.entries(parameters || {}).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const query = new URLSearchParams(given).toString();
  return answer(await fetch('/api/' + path + (query ? '?' + query : ''), { cache: 'no-store' }));
}

export async function tell(path, body) {
  return answer(await fetch('/api/' + path, { method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body) }));
}

/// What the page shows. `at` is an event; null stands for the newest.
export const state = { view: 'status', at: null, row: null, bytes: null, question: {} };
/// The state of the store when it was last requested.
export const store = { first: 1, last: 0, indexed: 0, complete: false, tables: [], kinds: [], outcomes: [], damage: [], gaps: [] };

export const moment = () => state.at === null ? Math.max(store.first, store.last) : state.at;
/// The moment for a request: the present state is asked for without a number, because it is found sooner.
export const asked = () => state.at === null || state.at >= store.last ? null : state.at;

const listeners = [];
/// Calls a function with what changed: `moment`, `view`, `row`, `bytes` or `store`.
export const listen = body => listeners.push(body);
export const changed = (...what) => listeners.forEach(body => body(new Set(what)));

function address() {
  const parts = { view: state.view };
  if (state.at !== null) parts.at = state.at;
  if (state.view === 'log' && state.bytes) parts.bytes = state.bytes;
  if (state.row) { parts.table = state.row.table; parts.id = state.row.id; }
  return '#' + new URLSearchParams(parts);
}

/// Shows something else. Steps from event to event do not fill the history of the browser.
export function show(next, replaces) {
  const before = { ...state };
  // The pages about the store and the log show no moment.
  if ('at' in next && next.at !== null && !next.view && ['status', 'log'].includes(state.view)) next = { ...next, view: 'event' };
  Object.assign(state, next);
  if (state.at !== null) state.at = Math.max(store.first, Math.min(store.last, Number(state.at)));
  if (state.at === store.last && 'at' in next) state.at = null;
  const what = [];
  if (before.at !== state.at) what.push('moment');
  if (before.view !== state.view) what.push('view');
  if (before.row !== state.row) what.push('row');
  if (before.bytes !== state.bytes) what.push('bytes');
  if (location.hash !== address()) history[replaces ? 'replaceState' : 'pushState'](null, '', address());
  if (what.length) changed(...what);
}

/// Takes what is shown from the address of the page.
export function restore() {
  const parts = new URLSearchParams(location.hash.slice(1));
  state.view = parts.get('view') || 'status';
  state.at = parts.has('at') ? Number(parts.get('at')) || null : null;
  state.bytes = parts.get('bytes');
  if (parts.get('table') && parts.get('id')) state.row = { table: parts.get('table'), id: parts.get('id') };
}
