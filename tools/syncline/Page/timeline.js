// The timeline: how many events of each sort there are, over time or over the numbers of events. It is a slider: the
// arrow keys move by one event, a click or a drag moves to a place.

import { at, draw, grouped } from './dom.js';
import { ask, listen, moment, pins, show, state, store } from './store.js';
import { exact, ticks } from './times.js';

const head = 10, foot = 20, barWidth = 6;
let found = null, times = new Map(), turn = 0, dragging = false;

const chart = () => at('chart');
const byTime = () => at('axis').value === 'time';
const width = () => Math.max(120, chart().clientWidth);
const bottom = () => chart().clientHeight - foot;
const place = value => found.to > found.from ? (value - found.from) / (found.to - found.from) * width() : width() / 2;

/// The stretch that is shown: everything, or a span around the moment.
async function stretch() {
  const span = at('span').value;
  at('span').disabled = !byTime();
  if (span === 'all' || !byTime()) return {};
  const time = await timeOf(moment());
  return { from: Math.round(time - span / 2), to: Math.round(time + span / 2) };
}

/// The time of an event; that of the newest is known.
export async function timeOf(number) {
  if (number >= store.last && store.lastTime) return store.lastTime;
  if (!times.has(number)) {
    if (times.size > 500) times.clear();
    times.set(number, (await ask('time', { n: number })).time || 0);
  }
  return times.get(number);
}

export async function load() {
  if (!store.last) return;
  const mine = ++turn;
  const count = Math.max(20, Math.floor(width() / barWidth));
  const answer = await ask('timeline', { by: at('axis').value, count, ...await stretch() });
  if (mine !== turn) return;
  found = answer;
  await paint();
}

function bars() {
  const most = Math.max(1, ...found.buckets.map(bucket => bucket.counts.reduce((sum, count) => sum + count, 0)));
  const room = bottom() - head, step = width() / found.buckets.length;
  // A bar of one event must be seen beside one of a thousand.
  const scale = count => count === 0 ? 0 : Math.max(2, room * Math.sqrt(count / most));
  const parts = [];
  found.buckets.forEach((bucket, index) => {
    const x = index * step, total = bucket.counts.reduce((sum, count) => sum + count, 0);
    if (bucket.lost) parts.push(draw('rect', { class: 'lost', x, y: head, width: Math.max(3, step), height: room }));
    let y = bottom();
    bucket.counts.forEach((count, sort) => {
      if (!count) return;
      const part = scale(total) * count / total;
      y -= part;
      parts.push(draw('rect', { class: found.sorts[sort], x: x + .5, y, width: Math.max(1, step - 1), height: part }));
    });
    if (bucket.problems) parts.push(draw('circle', { class: 'problem', cx: x + step / 2, cy: head - 4, r: 3 }));
  });
  return parts;
}

function axis() {
  const marks = byTime() ? ticks(found.from, found.to, Math.max(2, Math.floor(width() / 110)))
    : Array.from({ length: 5 }, (_, index) => Math.round(found.from + (found.to - found.from) * index / 4))
      .map(number => ({ time: number, text: '@' + grouped(number) }));
  return marks.filter(mark => place(mark.time) >= 0).map(mark => {
    const x = place(mark.time), anchor = x < 40 ? 'start' : x > width() - 40 ? 'end' : 'middle';
    return draw('g', {}, draw('line', { class: 'tick', x1: x, x2: x, y1: bottom(), y2: bottom() + 4 }),
      draw('text', { class: 'label', x, y: bottom() + foot - 4, 'text-anchor': anchor }, mark.text));
  });
}

async function paint() {
  const svg = draw('svg', { viewBox: `0 0 ${width()} ${bottom() + foot}`, 'aria-hidden': 'true' },
    draw('line', { class: 'axis', x1: 0, x2: width(), y1: bottom(), y2: bottom() }), ...bars(), ...axis(),
    ...['pin-0', 'pin-1'].map(id => draw('line', { class: 'pin', id, y1: 0, y2: bottom(), visibility: 'hidden' })),
    draw('line', { class: 'cursor', id: 'cursor', y1: 0, y2: bottom(), visibility: 'hidden' }));
  chart().replaceChildren(svg);
  await point();
}

/// Puts the line to the moment, and says the moment in words.
async function point() {
  const number = moment(), time = await timeOf(number);
  if (number !== moment()) return;
  at('number').replaceChildren(`@${grouped(number)}`, ' of ', `@${grouped(store.last)}`);
  at('time').replaceChildren(time ? exact(time) : '');
  at('time').title = time ? new Date(time).toISOString() : '';
  chart().setAttribute('aria-valuemin', store.first);
  chart().setAttribute('aria-valuemax', store.last);
  chart().setAttribute('aria-valuenow', number);
  chart().setAttribute('aria-valuetext', `event ${number}, ${time ? exact(time) : ''}`);
  if (!found) return;
  await placePins();
  const here = byTime() ? time : number;
  if (here < found.from || here > found.to) return at('span').value === 'all' ? undefined : load();
  put('cursor', here);
}

async function placePins() {
  for (const [index, number] of pins().entries()) put(`pin-${index}`, byTime() ? await timeOf(number) : number);
  for (const index of [0, 1].slice(pins().length)) put(`pin-${index}`, null);
}

/// Puts a line to a place, or out of sight.
function put(id, value) {
  if (!at(id)) return;
  at(id).setAttribute('visibility', value === null ? 'hidden' : 'visible');
  if (value !== null) for (const end of ['x1', 'x2']) at(id).setAttribute(end, Math.min(width() - 1, Math.max(1, place(value))));
}

async function move(event) {
  if (!found) return;
  const box = chart().getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  const value = Math.round(found.from + (found.to - found.from) * share);
  const number = byTime() ? (await ask('moment', { time: value })).event : value;
  show({ at: number }, true);
}

function key(event) {
  const far = Math.max(1, Math.round((store.last - store.first) / 20));
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: far, PageDown: -far };
  if (event.key in steps) show({ at: moment() + steps[event.key] }, true);
  else if (event.key === 'Home') show({ at: store.first }, true);
  else if (event.key === 'End') show({ at: null }, true);
  else return;
  event.preventDefault();
}

function showScale() {
  for (const id of ['span', 'axis']) {
    at(id).value = state.frame[id] || '';
    if (at(id).selectedIndex < 0) at(id).selectedIndex = 0;
  }
}

export function start(failed) {
  chart().addEventListener('pointerdown', event => {
    dragging = true;
    chart().setPointerCapture(event.pointerId);
    move(event).catch(failed);
  });
  chart().addEventListener('pointermove', event => { if (dragging) move(event).catch(failed); });
  chart().addEventListener('pointerup', () => { dragging = false; });
  chart().addEventListener('pointercancel', () => { dragging = false; });
  chart().addEventListener('keydown', key);
  for (const id of ['span', 'axis']) at(id).addEventListener('change', () => show({ frame: { [id]: at(id).selectedIndex ? at(id).value : '' } }));
  showScale();
  new ResizeObserver(() => { if (found) load().catch(failed); }).observe(chart());
  listen(what => {
    if (what.has('frame')) showScale();
    if (what.has('store') || what.has('frame')) load().catch(failed);
    else if (what.has('moment') || what.has('marks')) point().catch(failed);
  });
}
