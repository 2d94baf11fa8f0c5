// The views beside the list of events. A view is a function that asks the store and returns what is shown.

import { at, badge, button, command, counted, grid, grouped, make, note, pager, problem, shown, title } from './dom.js';
import { ask, asked, changed, listen, moment, own, show, state, store, tell, whole } from './store.js';
import { advice, asOf, changes, eventLink, folded, isSystem, partly, rowLink, sentence, sides } from './fields.js';
import { charts } from './charts.js';
import { questions } from './debugger.js';
import { filterRow } from './list.js';
import { bytesLink, log } from './log.js';
import { step } from './marks.js';
import { share } from './share.js';
import { sqlPage, startSQL } from './sql.js';
import { status } from './status.js';
import { tables } from './tables.js';
import { timeOf } from './timeline.js';
import { brief, duration, exact } from './times.js';

export const names = [['events', 'Events'], ['status', 'Store'], ['event', 'Event'], ['row', 'Row'], ['tables', 'Tables'], ['sql', 'SQL'],
  ['outbox', 'Outbox'], ['conflicts', 'Conflicts'], ['syncs', 'Syncs'], ['debugger', 'Debugger'], ['charts', 'Charts'], ['log', 'Log']];
/// Views that do not depend on the moment, or follow it by themselves.
const timeless = new Set(['status', 'syncs', 'charts', 'debugger', 'sql', 'log']);
/// Views that are drawn again when something else is chosen in them; the others ask by themselves.
const redrawn = new Set(['row', 'tables', 'outbox', 'syncs', 'log']);
const turn = skip => show({ own: { skip: skip || '' } });

const views = {
  async event() {
    const found = await ask('event', { n: moment() });
    if (!found.event) return lostEvent(found);
    const before = found.n > store.first ? await timeOf(found.n - 1) : 0;
    const cards = found.changes.map(change => make('article', { class: 'card' },
      make('h3', {}, badge(change.change, change.change), ' ', rowLink(change.table, change.id)),
      change.fields.length ? changes(change.fields)
        : change.change === 'changed' ? note('Nothing that an app sees has changed.') : null));
    return [partly(found), title(`@${grouped(found.n)} `, badge(found.kind, 'kind ' + found.kind)),
      make('p', { class: 'lead' }, found.what),
      make('p', { class: 'note' }, exact(found.time), before ? [`, ${duration(found.time - before)} after `, eventLink(found.n - 1)] : null),
      found.leftOut ? make('p', { class: 'problem' }, `${cards.length ? 'A part of this event' : 'This event'} depends on events that can’t be read, and is left out.`) : null,
      cards.length ? cards : found.leftOut ? null : note('No row changed.'),
      found.count > cards.length ? note(`and ${counted(found.count - cards.length, 'more row')}`) : null,
      make('p', { class: 'actions' }, button('What if it had not happened?', () => show({ view: 'debugger', own: { ask: 'without', events: '@' + found.n } })), bytesLink(`@${found.n}`, 'Its bytes')),
      make('details', {}, make('summary', {}, 'The event as it is stored'), make('pre', {}, JSON.stringify(found.event, null, 2)))];
  },

  async row() {
    if (!state.row) return [title('Row'), note('Choose a row in an event, in Tables, or write its address into the box above: ',
      make('code', {}, 'notes/r1'), '.')];
    const field = own().field || '';
    const found = await ask('row', { ...state.row, field, at: asked() });
    const frozen = found.entry && found.entry.frozen;
    const versions = [{ title: 'Server’s row', row: found.entry && found.entry.base, absent: 'unknown' },
      { title: 'Pending here', row: found.entry && found.entry.columns, absent: found.entry && found.entry.pending === 'delete' ? 'delete' : 'nothing' },
      { title: 'What the app sees', row: found.entry && found.entry.row, absent: 'no row' }];
    if (frozen && frozen.status !== 'inFlight') versions.push({ title: 'Server’s, in conflict', row: frozen.server, absent: 'gone' });
    // The sentences: one about the row, one for each field, and the rest about operations.
    const [sight, ...rest] = found.why.parts;
    const reasons = list => make('ul', { class: 'reasons' }, list.map(parts => make('li', {}, sentence(parts))));
    const system = rest.filter((_, index) => index < found.why.fields.length && isSystem(found.why.fields[index].field));
    const others = rest.filter(parts => !system.includes(parts));
    return [partly(found), title(`${found.table}/${found.id}`, asOf(found.at)),
      make('p', { class: 'lead' }, sentence(sight)),
      found.undecidedSince ? note('It waits for a decision since ', eventLink(found.undecidedSince), '.') : null,
      others.length ? reasons(others) : null, folded(system.length, reasons(system)),
      found.why.next.length ? make('div', { class: 'next' }, make('h3', {}, 'What you can do'),
        make('ul', {}, found.why.next.map(step => make('li', {}, command(step.command), ' ', step.effect)))) : null,
      found.entry ? [make('h3', {}, 'Side by side'), sides(versions, found.conflict ? found.conflict.colliding : [])] : null,
      make('h3', {}, 'Story ', make('span', { class: 'note' }, counted(found.count, 'event'))),
      make('p', { class: 'actions' }, fieldChoice(found, field),
        ['before', 'after'].map(way => button(way === 'before' ? '‹ Before' : 'After ›', () => step(way), { disabled: !found.near[way], id: 'row-' + way })),
        button('List only its events', () => filterRow(state.row)),
        button('Ask the debugger', () => show({ view: 'debugger', own: { ask: 'bisect', condition: `${found.table}/${found.id}` } }))),
      story(found, field)];
  },

  status: () => status(),
  tables: () => tables(),
  sql: () => sqlPage(),

  async outbox() {
    const found = await ask('outbox', { at: asked(), skip: whole(own().skip), top: 50 });
    const waiting = found.count - found.toPush;
    return [partly(found), title(counted(found.toPush, 'operation'), ' to push', waiting ? `, ${grouped(waiting)} waiting` : '', asOf(found.at)),
      found.operations.length ? make('ol', { class: 'cards' }, found.operations.map(operation => make('li', { class: 'card' },
        make('h3', {}, make('span', { class: 'mono soft' }, operation.address), ' ', badge(operation.kind, operation.kind), ' ',
          rowLink(operation.table, operation.id), ' ', operation.state === 'pending' ? null : badge(operation.state, operation.state),
          operation.maybeSent ? badge('may have arrived', 'warn') : null),
        operation.fields.length ? make('p', {}, 'sends ', operation.fields.map((name, index) => [index ? ', ' : '', make('code', {}, name)])) : null,
        make('ul', { class: 'plain' }, operation.changes.map(change => make('li', {}, eventLink(change.event.slice(1)), ' ',
          change.kind, change.columns.length ? ` of ${change.columns.join(', ')}` : '', make('span', { class: 'note' }, ` – ${change.rule}`)))))))
        : note('Everything was pushed.'),
      pager(found, found.operations.length, 50, turn),
      found.cursors.length ? [make('h3', {}, 'How far each query was pulled'), grid(['Table', 'Query', 'Position'],
        found.cursors.map(cursor => make('tr', {}, make('td', {}, cursor.table), make('td', {}, cursor.queryId), make('td', { class: 'mono' }, cursor.position))))] : null];
  },

  async conflicts() {
    const found = await ask('conflicts', { at: asked() });
    return [partly(found), title('Conflicts', asOf(found.at)),
      found.conflicts.length ? found.conflicts.map(conflict => conflictCard(conflict)) : note('Nothing waits for a decision.'),
      found.count > found.conflicts.length ? note(`and ${grouped(found.count - found.conflicts.length)} more`) : null];
  },

  async syncs() {
    const found = await ask('syncs', { skip: whole(own().skip), top: 50 });
    return [title(counted(found.count, 'sync'), make('span', { class: 'note' }, ' newest first')),
      found.recorded ? null : note('The requests were not recorded. ', command("syncline config record '8 MiB'"), ' records those to come.'),
      found.syncs.length ? make('ol', { class: 'cards syncs' }, found.syncs.map(syncCard)) : note('Nothing was pushed or pulled.'),
      pager(found, found.syncs.length, 50, turn)];
  },

  debugger: () => questions(),
  charts: async () => charts(await ask('charts')),
  log: () => log(),
};

function lostEvent(found) {
  const gap = store.gaps.find(([first, last]) => found.n >= first && found.n <= last);
  if (!gap) return [title(`@${grouped(found.n)}`), note('There is no event with this number.')];
  const damage = store.damage.find(damage => concerns(damage, gap)) || (store.damage.length === 1 ? store.damage[0] : null);
  return [title(gap[0] === gap[1] ? `@${grouped(gap[0])}` : `@${grouped(gap[0])}–${grouped(gap[1])}`, ' ', badge('can’t be read', 'bad')),
    damage ? [make('p', { class: 'lead' }, 'The log is damaged at ', make('code', {}, damage.address), `: ${damage.reason}. `, bytesLink(damage.address, 'Its bytes')),
      make('p', {}, advice(damage.advice)),
      note('What you see of later moments is put together from the events that can be read.')]
      : note(store.damage.length ? 'The log is damaged.' : 'A newer version of the engine may have written it.')];
}

/// Whether some of the records that a damage costs are in a gap.
function concerns(damage, [first, last]) {
  const [from, to] = (damage.records || '').match(/\d+/g) || [];
  return from !== undefined && Number(from) <= last && Number(to || from) >= first;
}

/// Of which field the events are looked for.
function fieldChoice(found, field) {
  const names = [...new Set([...found.why.fields.map(one => one.field), ...found.history.flatMap(one => one.difference.fields.map(({ name }) => name)), field])].filter(Boolean).sort();
  return make('select', { id: 'field', 'aria-label': 'Field', onchange: event => show({ own: { field: event.target.value } }) },
    make('option', { value: '' }, 'all fields'), names.map(name => make('option', { value: name, selected: name === field }, name)));
}

function story(found, field) {
  const steps = found.history.filter(one => !field || one.difference.fields.some(({ name }) => name === field)).reverse();
  if (!steps.length) return note('No event that can be read has changed it.');
  return [found.count > found.history.length ? note(`the newest ${grouped(found.history.length)} of them`) : null,
    make('ol', { class: 'story' }, steps.map((step, index) => make('li', {
      class: step.n > found.at ? 'later' : null, 'aria-current': step.n === moment() ? 'step' : null },
    make('p', {}, eventLink(step.n), ' ', badge(step.kind, 'kind ' + step.kind), ' ', make('time', { class: 'note' }, exact(step.time)),
      steps[index + 1] ? make('span', { class: 'note' }, `, ${duration(step.time - steps[index + 1].time)} later`) : null,
      step.n > found.at ? make('span', { class: 'note' }, ' after the moment') : null),
    step.difference.fields.length ? changes(step.difference.fields) : make('p', { class: 'note' }, step.what))))];
}

const decisions = { 'take-server': 'Take the server’s', 'keep-mine': 'Keep mine', merge: 'Merge both' };

function conflictCard(conflict) {
  const versions = [{ title: 'Common ancestor', row: conflict.base, absent: 'none' }, { title: 'Mine', row: conflict.mine, absent: 'deleted' },
    { title: 'Server’s', row: conflict.server, absent: conflict.state === 'parked' ? 'unknown' : 'gone' }];
  const isNow = asked() === null;
  return make('article', { class: 'card conflict' },
    make('h3', {}, badge(conflict.state, 'bad'), ' ', conflict.kind, ' of ', rowLink(conflict.table, conflict.id)),
    make('p', {}, conflict.sentence.charAt(0).toUpperCase() + conflict.sentence.slice(1)),
    sides(versions, conflict.colliding),
    make('p', { class: 'actions' }, button('Where it began', () => began(conflict), { class: 'small' })),
    make('h4', {}, 'Decide'),
    make('div', { class: 'decisions' }, conflict.decisions.map(decision => make('section', { class: 'decision' },
      make('h5', {}, decisions[decision.choice]),
      decision.error ? make('p', { class: 'note' }, `Not possible: ${decision.error}.`) : [
        make('p', { class: 'note' }, decision.sends ? `The next push sends ${decision.sends === 'delete' ? 'a' : 'an'} ${decision.sends}`
          + (decision.columns.length && decision.sends === 'update' ? ` of ${decision.columns.join(', ')}.` : '.') : 'Nothing is sent.'),
        preview(decision.row),
        store.writable && isNow ? button(decisions[decision.choice], () => resolve(conflict, decision.choice), { 'data-choice': decision.choice, class: 'primary' })
          : null])),
    ),
    store.writable && isNow ? null : note(store.writable ? 'Go to the newest event to decide.' : 'Start the page with --write to decide here, or run ',
      store.writable ? null : command(`syncline resolve ${conflict.table}/${conflict.id} --merge`)));
}

const preview = row => row === null ? make('p', {}, 'The row is gone.') : make('dl', { class: 'preview' },
  Object.entries(row).filter(([name]) => name !== 'id' && !isSystem(name)).map(([name, value]) =>
    make('div', {}, make('dt', {}, name), make('dd', {}, make('code', {}, shown(value))))));

/// Goes to the event since which the conflict waits.
async function began({ table, id }) {
  try {
    const { undecidedSince } = await ask('row', { table, id, at: asked() });
    if (undecidedSince) show({ at: undecidedSince, view: 'event', row: { table, id } });
    else at('panel').prepend(note('It began before the first event of the log.'));
  } catch (error) { at('panel').prepend(problem(error)); }
}

async function resolve(conflict, choice) {
  try {
    await tell('resolve', { table: conflict.table, id: conflict.id, choice });
    show({ at: null }, true);
    changed('stale');
  } catch (error) {
    at('panel').prepend(problem(error));
  }
}

function syncCard(sync) {
  const requests = make('div', { class: 'requests' });
  const words = [sync.result, sync.until > sync.time ? duration(sync.until - sync.time) : null,
    sync.requests === null ? null : counted(sync.requests, 'request')].filter(Boolean).join(' · ');
  return make('li', { class: 'card' + (sync.problem ? ' bad' : '') },
    make('h3', {}, badge(sync.kind, 'kind ' + sync.kind), ' ', sync.time ? brief(sync.time) : null, ' ',
      sync.n ? eventLink(sync.last, sync.n === sync.last ? null : `@${grouped(sync.n)}–${grouped(sync.last)}`)
        : ['after ', eventLink(sync.after)],
      make('span', { class: 'note' }, words ? ` ${words}` : '')),
    make('p', {}, sync.what || 'It produced no events.'),
    sync.session === null ? null : make('details', { 'data-key': `session ${sync.session}`, ontoggle: async event => {
      if (!event.target.open || requests.firstChild) return;
      try { requests.replaceChildren(...(await ask('requests', { session: sync.session })).requests.map(exchange)); }
      catch (error) { requests.replaceChildren(problem(error)); }
    } }, make('summary', {}, 'Requests', sync.command ? make('code', {}, ` ${sync.command}`) : null), requests));
}

function exchange(found) {
  const answer = found.failure ? badge(found.failure, 'bad') : badge(found.status, found.status < 300 ? 'good' : found.status < 400 ? '' : 'bad');
  const body = (name, headers, text) => [make('h5', {}, name), make('pre', {}, [...headers, '', text || ''].join('\n').trim())];
  return make('details', { class: 'exchange' }, make('summary', {}, make('b', {}, found.method), ' ', make('code', {}, found.path), ' ', answer),
    body('Request', found.headers, found.body), found.failure ? null : body('Answer', found.responseHeaders, found.response));
}

// MARK: Showing

let drawing = 0, last = '';

/// Remembers what the user opened, how far it is scrolled and what has the focus, for the same view of a later state.
function keep(panel) {
  const key = state.view + (state.view === 'row' && state.row ? state.row.table + '/' + state.row.id : '');
  const isSame = key === last;
  last = key;
  const name = (details, index) => details.dataset.key || String(index);
  const open = new Set([...panel.querySelectorAll('details')].flatMap((details, index) => details.open ? [name(details, index)] : []));
  const focus = panel.contains(document.activeElement) ? document.activeElement.id : null;
  const { scrollTop } = panel;
  return () => {
    panel.scrollTop = isSame ? scrollTop : 0;
    if (!isSame) return;
    [...panel.querySelectorAll('details')].forEach((details, index) => { if (open.has(name(details, index))) details.open = true; });
    if (focus && at(focus)) at(focus).focus();
  };
}

/// On a small window the tabs are one line that scrolls.
function showTab(tab) {
  if (!tab) return;
  const [bar, own] = [tab.parentElement, tab].map(element => element.getBoundingClientRect());
  if (own.left < bar.left || own.right > bar.right) tab.parentElement.scrollLeft += own.left - bar.left - (bar.width - own.width) / 2;
}

export async function render() {
  const mine = ++drawing, panel = at('panel');
  panel.setAttribute('aria-busy', 'true');
  document.body.dataset.view = state.view;
  for (const [name] of names) {
    at('tab-' + name).setAttribute('aria-selected', name === state.view);
    at('tab-' + name).tabIndex = name === state.view ? 0 : -1;
  }
  showTab(at('tab-' + state.view));
  if (state.view === 'events') {
    panel.setAttribute('aria-busy', 'false');
    document.body.dataset.ready = 'events';
    return;
  }
  panel.setAttribute('aria-labelledby', 'tab-' + state.view);
  const busy = setTimeout(() => { if (mine === drawing) panel.replaceChildren(make('p', { class: 'note working' }, 'Reading the log…')); }, 400);
  let content;
  try { content = await (views[state.view] || views.event)(); } catch (error) { content = [problem(error)]; }
  clearTimeout(busy);
  if (mine !== drawing) return;
  const kept = keep(panel);
  const foot = make('footer', { class: 'share' });
  share(foot, state.view);
  panel.replaceChildren(...content.flat(3).filter(Boolean), foot);
  kept();
  panel.setAttribute('aria-busy', 'false');
  document.body.dataset.ready = state.view;
  document.body.dataset.shown = moment();
}

let settling = 0;

/// Whether what the view shows is out of date. What the user writes into it is kept.
function isOutdated(what) {
  if (!what.has('moment')) return false;
  if (!what.has('store')) return !timeless.has(state.view);
  const typed = at('panel').contains(document.activeElement) && document.activeElement.matches('input, select, textarea');
  return !typed && !['debugger', 'charts', 'sql'].includes(state.view);
}

export function start() {
  startSQL();
  document.querySelector('.tabs').replaceChildren(...names.map(([name, text], index) => make('button', { type: 'button', role: 'tab', id: 'tab-' + name,
    'aria-controls': name === 'events' ? 'list' : 'panel', 'data-key': index, onclick: () => show({ view: name }),
    onkeydown: event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const all = names.map(([name]) => name).filter(name => at('tab-' + name).offsetParent);
      show({ view: all[(all.indexOf(name) + step + all.length) % all.length] });
      at('tab-' + state.view).focus();
    } }, text)));
  listen(what => {
    if (what.has('view') || what.has('row') || what.has('own') && redrawn.has(state.view)) {
      // Drawn again a moment later, a form would lose what was written into it.
      clearTimeout(settling);
      render();
      return;
    }
    if (what.has('own')) share(document.querySelector('#panel .share'), state.view);
    // While the moment moves, only where it stops is looked at.
    if (!document.body.dataset.ready) { render(); return; }
    if (!what.has('stale') && !isOutdated(what)) return;
    clearTimeout(settling);
    settling = setTimeout(render, what.has('moment') ? 60 : 0);
  });
}
