// Rows and what changed in them, as tables. Columns that belong to the server are folded away.

import { grouped, make, shown } from './dom.js';
import { moment, show } from './store.js';
import { full } from './times.js';

const systemColumns = new Set(['createdAt', 'updatedAt', 'version', 'deleted']);
export const isSystem = name => systemColumns.has(name);

export const eventLink = (number, text) => make('button', { type: 'button', class: 'link mono',
  'aria-current': Number(number) === moment() ? 'true' : null,
  onclick: () => show({ at: Number(number) }) }, text || '@' + grouped(number));

export const rowLink = (table, id, text) => make('button', { type: 'button', class: 'link mono',
  onclick: () => show({ row: { table, id }, view: 'row' }) }, text || `${table}/${id}`);

export const asOf = number => make('span', { class: 'note' }, ` as of @${grouped(number)}`);
export const partly = found => found.whole === false ? make('p', { class: 'problem' },
  'Events are missing before this moment. What you see is put together from the events that can be read.') : null;

/// A sentence from its parts: events are links, and times are those of the browser.
export const sentence = parts => parts.map(part => typeof part === 'string' ? part : 'event' in part ? eventLink(part.event) : full(part.time));

/// A sentence of the page's own in which `commands` are code.
export const advice = text => text.split(/`([^`]+)`/).map((part, index) => index % 2 ? make('code', {}, part) : part);

/// Events that can't be read, as a link.
export const gapLink = ([first, last]) => eventLink(first, first === last ? null : `@${grouped(first)}–${grouped(last)}`);

/// What changed, a column a line.
export function changes(fields) {
  const own = fields.filter(field => !isSystem(field.name)), system = fields.filter(field => isSystem(field.name));
  const list = fields => make('dl', { class: 'changes' }, fields.map(field => make('div', {},
    make('dt', {}, field.name),
    make('dd', {}, field.before === null ? null : make('del', {}, shown(field.before)),
      field.before !== null && field.after !== null ? make('span', { class: 'arrow', 'aria-label': 'became' }, '→') : null,
      field.after === null ? null : make('ins', {}, shown(field.after))))));
  return [own.length ? list(own) : null, folded(system.length, list(system))];
}

/// The columns of the server, folded into one line.
export const folded = (count, ...content) => count ? make('details', { class: 'system' },
  make('summary', {}, count === 1 ? '1 system column' : `${count} system columns`), content) : null;

/// Several versions of a row side by side; `marks` are columns that collide.
export function sides(versions, marks) {
  const all = [...new Set(versions.flatMap(version => Object.keys(version.row || {})))].filter(name => name !== 'id');
  const line = name => make('tr', { class: (marks || []).includes(name) ? 'colliding' : null },
    make('th', { scope: 'row' }, name, (marks || []).includes(name) ? make('span', { class: 'badge bad' }, 'both changed') : null),
    versions.map(version => make('td', { 'data-side': version.title }, cell(version, name))));
  const table = names => make('table', { class: 'sides' },
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Column'),
      versions.map(version => make('th', { scope: 'col' }, version.title)))),
    make('tbody', {}, names.map(line)));
  const own = all.filter(name => !isSystem(name)), system = all.filter(isSystem);
  return [make('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Versions of the row' }, table(own)),
    folded(system.length, make('div', { class: 'wide' }, table(system)))];
}

function cell(version, name) {
  if (!version.row) return make('span', { class: 'note' }, version.absent || 'not there');
  if (!(name in version.row)) return make('span', { class: 'note' }, '–');
  return make('code', {}, shown(version.row[name]));
}
