// The start of the page: the box, the keys, the header, and following the app.

import { at, button, counted, grouped, make, visible } from './dom.js';
import { ask, changed, listen, moment, restore, show, state, store } from './store.js';
import { full, moment as momentOf, zone } from './times.js';
import { advice, gapLink } from './fields.js';
import * as beside from './beside.js';
import * as drop from './drop.js';
import * as list from './list.js';
import { bytesLink } from './log.js';
import * as marks from './marks.js';
import { searchFor } from './tables.js';
import * as timeline from './timeline.js';
import * as trail from './trail.js';
import * as views from './views.js';

const pause = 1000;
let waiting = 0;

function failed(error) {
  document.body.dataset.lost = 'true';
  at('store').title = error.message;
}

// MARK: The store

/// Asks for the state of the store; repeatedly while its events are being read.
async function refresh(isForced) {
  clearTimeout(waiting);
  try {
    const before = { ...store };
    const isNewest = state.at === null;
    Object.assign(store, await ask('summary'));
    delete document.body.dataset.lost;
    // The moment that is shown may have been removed.
    if (state.at !== null && state.at < store.first) show({ at: store.first, view: state.view }, true);
    const isNews = isForced || before.first !== store.first || before.last !== store.last || before.indexed !== store.indexed || before.damage.length !== store.damage.length;
    if (isNews) {
      header();
      if (isForced || before.last !== store.last) count().catch(failed);
      // A user who looks at the past stays there.
      const isLater = before.last !== store.last || before.complete !== store.complete;
      changed('store', ...before.first !== store.first ? ['marks'] : [], ...isNewest && isLater ? ['moment'] : []);
    }
  } catch (error) { failed(error); }
  const isReading = !store.complete;
  if (isReading || at('follow').checked) waiting = setTimeout(() => refresh(false), isReading ? 10 : document.hidden ? pause * 5 : pause);
}

function header() {
  at('store').replaceChildren(visible(store.name));
  at('store').title = visible(store.store);
  document.title = `${at('store').textContent} – Syncline studio`;
  at('time').parentElement.title = zone();
  damage();
}

/// What waits, as the buttons of the header say it.
async function count() {
  const found = await ask('counts');
  const button = (id, number, words, view) => {
    at(id).replaceChildren(make('b', {}, number === null ? '?' : grouped(number)), ' ' + words);
    at(id).classList.toggle('some', number > 0);
    at(id).onclick = () => show({ view, at: null });
  };
  button('pending', found.pending, 'to push', 'outbox');
  button('conflicts', found.conflicts, found.conflicts === 1 ? 'conflict' : 'conflicts', 'conflicts');
}

let told = '';

function damage() {
  at('damage').hidden = store.damage.length === 0;
  const now = JSON.stringify([store.damage, store.gaps]);
  if (now === told || !store.damage.length) return;
  told = now;
  const place = found => /^s\d+:/.test(found.address) ? bytesLink(found.address) : make('code', {}, found.address);
  const line = found => make('li', {}, place(found), ` ${found.reason}. `, advice(found.advice));
  at('damage').replaceChildren(
    make('p', {}, make('strong', {}, store.gaps.length ? 'Events can’t be read: ' : 'Something is damaged. '),
      store.gaps.slice(0, 5).map((gap, index) => [index ? ', ' : '', gapLink(gap)]), store.gaps.length > 5 ? ` and ${store.gaps.length - 5} more` : ''),
    make('details', { open: matchMedia('(min-width: 56em)').matches }, make('summary', {}, counted(store.damage.length, 'place') + ', and what to do'),
      make('ul', {}, store.damage.slice(0, 20).map(line))));
}

// MARK: The box

async function find(event) {
  event.preventDefault();
  const text = at('box').value.trim();
  at('answer').hidden = true;
  if (!text) return;
  at('box').value = '';
  at('box').blur();
  try {
    const time = momentOf(text, Math.min(Date.now(), store.lastTime || Date.now()));
    if (time !== null && store.firstTime !== null && time < store.firstTime)
      throw new Error(`The first event is @${grouped(store.first)}, of ${full(store.firstTime)}`);
    const found = time === null ? await ask('find', { text, at: moment() }) : await ask('moment', { time });
    const next = {};
    if (found.event) next.at = found.event;
    if (found.table) Object.assign(next, { row: { table: found.table, id: found.id }, view: 'row' });
    else if (['row', 'events', 'status'].includes(state.view)) next.view = 'event';
    show(next);
  } catch (error) {
    at('box').value = text;
    at('box').focus();
    at('answer').replaceChildren(visible(error.message) + '. ', visible(error.hint || ''), ' ', button('Search the rows for it', () => {
      at('answer').hidden = true;
      at('box').value = '';
      searchFor(text);
      at('panel').focus({ preventScroll: true });
    }, { class: 'small', id: 'search-rows' }));
    at('answer').hidden = false;
  }
}

// MARK: Keys

function key(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') { marks.cancel(); at('answer').hidden = true; if (document.activeElement === at('box')) at('box').blur(); }
  if (event.target.closest('input:not([type=checkbox]), select, textarea, dialog')) return;
  const actions = {
    '/': () => at('box').focus(), '[': () => show({ at: moment() - 1 }, true), ']': () => show({ at: moment() + 1 }, true),
    '{': () => marks.step('before'), '}': () => marks.step('after'), '<': () => marks.stop('before'), '>': () => marks.stop('after'),
    p: marks.pin, d: marks.difference, w: marks.watch, s: trail.open, o: drop.choose, n: () => show({ at: null }, true), f: () => at('follow').click(), l: focusList, t: () => at('chart').focus(),
    '?': () => at('keys').showModal(), b: () => { show({ view: 'log' }); at('panel').focus({ preventScroll: true }); },
  };
  const view = /^\d$/.test(event.key) && views.names[Number(event.key) || 10];
  if (view) { show({ view: view[0] }); at('panel').focus({ preventScroll: true }); }
  else if (actions[event.key]) actions[event.key]();
  else return;
  event.preventDefault();
}

function focusList() {
  if (!at('list').offsetParent) show({ view: 'events' });
  at('list').focus();
}

// MARK: Start

function start() {
  restore();
  views.start();
  list.start(failed);
  timeline.start(failed);
  marks.start(failed);
  trail.start(views.names);
  beside.start(failed);
  drop.start();
  at('goto').addEventListener('submit', find);
  at('previous').addEventListener('click', () => show({ at: moment() - 1 }, true));
  at('following').addEventListener('click', () => show({ at: moment() + 1 }, true));
  at('newest').addEventListener('click', () => show({ at: null }));
  at('help').addEventListener('click', () => at('keys').showModal());
  at('follow').addEventListener('change', () => refresh(false));
  document.addEventListener('keydown', key);
  window.addEventListener('popstate', restore);
  document.addEventListener('visibilitychange', () => { if (!document.hidden && at('follow').checked) refresh(false); });
  listen(what => {
    if (what.has('stale')) refresh(true);
    at('newest').disabled = state.at === null;
    at('previous').disabled = moment() <= store.first;
    at('following').disabled = moment() >= store.last;
  });
  refresh(true);
}

start();
