// A report in a file: dropped on the page or chosen, it is sent in parts to the studio, which opens it at a path of its
// own. Nothing leaves the machine.

import { at, button, grouped, make, problem } from './dom.js';
import { answer, changed, show } from './store.js';

const part = 1 << 19;
let turn = 0;

const say = (...content) => at('file-said').replaceChildren(...content.flat().filter(Boolean));

async function send(file, mine) {
  const ticket = crypto.randomUUID();
  for (let offset = 0; mine === turn; offset += part) {
    say(make('p', { class: 'note working' }, `${grouped(Math.floor(100 * offset / Math.max(1, file.size)))} % of ${file.name}`));
    const place = new URLSearchParams({ ticket, offset, size: file.size, name: file.name });
    const { number } = await answer(await fetch('/api/drop?' + place, { method: 'POST', body: file.slice(offset, offset + part) }));
    if (number || offset + part >= file.size) return number;
  }
  return null;
}

async function open(files) {
  const mine = ++turn;
  if (!at('file').open) at('file').showModal();
  if (files.length !== 1) return say(problem(new Error('One file at a time.')));
  try {
    const number = await send(files[0], mine);
    if (mine !== turn || !number) return;
    changed('stale');
    say(make('p', {}, `${files[0].name} is open.`), make('p', { class: 'actions' },
      make('a', { href: `/open/${number}/`, class: 'button', id: 'file-alone' }, 'Show it'),
      window.parent === window && !location.pathname.startsWith('/open/') ? button('Beside this store', () => {
        at('file').close();
        show({ marks: { beside: number } });
      }, { id: 'file-beside' }) : null));
  } catch (error) { if (mine === turn) say(problem(error)); }
}

export function choose() {
  say();
  at('file-chosen').value = '';
  at('file').showModal();
}

export function start() {
  const isFile = event => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  const shade = isOver => { if (isOver) document.body.dataset.over = ''; else delete document.body.dataset.over; };
  for (const name of ['dragenter', 'dragover']) document.addEventListener(name, event => { if (isFile(event)) { event.preventDefault(); shade(true); } });
  document.addEventListener('dragleave', event => { if (!event.relatedTarget) shade(false); });
  document.addEventListener('drop', event => {
    if (!isFile(event)) return;
    event.preventDefault();
    shade(false);
    open([...event.dataTransfer.files]);
  });
  at('file-chosen').addEventListener('change', event => { if (event.target.files.length) open([...event.target.files]); });
  at('file').addEventListener('close', () => { turn += 1; });
}
