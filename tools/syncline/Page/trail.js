// The steps of this tab, each with its address, so that a search for a cause can be told: a list that survives a reload.

import { at, button, copier, make, shortened } from './dom.js';
import { listen, moment, own, shownParts, state, store } from './store.js';
import { precise } from './times.js';

const most = 200;
/// The names of the views.
let titles = new Map();

const place = () => 'steps ' + store.store;

function read() {
  try { return JSON.parse(sessionStorage.getItem(place())) || []; } catch { return []; }
}

function words() {
  const view = state.view, chosen = view === 'row' ? [state.row ? `${state.row.table}/${state.row.id}` : '', ...Object.values(own())] : Object.values(own());
  return [titles.get(view) || view, ...chosen.map(text => shortened(text, 60)), '@' + moment()].filter(Boolean).join(' ');
}

/// Notes what is shown. Of a walk from event to event only the events where it rested for a second are steps.
function add() {
  if (!store.store) return;
  const steps = read(), last = steps.at(-1), hash = '#' + new URLSearchParams({ ...shownParts(), at: moment() }), time = Date.now(), isWalk = history.state === 'walk';
  if (last && last.hash === hash) return;
  if (isWalk && last && last.isWalk && time - last.time < 1000) steps.pop();
  try { sessionStorage.setItem(place(), JSON.stringify([...steps, { hash, time, isWalk, words: words() }].slice(-most))); } catch { /* The list ends here. */ }
}

export function open() {
  const steps = read().reverse(), address = step => location.href.split('#')[0] + step.hash;
  at('trail-list').replaceChildren(...steps.map(step => make('li', {}, make('time', { class: 'note' }, precise(step.time).slice(0, 8)), ' ',
    make('a', { href: step.hash, onclick: () => at('trail').close() }, step.words))));
  at('trail-actions').replaceChildren(copier(steps.map(step => `${step.words}\n${address(step)}`).reverse().join('\n'), 'Copy all', 'Copy the steps'),
    button('Forget', () => { sessionStorage.removeItem(place()); at('trail').close(); }, { class: 'small' }));
  at('trail').showModal();
}

export function start(names) {
  titles = new Map(names);
  at('steps').addEventListener('click', open);
  listen(add);
}
