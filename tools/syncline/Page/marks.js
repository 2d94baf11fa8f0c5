// Ways through the events that lead backwards as well: two pinned moments with what is between them, a condition that
// stops where it became true or a count where it changed, and the events that changed a row or a field.

import { at, button, copier, counted, make, problem } from './dom.js';
import { ask, asked, listen, moment, pins, show, state, store, tell } from './store.js';
import { never } from './debugger.js';
import { eventLink } from './fields.js';
import { timeOf } from './timeline.js';
import { duration } from './times.js';

let turn = 0, isOpen = false, failed = console.error;
/// The ticket of the search that is running, and of all whose answers have not come.
let searching = null;
const unanswered = new Set();

// MARK: Pinned moments

const setPins = all => show({ marks: { pins: all.join(',') } });

/// Pins the moment beside the one that was pinned last, or lets it go.
export function pin() {
  const here = moment(), all = pins();
  setPins(all.includes(here) ? all.filter(one => one !== here) : [...all, here].slice(-2));
}

/// The pinned moments in order; one alone stands beside the moment that is shown.
function ends() {
  const all = pins();
  return [...new Set(all.length === 1 ? [...all, moment()] : all)].sort((a, b) => a - b);
}

/// Shows what changed between the pinned moments.
export function difference() {
  const [from, to] = ends();
  if (to) show({ view: 'debugger', own: { ask: 'compare', with: '@' + from, from: '@' + to } });
  else say('Pin a moment first: p.');
}

async function pinned() {
  const all = pins(), [from, to] = ends();
  const between = to ? duration(await timeOf(to) - await timeOf(from)) : null;
  return [all.map(number => make('span', { class: 'pinned' }, eventLink(number),
    button('×', () => setPins(pins().filter(one => one !== number)), { class: 'small', 'aria-label': `Unpin @${number}` }))),
  to ? [make('span', { class: 'note', id: 'apart' }, `${between}, ${counted(to - from, 'event')} apart`), button('Difference', difference, { class: 'small', id: 'difference' })]
    : all.length ? make('span', { class: 'note' }, 'is pinned') : null];
}

// MARK: Stops

/// Says something about the last step until the next one.
function say(...words) {
  at('said').replaceChildren(...words);
  draw().catch(failed);
}

/// Goes to the event before or after the moment that changed the row, or the field that is chosen of it.
export async function step(way) {
  if (!state.row) return say('Choose a row first.');
  const mine = ++turn, { table, id } = state.row, field = (state.own.row || {}).field || '';
  try {
    const found = await ask('row', { table, id, field, at: asked() });
    if (mine !== turn) return;
    const number = found.near[way];
    if (number) show({ at: number }, true);
    else say(`No event ${way} this one changed ${table}/${id}${field && '.' + field}.`);
  } catch (error) { say(problem(error)); }
}

/// Goes to the event before or after the moment where the watched condition became true, or the count changed.
export async function stop(way) {
  const condition = at('watched').value.trim() || state.marks.watch;
  if (!condition) return watch();
  cancel();
  const mine = ++turn, ticket = crypto.randomUUID();
  if (condition !== state.marks.watch) show({ marks: { watch: condition } });
  unanswered.add(ticket);
  searches(ticket);
  say('Searching…');
  try {
    const { command, lines: [answer = {}] } = await tell('debug/watch', { condition, way, at: String(moment()), ticket });
    if (mine !== turn) return;
    if (answer.event) show({ at: Number(answer.event.address.slice(1)) }, true);
    say(answer.event ? found(answer) : never(answer), ...command ? [' ', copier(command, 'Copy as command')] : []);
  } catch (error) { if (mine === turn) say(problem(error)); } finally {
    unanswered.delete(ticket);
    if (searching === ticket) searches(null);
  }
}

/// On which side of the change it stopped: after the event.
const found = ({ event: { address }, count }) => count ? `Changed from ${count.before} to ${count.after} at ${address}; this is after it.`
  : `Became true at ${address}; this is after it.`;

function searches(ticket) {
  searching = ticket;
  if (!ticket && document.activeElement === at('cancel-search')) at('watched').focus();
  at('cancel-search').hidden = !ticket;
}

/// Ends the search that is running. The request for it may not have arrived yet, so this is said until it is answered.
export async function cancel() {
  const ticket = searching;
  if (!ticket) return;
  turn += 1;
  searches(null);
  say('The search was cancelled.');
  while (unanswered.has(ticket)) {
    try { await tell('cancel', { ticket }); } catch { return; }
    await new Promise(done => setTimeout(done, 50));
  }
}

/// Opens the box for the condition.
export function watch() {
  isOpen = true;
  draw().then(() => at('watched').focus(), failed);
}

// MARK: Showing

async function draw() {
  const content = await pinned();
  at('pins').replaceChildren(...content.flat(3).filter(Boolean));
  at('watch').hidden = !isOpen && !state.marks.watch;
  at('marks').hidden = !content.flat(3).some(Boolean) && at('watch').hidden && !at('said').textContent;
  at('pin').setAttribute('aria-pressed', pins().includes(moment()));
}

export function start(report) {
  failed = error => report(error);
  at('pin').addEventListener('click', pin);
  at('watching').addEventListener('click', watch);
  at('cancel-search').addEventListener('click', cancel);
  at('watch').addEventListener('submit', event => { event.preventDefault(); stop('after'); });
  for (const way of ['before', 'after']) at('stop-' + way).addEventListener('click', () => stop(way));
  at('unwatch').addEventListener('click', () => { cancel(); isOpen = false; at('watched').value = ''; at('said').replaceChildren(); show({ marks: { watch: '' } }); draw().catch(failed); });
  listen(what => {
    if (what.has('marks')) at('watched').value = state.marks.watch || '';
    if (what.has('moment')) at('said').replaceChildren();
    if (store.last && ['moment', 'marks', 'store'].some(kind => what.has(kind))) draw().catch(failed);
  });
  at('watched').value = state.marks.watch || '';
}
