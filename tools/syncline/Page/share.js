// What a person takes along from a view: the command that shows the same in a shell, and its content as a file.

import { command, copier, draw, make, note, problem } from './dom.js';
import { content, shownParts, tell } from './store.js';

const turns = new WeakMap();

/// Shows words, and after them the command of a view and buttons that save it. SQL and the debugger show their command
/// with the answer, and the list of events has no room for it.
export async function share(place, view, ...words) {
  const turn = (turns.get(place) || 0) + 1, parts = { ...shownParts(), view };
  turns.set(place, turn);
  if (words.length) place.replaceChildren(...words.filter(Boolean), ...[...place.children].filter(child => child.matches('.kept')));
  let found = null;
  try { found = (await tell('command', parts)).command; } catch { /* The view is shown without it. */ }
  if (turns.get(place) !== turn) return;
  const hasFile = found || view === 'charts';
  const isShort = view === 'events', isShown = ['sql', 'debugger'].includes(view);
  place.replaceChildren(...words.filter(Boolean), ...[
    found && !isShown ? isShort ? copier(found, 'Copy as command') : note('The same in a shell: ', command(found)) : null,
    hasFile ? ['csv', 'json'].map(form => saver(form, place, async () => save(`syncline-${view}.${form}`, await content(parts, form)))) : null,
  ].flat().filter(Boolean).map(element => { element.classList.add('kept'); return element; }));
}

function saver(form, place, body) {
  return make('button', { type: 'button', class: 'small', 'data-form': form, 'aria-label': `Save as ${form.toUpperCase()}`, onclick: async () => {
    place.querySelectorAll('.problem').forEach(old => old.remove());
    try { await body(); } catch (error) { place.append(problem(error)); }
  } }, form.toUpperCase());
}

function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = make('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// MARK: Pictures

const inlined = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family'];

/// A button that saves a drawing with its colours, which the page's style gives it.
export const pictureSaver = (name, svg) => saver('svg', svg, () => {
  const copy = svg.cloneNode(true), drawn = [...svg.querySelectorAll('*')], { width, height } = svg.viewBox.baseVal;
  copy.querySelectorAll('*').forEach((element, index) => {
    const style = getComputedStyle(drawn[index]);
    // Attributes, because the page allows no styles of elements.
    for (const one of inlined) element.setAttribute(one, style.getPropertyValue(one));
    element.removeAttribute('class');
  });
  for (const [key, value] of Object.entries({ width, height })) copy.setAttribute(key, value);
  copy.prepend(draw('rect', { width, height, fill: getComputedStyle(svg.parentElement).backgroundColor }));
  save(`syncline-${name}.svg`, new Blob([new XMLSerializer().serializeToString(copy)], { type: 'image/svg+xml' }));
});
