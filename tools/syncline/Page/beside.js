// A second store or report beside this one, in a frame with a page of its own. In step, both show the same time of their
// own clocks, the same view and the same row, whichever of them moves.

import { at, button, make } from './dom.js';
import { ask, listen, moment, own, show, state, store } from './store.js';
import { timeOf } from './timeline.js';

const isInner = window.parent !== window;
/// The views whose choices are followed, too: the others begin work by themselves.
const followed = ['row', 'tables', 'sql'];
/// The inner page waits for the first word of the outer one.
let isTold = false, isWaiting = isInner, turn = 0, shown = '';

const other = () => isInner ? window.parent : at('beside').querySelector('iframe')?.contentWindow;
const isApart = () => state.marks.apart === 'yes';
const post = told => other()?.postMessage(told, location.origin);

async function tell() {
  if (isTold || isWaiting || isApart() || !other() || !store.last) return;
  const mine = ++turn, time = await timeOf(moment());
  if (mine !== turn) return;
  post({ time, view: state.view, row: state.row, own: followed.includes(state.view) ? own() : null });
}

/// The last event until a time, as a moment of this store.
async function eventUntil(time) {
  if (!store.last || time >= store.lastTime) return null;
  return time < store.firstTime ? store.first : (await ask('moment', { time })).event;
}

async function take(told) {
  if (told.isReady) return tell();
  if (isApart()) return;
  isWaiting = false;
  const mine = ++turn, number = await eventUntil(told.time);
  if (mine !== turn) return;
  isTold = true;
  try {
    show({ at: number, view: told.view, ...told.row ? { row: told.row } : {}, ...told.own ? { own: told.own } : {} }, true);
  } finally { isTold = false; }
}

function choices() {
  const others = store.others || [];
  at('besides').parentElement.hidden = !others.length;
  const words = JSON.stringify(others);
  if (at('besides').dataset.words !== words) {
    at('besides').dataset.words = words;
    at('besides').replaceChildren(make('option', { value: '' }, 'nothing'), ...others.map(({ number, name }) => make('option', { value: number }, name)));
  }
  at('besides').value = state.marks.beside || '';
}

/// Shows the chosen one, in a new frame, so that the buttons of the browser do not go back in it.
function place() {
  choices();
  const chosen = (store.others || []).find(({ number }) => String(number) === state.marks.beside);
  const now = chosen ? String(chosen.number) : '';
  if (at('in-step')) at('in-step').checked = !isApart();
  if (now === shown) return;
  shown = now;
  at('beside').hidden = !chosen;
  if (!chosen) { delete document.body.dataset.beside; at('beside').replaceChildren(); return; }
  document.body.dataset.beside = now;
  const address = `/open/${chosen.number}/`;
  at('beside').replaceChildren(make('p', { class: 'actions' }, make('b', {}, chosen.name),
    make('label', { class: 'switch' }, make('input', { type: 'checkbox', id: 'in-step', checked: !isApart(),
      onchange: event => { show({ marks: { apart: event.target.checked ? '' : 'yes' } }); tell(); } }), ' In step'),
    make('a', { href: address, target: '_blank' }, 'Alone'), button('×', () => show({ marks: { beside: '' } }), { class: 'small', 'aria-label': 'Close' })),
  make('iframe', { src: `${address}#view=${state.view}`, title: chosen.name }));
}

export function start(failed) {
  window.addEventListener('message', event => {
    if (event.origin === location.origin && event.source === other()) take(event.data).catch(failed);
  });
  if (isInner) document.body.dataset.inner = '';
  let isReady = false;
  listen(what => {
    if (!isInner && (what.has('marks') || what.has('store'))) place();
    if (isInner && !isReady && store.last) { isReady = true; post({ isReady }); }
    if (['moment', 'view', 'row', 'own'].some(kind => what.has(kind))) tell().catch(failed);
  });
  at('besides').addEventListener('change', event => show({ marks: { beside: event.target.value } }));
}
