// The store on one page, as `syncline status` shows it: what is wrong and what to do, what waits, the last syncs, and tables.

import { badge, bytes, command, counted, grid, grouped, make, note, title } from './dom.js';
import { ask, show } from './store.js';
import { eventLink, partly } from './fields.js';
import { duration, full } from './times.js';

const states = { toPush: 'to push', conflict: 'in conflict', parked: 'refused by the server', held: 'held',
  after: 'after one of these', waiting: 'of other processes, not taken in' };
const number = event => event.slice(1).split('..')[0];
const when = (event, time) => [eventLink(number(event), event.replace('..', '–')), time ? [' ', make('time', { class: 'note' }, full(Date.parse(time)))] : null];
const list = counts => counts.map(([words, count], index) => [index ? ', ' : '', make('strong', {}, grouped(count)), ' ', words]);
const fact = (name, ...content) => make('div', {}, make('dt', {}, name), make('dd', {}, content.flat(Infinity)));
const unknown = (what, found) => make('span', { class: 'note' }, `no ${what} in the log`, found.searched === found.history.first ? '' : ` since ${found.searched}`);

function push(found) {
  const { lastPush: last } = found;
  if (!last) return unknown('request', found);
  const ends = Object.entries(last.operations).map(([end, count]) => [states[end] || end, count]);
  if (last.unanswered) ends.push(['without answer', last.unanswered]);
  return [badge(last.outcome, last.outcome === 'complete' ? 'good' : 'warn'), ' ', list(ends),
    last.seconds === null ? '' : ` in ${duration(last.seconds * 1000)}`, ' ', when(last.events, last.until)];
}

const page = last => [last.table, last.queryId === null ? '' : `/${last.queryId}`, ': ',
  list([[last.rows === 1 ? 'row' : 'rows', last.rows], ['deleted', last.deleted], ['unreadable', last.unreadable]].filter(([, count]) => count)), ' ', when(last.event, last.time)];

function tables(found) {
  if (!found.tables.length) return note('There are no tables yet.');
  return grid(['Table', 'Rows', 'Pending', 'Columns'], found.tables.map(table => {
    const types = new Map(Object.entries(table.types));
    const columns = table.columns.map(name => types.has(name) ? `${name}: ${types.get(name)}` : name);
    const unfit = Object.entries(table.unfit).map(([column, count]) => badge(`${grouped(count)} of ${column} do not fit`, 'warn'));
    return make('tr', {}, make('th', { scope: 'row' }, table.table, table.local ? badge('never leaves the device') : null),
      make('td', {}, grouped(table.rows)), make('td', {}, grouped(table.pending), table.conflicts ? badge(counted(table.conflicts, 'conflict'), 'bad') : null),
      make('td', {}, columns.join(', '), unfit));
  }), { label: 'Tables' });
}

export async function status() {
  const found = await ask('status');
  const waiting = Object.entries(found.outbox).filter(([, count]) => count).map(([state, count]) => [states[state], count]);
  const { log } = found;
  return [partly(found), title('The store ', found.healthy ? badge('good', 'good') : null),
    found.findings.length ? make('ul', { class: 'reasons' }, found.findings.map(finding => make('li', { class: 'problem' }, finding))) : null,
    found.next.length ? make('div', { class: 'next' }, make('h3', {}, 'What you can do'),
      make('ul', {}, found.next.map(step => make('li', {}, command(step.command), ' ', step.effect)))) : null,
    make('dl', { class: 'facts' },
      fact('Folder', make('code', {}, found.store)),
      fact('Server', found.backend ? [make('code', {}, found.backend), found.protocol ? make('span', { class: 'note' }, ` ${found.protocol}`) : null] : 'none'),
      fact('Outbox', waiting.length ? [list(waiting), ' ', make('button', { type: 'button', class: 'link', onclick: () => show({ view: 'outbox', at: null }) }, 'Show')] : 'empty'),
      fact('Last push', push(found)),
      found.lastPages.length ? found.lastPages.map(last => fact('Last page', page(last))) : fact('Last page', unknown('page', found)),
      found.cursors.map(cursor => fact('Cursor', `${cursor.table}/${cursor.queryId} at `, make('span', { class: 'mono' }, cursor.position),
        cursor.query ? [' ', make('code', {}, cursor.query)] : null)),
      fact('Schema', found.schema ? `version ${found.schema}` : 'none'),
      fact('Events', 'through ', when(found.event, found.time)),
      fact('History', 'from ', when(found.history.first, found.history.since)),
      fact('Size', `${bytes(log.bytes)} in ${counted(log.segments, 'segment')}, `, log.newestCheckpoint === null ? 'no checkpoint'
        : [`${bytes(log.checkpointBytes)} in ${counted(log.checkpoints, 'checkpoint')}, the newest of `, eventLink(number(log.newestCheckpoint))])),
    make('h3', {}, 'Tables'), tables(found)];
}
