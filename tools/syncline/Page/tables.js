// The rows of a table: sorted, filtered, or searched for a string. Parts of a long table follow each other by the key of
// the last row, so that no row is missed or repeated while an app writes.

import { badge, button, counted, grid, grouped, make, note, problem, shown, title, turner } from './dom.js';
import { ask, asked, own, show, state, whole } from './store.js';
import { asOf, isSystem, partly, rowLink } from './fields.js';

const size = 100;
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
  const { table, order = '', filter = '' } = chosen, { part, isFirst, back, forth } = parts(chosen, choose);
  const found = await ask('table', { name: table, at: asked(), top: size, order, filter, after: part.after });
  const columns = found.columns.filter(name => name !== 'id' && (chosen.system || !isSystem(name)));
  const hidden = found.columns.filter(isSystem).length;
  const [column, way] = order.split(' ');
  const head = name => make('th', { scope: 'col', 'aria-sort': column === name ? (way ? 'descending' : 'ascending') : null },
    button([name, ' ', make('span', { 'aria-hidden': 'true' }, column === name ? (way ? '↓' : '↑') : '')],
      () => choose({ order: column !== name ? name : way ? '' : name + ' desc' }), { class: 'sort' }));
  const total = make('span', {}, filter ? '' : ` of ${grouped(known.rows)}`);
  const last = part.before + found.rows.length;
  if (filter && (found.next || !isFirst)) count(total, chosen);
  const typed = note();
  describe(typed, table);
  return [found.rows.length ? grid([head('id'), ...columns.map(head)], found.rows.map(({ row, pending }) => make('tr', {},
    make('th', { scope: 'row' }, rowLink(table, row.id), pending ? badge('pending', 'warn') : null),
    columns.map(name => make('td', {}, name in row ? make('code', {}, shown(row[name])) : make('span', { class: 'note' }, '–'))))),
  { label: `Rows of ${table}`, class: 'rows' }) : note(filter ? 'No row matches.' : !isFirst ? 'There are no more rows.' : 'The table has no rows.'),
  turner([`${grouped(part.before + 1)}–${grouped(last)}`, total], isFirst, found.next, back,
    () => forth(found.next, last)),
  typed, !chosen.system && hidden ? note(counted(hidden, 'system column'), ' hidden') : null];
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

async function searched(chosen, choose) {
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
  found.matches.length ? make('ul', { class: 'cards found' }, found.matches.map(match => make('li', { class: 'card' },
    make('h3', {}, rowLink(found.table, match.id), ' ', make('span', { class: 'note' }, match.column || '')),
    make('p', {}, match.parts.map((part, index) => index % 2 ? make('mark', {}, part) : part))))) : null,
  turner('', isFirst, found.next, back, () => forth(found.next, last))];
}
