// Elements and words. Data is never interpreted as markup: strings become text nodes.

export const at = id => document.getElementById(id);

/// Attributes that a person reads.
const shownAttributes = new Set(['title', 'aria-label', 'placeholder']);

export function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key.startsWith('aria-') && typeof value === 'boolean') element.setAttribute(key, String(value));
    else if (value === true) element.setAttribute(key, '');
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, shownAttributes.has(key) ? visible(String(value).slice(0, most)) : value);
  }
  element.append(...children.flat(3).filter(child => child !== null && child !== undefined && child !== false)
    .flatMap(child => child instanceof Node ? child : text(String(child))));
  return element;
}

// Control characters, and characters that change the direction of what follows: they are shown, and have no effect.
const unsafe = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
export const visible = text => text.replace(unsafe, sign => `\\u{${sign.codePointAt(0).toString(16)}}`);

const most = 4000;

/// The beginning of a long text, and the rest on request in a box that scrolls, because a browser lays out long lines slowly.
function text(whole) {
  return whole.length <= most ? [visible(whole)] : [visible(whole.slice(0, most)) + '… ', all(whole.length, () => whole)];
}

function all(length, whole) {
  const rest = make('button', { type: 'button', class: 'small', onclick: async () => {
    rest.disabled = true;
    const box = document.createElement('textarea');
    try { Object.assign(box, { readOnly: true, value: visible(await whole()), rows: 12, wrap: 'off' }); } catch (error) { rest.replaceWith(problem(error)); return; }
    box.setAttribute('aria-label', 'All of it');
    rest.replaceWith(box);
    box.setSelectionRange(0, 0);
    box.focus();
  } }, `Show all ${grouped(length)} characters`);
  return rest;
}

/// The beginning of a value in a table of many. `whole` finds the rest, if `text` is not all of it.
export const lengthy = (text, most, length = text.length, whole = () => text) => length <= most ? make('code', {}, text)
  : [make('code', {}, text.slice(0, most), '…'), ' ', all(length, whole)];

export function draw(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.map(child => child instanceof Node ? child : visible(String(child))));
  return element;
}

export const title = (...content) => make('h2', {}, ...content);
export const note = (...children) => make('p', { class: 'note' }, ...children);
export const problem = error => make('p', { class: 'problem', role: 'alert' }, error.message,
  error.hint ? make('span', { class: 'hint' }, ' ' + error.hint) : null);
export const badge = (text, kind) => make('span', { class: 'badge ' + (kind || '') }, text);
export const button = (text, onclick, attributes) => make('button', { type: 'button', onclick, ...attributes }, text);

export const grouped = number => Number(number).toLocaleString('en');
export const counted = (number, thing) => `${grouped(number)} ${thing}${Number(number) === 1 ? '' : 's'}`;

/// A value as JSON would write it; a value that is not there as a dash.
export const shown = value => value === undefined ? '–' : JSON.stringify(value);

export function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let place = 0;
  while (count >= 1024 && place < 3) { count /= 1024; place += 1; }
  return (place ? count.toFixed(1) : count) + ' ' + units[place];
}

/// A table of columns that scrolls in itself if it is wider than the page.
export function grid(heads, rows, attributes) {
  return make('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': (attributes || {}).label || 'Table' },
    make('table', attributes && attributes.class ? { class: attributes.class } : {},
      make('thead', {}, make('tr', {}, heads.map(head => head instanceof Node ? head : make('th', { scope: 'col' }, head)))),
      make('tbody', {}, rows)));
}

/// Buttons to the parts of a long list.
export function pager(found, count, size, go) {
  if (found.count <= size) return null;
  const last = found.skip + count;
  return make('p', { class: 'pager' },
    button('‹ Before', () => go(Math.max(0, found.skip - size)), { disabled: found.skip === 0 }),
    make('span', { class: 'note' }, `${grouped(found.skip + 1)}–${grouped(last)} of ${grouped(found.count)}`),
    button('After ›', () => go(found.skip + size), { disabled: last >= found.count }));
}

/// Buttons to the next part of a list that is read by key, and back to those before it.
export function turner(words, isFirst, next, back, forth) {
  if (isFirst && !next) return null;
  return make('p', { class: 'pager' }, button('‹ Before', back, { disabled: isFirst }),
    make('span', { class: 'note' }, words), button('After ›', forth, { id: 'after', disabled: !next }));
}

/// The beginning of a string, for a line.
export const shortened = (text, length) => text.length > length ? text.slice(0, length) + '…' : text;

/// A button that copies something.
export function copier(text, words, name = 'Copy the command') {
  const copy = button(words, async () => {
    try { await navigator.clipboard.writeText(text); copy.textContent = 'Copied'; } catch { copy.textContent = 'Not copied'; }
  }, { class: 'small', 'aria-label': name, title: text });
  return copy;
}

/// A command with a button that copies it.
export const command = text => make('span', { class: 'command' }, make('code', {}, text), copier(text, 'Copy'));
