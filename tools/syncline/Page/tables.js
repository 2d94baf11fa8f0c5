// The rows of a table: sorted, filtered, or searched for a string. Parts of a long table follow each other by the key of
// the last row, so that no row is missed or repeated while an app writes.

import { badge, button, counted, grid, grouped, lengthy, make, note, problem, shown, title, turner } from './dom.js';
import { ask, asked, noted, own, show, state, tell, whole } from './store.js';
import { asOf, eventLink, isSystem, partly, rowLink } from './fields.js';
import { scrolling } from './rows.js';

const size = 100;
/// The characters of a value that a row shows.
const brief = 160;
/// The parts that were seen, in order: where each begins, and how many rows are before it.
let trail = [];

/// Looks for a string in the rows of the table that was shown last.
export const searchFor = text => show({ view: 'tables', own: { ...state.own.tables, search: text, by: '', filter: '', after: '', before: '' } });

export async function tables() {
  const all = await ask('tables', { at: asked() });
  if (!all.tables.length) return [title('Tables', asOf(all.at)), note('There are no tables yet.')];
  if (state.view !== 'tables') return [];
  const chosen = own();
  if (!all.tables.some(({ table }) => table === chosen.table)) {
    show({ own: { ...chosen, table: all.tables[0].table, order: '', filter: '' } }, true);
    return [];
  }
  const choose = values => show({ own: { ...chosen, after: '', before: '', ...values } });
  const known = all.tables.find(table => table.table === chosen.table);
  const head = [partly(all), title('Tables', asOf(all.at)), form(all.tables, chosen, choose)];
  try {
    return [...head, ...chosen.search ? await searched(chosen, choose) : await rows(known, chosen, choose)];
  } catch (error) {
    return [...head, problem(error)];
  }
}

/// The part that is chosen, the way to the one before it, and the way to the next.
function parts(chosen, choose) {
  const part = { after: chosen.after || '', before: whole(chosen.before) };
  const place = trail.findIndex(({ after }) => after === part.after);
  trail = !part.after ? [part] : place < 0 ? [{ after: '', before: 0 }, part] : trail.slice(0, place + 1);
  return { part, isFirst: !part.after, back: () => choose(trail.at(-2)), forth: (after, before) => {
    trail.push({ after, before });
    choose({ after, before });
  } };
}

function form(all, chosen, choose) {
  const field = (id, value, placeholder, onchange, type) => make('input', { id, type, value, placeholder, autocomplete: 'off',
    autocapitalize: 'off', spellcheck: 'false', onchange: event => onchange(event.target.value.trim()) });
  return make('form', { class: 'line-form', onsubmit: event => event.preventDefault() },
    make('label', {}, make('span', {}, 'Table'), make('select', { id: 'which', onchange: event => choose({ table: event.target.value, order: '', filter: '' }) },
      all.map(table => make('option', { value: table.table, selected: table.table === chosen.table }, `${table.table} (${grouped(table.rows)})`)))),
    make('label', { class: 'grows' }, make('span', {}, 'Search'),
      field('search', chosen.search, 'a part of a string in any column', search => choose({ search, by: '' }), 'search')),
    make('label', { class: 'grows' }, make('span', {}, 'Filter'),
      field('filter', chosen.filter, "done eq false and stars gt 2", filter => choose({ filter, search: '' }), 'text')),
    make('label', { class: 'switch' }, make('input', { type: 'checkbox', checked: !!chosen.system,
      onchange: event => choose({ system: event.target.checked ? 'yes' : '' }) }), ' System columns'));
}

// MARK: Rows

async function rows(known, chosen, choose) {
  const { table, order = '', filter = '' } = chosen, { part, isFirst } = parts(chosen, choose), moment = asked();
  const fetch = ({ after }) => ask('table', { name: table, at: moment, top: size, order, filter, after });
  const found = await fetch(part);
  const columns = found.columns.filter(name => name !== 'id' && (chosen.system || !isSystem(name)));
  const hidden = found.columns.filter(isSystem).length;
  const [column, way] = order.split(' ');
  const head = name => make('th', { scope: 'col', 'aria-sort': column === name ? (way ? 'descending' : 'ascending') : null },
    button([name, ' ', make('span', { 'aria-hidden': 'true' }, column === name ? (way ? '↓' : '↑') : '')],
      () => choose({ order: column !== name ? name : way ? '' : name + ' desc' }), { class: 'sort' }));
  const total = make('span', {}, filter ? '' : ` of ${grouped(known.rows)}`);
  if (filter && (found.next || !isFirst)) count(total, chosen);
  const typed = note();
  describe(typed, table);
  if (!found.rows.length) return [note(filter ? 'No row matches.' : !isFirst ? 'There are no more rows.' : 'The table has no rows.'), typed];
  const cell = (name, { row, cut }) => name in row ? lengthy(shown(row[name]), brief) : !(name in cut) ? make('span', { class: 'note' }, '–')
    : lengthy(cut[name].text, brief, cut[name].length, async () => shown((await ask('value', { table, id: row.id, field: name, at: moment })).value));
  const line = (found, number) => make('tr', { 'aria-rowindex': number + 1 }, make('th', { scope: 'row' }, rowLink(table, found.row.id), found.pending ? badge('pending', 'warn') : null),
    columns.map(name => make('td', {}, cell(name, found))));
  const place = make('div', {});
  const box = grid([head('id'), ...columns.map(head)], [], { label: `Rows of ${table}`, class: 'rows' });
  box.classList.add('window');
  if (!filter) box.querySelector('table').setAttribute('aria-rowcount', known.rows + 1);
  /// Says which part is looked at, here and in the address.
  const moved = part => {
    const here = trail.findIndex(({ after }) => after === part.after), last = part.before + part.count;
    const turn = turner([`${grouped(part.before + 1)}–${grouped(last)}`, total], !part.before, part.next, () => choose(trail[here - 1]), () => choose({ after: part.next, before: last }));
    place.replaceChildren(...turn ? [turn] : []);
    if (state.view === 'tables' && own().table === table) noted({ ...own(), after: part.after, before: part.before || '' });
  };
  scrolling(box, { ...part, found }, {
    list: JSON.stringify([table, order, filter]), line, moved, failed: error => place.append(problem(error)),
    /// A part with a column that has no head is shown as the first one.
    async fetch(place) {
      const found = await fetch(place);
      if (found.columns.some(name => name !== 'id' && (chosen.system || !isSystem(name)) && !columns.includes(name))) choose(place);
      if (!trail.some(({ after }) => after === place.after)) trail.push(place);
      return found;
    },
    earlier({ after, before }) {
      const place = trail[trail.findIndex(part => part.after === after) - 1];
      return place && place.before + size === before ? place : null;
    },
  });
  return [box, place, typed, !chosen.system && hidden ? note(counted(hidden, 'system column'), ' hidden') : null];
}

/// The types of the columns, and the values that do not fit them. To find these takes a pass over the table, so the rows do
/// not wait for it.
async function describe(element, table) {
  try {
    const { types, unfit } = await ask('columns', { name: table, at: asked() });
    const words = Object.entries(types).map(([column, type]) => `${column}: ${type}`);
    const misfits = Object.entries(unfit).map(([column, count]) => `${counted(count, 'value')} of ${column} of another type`);
    element.textContent = [words.join(', '), ...misfits].filter(Boolean).join(' · ');
  } catch { /* The rows are shown without it. */ }
}

/// The number of rows that match the filter reads the whole table, so the rows do not wait for it.
async function count(element, chosen) {
  try {
    element.textContent = ` of ${grouped((await ask('count', { name: chosen.table, filter: chosen.filter, at: asked() })).count)}`;
  } catch { /* The rows are shown without it. */ }
}

// MARK: Search

const marked = parts => make('p', {}, parts.map((part, index) => index % 2 ? make('mark', {}, part) : part));

/// The events that had a string, the newest first.
async function past({ table, search }, choose) {
  const found = await tell('debug/search', { table, text: search });
  return [make('p', { class: 'lead', id: 'matches' }, found.count ? `${counted(found.count, 'place')} in events.` : 'No event had this string.'),
    make('p', { class: 'note' }, found.warnings, ' ', button('Search the rows', () => choose({ by: '' }), { class: 'small', id: 'by-rows' })),
    found.count ? make('ul', { class: 'cards found' }, [...found.lines].reverse().map(match => make('li', { class: 'card' },
      make('h3', {}, eventLink(match.event.slice(1)), ' ', badge(match.kind, 'kind ' + match.kind), ' ', match.id === null ? null : rowLink(match.table, match.id), ' ', make('span', { class: 'note' }, match.column)),
      marked(match.parts)))) : null];
}

async function searched(chosen, choose) {
  if (chosen.by === 'history') return past(chosen, choose);
  const { part, isFirst, back, forth } = parts(chosen, choose);
  const found = await ask('search', { name: chosen.table, text: chosen.search, by: chosen.by, at: asked(), from: part.after });
  const byIndex = found.by === 'index';
  const last = part.before + found.read;
  const isAll = isFirst && !found.next;
  return [make('p', { class: 'lead', id: 'matches' }, found.matches.length ? counted(found.matches.length, 'row') + (isAll ? ' found.' : ' found in this part.')
    : isAll ? 'No row has this string.' : 'No row in this part has this string.'),
  byIndex ? make('p', { class: 'note' }, 'Found by the full-text index of the app: rows with all of these words, the best first. ',
    button('Search for parts of words', () => choose({ by: 'rows' }), { class: 'small', id: 'by-rows' }))
    : note(isAll ? `All ${grouped(found.read)} rows were read.` : `Rows ${grouped(part.before + 1)}–${grouped(last)} were read.`, found.next ? ' There are more.' : ''),
  make('p', {}, button('Search the history', () => choose({ by: 'history' }), { class: 'small', id: 'by-history' })),
  found.matches.length ? make('ul', { class: 'cards found' }, found.matches.map(match => make('li', { class: 'card' },
    make('h3', {}, rowLink(found.table, match.id), ' ', make('span', { class: 'note' }, match.column || '')), marked(match.parts)))) : null,
  turner('', isFirst, found.next, back, () => forth(found.next, last))];
}
