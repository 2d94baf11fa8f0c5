// The files of the log: segments and checkpoints to scale, the frames of one of them, every byte of a frame or of a small
// file by its name, and how much room the events take.

import { figure } from './charts.js';
import { badge, button, bytes, command, counted, draw, grid, grouped, make, note, pager, shortened, title } from './dom.js';
import { eventLink } from './fields.js';
import { ask, own, show } from './store.js';
import { full } from './times.js';

const size = 100;
const choose = place => show({ view: 'log', own: { bytes: place } });
/// A link to the bytes of an event, a frame or a file.
export const bytesLink = (place, text) => button(text || place, () => choose(place), { class: 'link mono' });

export async function log() {
  const { bytes: place, ...pages } = own();
  const files = await ask('files');
  const other = files.others.find(({ name }) => name === place), isFrames = !other && place !== 'sizes';
  const shown = other || place && /[:@]/.test(place) ? await ask('bytes', { address: place, skip: pages.fields, top: size }) : null;
  const [name, offset] = (shown && shown.address || place || '').split(':');
  const all = [...files.segments, ...files.checkpoints];
  const file = isFrames && (all.find(file => file.name === name) || files.segments.at(-1));
  const found = file && await ask('frames', { file: file.name, skip: pages.frames, holding: offset, top: size });
  const turn = (part, skip) => show({ own: { ...own(), [part]: skip } });
  return [title('The log ', make('span', { class: 'note' }, `${counted(files.segments.length, 'segment')}, ${counted(files.checkpoints.length, 'checkpoint')}`)),
    make('p', { class: 'actions' }, button('Sizes of events', () => choose('sizes'), { class: 'small', id: 'sizes', 'aria-pressed': place === 'sizes' })),
    legend(), bars(files, file || other), file ? frames(file, found, shown, skip => turn('frames', skip)) : isFrames ? note('There is no segment.') : null,
    place === 'sizes' ? sizes(await ask('sizes')) : null, shown ? fields(shown, found, skip => turn('fields', skip)) : null];
}

// MARK: Files

const kinds = { data: 'data', fragment: 'data', block: 'block', filler: 'zeros', 128: 'zeros', damage: 'damaged', hole: 'damaged' };
const kindOf = frame => frame.damage ? 'damaged' : kinds[frame.kind] || 'control';

const legend = () => make('ul', { class: 'legend pieces', 'aria-label': 'Colours' }, [['data', 'records'], ['block', 'blocks of a checkpoint'],
  ['control', 'headers, sessions, indexes, seals, small files'], ['zeros', 'zeros ahead, filler'], ['aside', 'in quarantine'], ['damaged', 'damage']]
  .map(([kind, words]) => make('li', { class: kind }, words)));

/// Pieces of a bar, each as wide as its bytes.
function track(pieces) {
  return make('span', { class: 'track' }, pieces.filter(([, count]) => count > 0).map(([kind, count, words]) => {
    const piece = make('span', { class: `piece ${kind}`, title: `${words || kind}, ${bytes(count)}` });
    piece.style.flexGrow = count;
    return piece;
  }));
}

/// What a segment consists of, as far as that is known without reading its frames.
function pieces(segment) {
  const found = [['control', 512, 'header']];
  let place = 512;
  for (const damage of segment.damage.filter(damage => damage.offset >= place).sort((a, b) => a.offset - b.offset)) {
    found.push(['data', damage.offset - place, 'frames'], ['damaged', Math.max(8, damage.bytes), damage.reason]);
    place = damage.offset + damage.bytes;
  }
  found.push(['data', segment.used - place, 'frames'], ['zeros', segment.size - Math.max(place, segment.used), 'zeros ahead, or ignored']);
  return found;
}

function bars(files, chosen) {
  const most = Math.max(...[...files.segments, ...files.checkpoints, ...files.others, ...files.quarantine].map(file => file.size), 1);
  const bar = (file, parts, words) => {
    const drawn = track(parts);
    drawn.style.width = `${Math.max(1, 100 * file.size / most)}%`;
    const content = [make('span', { class: 'mono' }, file.name || file.file), make('span', { class: 'room' }, drawn), make('span', { class: 'note' }, words)];
    return make('li', {}, file.name ? make('button', { type: 'button', class: 'file', id: 'file-' + file.name, title: file.file,
      'aria-current': file === chosen ? 'true' : null, onclick: () => choose(file.name) }, content) : make('div', { class: 'file' }, content));
  };
  return make('ul', { class: 'files', tabindex: 0, role: 'group', 'aria-label': 'Files' },
    files.segments.map(segment => bar(segment, pieces(segment),
      [`${bytes(segment.size)}, from @${grouped(segment.first)}`, segment.sealed ? ', sealed' : ', open',
        segment.damage.length ? [' ', badge('damaged', 'bad')] : null])),
    files.checkpoints.map(checkpoint => bar(checkpoint, [[checkpoint.whole ? 'block' : 'damaged', checkpoint.size]],
      [`${bytes(checkpoint.size)}, the state of @${grouped(checkpoint.through)}`, checkpoint.whole ? null : [' ', badge('damaged', 'bad')]])),
    files.others.map(file => bar(file, [['control', file.size]], bytes(file.size))),
    files.quarantine.map(file => bar(file, [['aside', file.size]], `${bytes(file.size)}, in quarantine`)));
}

// MARK: Frames

function frames(file, found, shown, turn) {
  const chosen = shown && shown.address;
  // Neighbours of one kind are one piece.
  const strip = found.frames.reduce((pieces, frame) => {
    const [last, kind] = [pieces.at(-1), kindOf(frame)];
    if (last && last[0] === kind) last[1] += frame.length; else pieces.push([kind, frame.length]);
    return pieces;
  }, []);
  const rows = found.frames.map(frame => {
    const address = `${found.name}:${frame.offset}`;
    return make('tr', { 'aria-current': address === chosen ? 'true' : null },
      make('th', { scope: 'row' }, button(address, () => choose(address), { class: 'link mono', id: `frame-${address}` })),
      make('td', {}, make('span', { class: `dot ${kindOf(frame)}` }), frame.damage ? 'damage' : frame.kind),
      make('td', { class: 'number' }, bytes(frame.length)),
      make('td', { class: 'number' }, frame.damage ? null : [bytes(frame.rawBytes), frame.codec === 'stored' ? null : make('span', { class: 'note' }, ` ${(frame.rawBytes / frame.length).toFixed(2)} : 1`)]),
      make('td', {}, frame.damage ? make('span', { class: 'problem' }, frame.damage.reason) : what(frame)));
  });
  const move = event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...event.currentTarget.querySelectorAll('tbody .link[id]')], next = links[links.indexOf(document.activeElement) + step];
    if (!step || !next) return;
    event.preventDefault();
    next.focus();
    next.click();
  };
  return [make('h3', {}, `Frames of ${file.name} `, make('span', { class: 'note' }, file.file)),
    file.created ? note('created ', full(file.created)) : null, runs(file),
    make('p', { class: 'actions' }, bytesLink(`${file.name}:0`, 'Its header'), file.damage ? file.damage.filter(damage => damage.offset !== null).map(damage =>
      bytesLink(damage.address, `Damage at ${damage.address}`)) : null),
    track(strip), make('div', { class: 'frames', onkeydown: move },
      grid(['Address', 'Kind', 'Bytes', 'Decoded', 'What'], rows, { label: 'Frames' })),
    pager(found, found.frames.length, size, turn)];
}

const what = frame => [frame.records ? [eventLink(frame.records.match(/\d+/)[0], frame.records), ' '] : null, frame.time || frame.detail,
  frame.codec === 'stored' ? null : ` ${frame.codec}`, frame.masked ? ' masked' : null];

/// The runs that a checkpoint consists of, in its own file or in older ones.
function runs(file) {
  if (!file.runs || !file.runs.length) return null;
  return make('ul', { class: 'plain' }, file.runs.map((run, index) => make('li', {}, `Run ${index + 1}: ${counted(run.entries, 'entry').replace(/entrys$/, 'entries')}, ${bytes(run.bytes)}, in `,
    run.name === file.name ? 'this file' : bytesLink(run.name))));
}

// MARK: Sizes

const subject = group => group.several ? 'several tables' : group.table ?? '–';
const ratio = value => value === null ? null : `${value.toFixed(2)} : 1`;

/// The size of events by kind and table, and what a store writes for each byte of a value.
function sizes({ groups, written }) {
  const sum = name => groups.reduce((sum, group) => sum + group[name], 0);
  const rows = groups.map(group => make('tr', {}, make('th', { scope: 'row' }, badge(group.kind, 'kind ' + group.kind)), make('td', {}, subject(group)),
    [grouped(group.events), bytes(group.bytes), bytes(group.storedBytes), ratio(group.ratio)].map(text => make('td', { class: 'number' }, text)),
    make('td', {}, eventLink(group.first.slice(1)), ' – ', eventLink(group.last.slice(1)))));
  const since = eventLink(written.since.slice(1)), all = written.logBytes + written.checkpointBytes;
  return [make('h3', {}, 'Sizes of events ', make('span', { class: 'note' }, `${bytes(sum('bytes'))}, in frames of ${bytes(sum('storedBytes'))}`)),
    chart(groups), grid(['Kind', 'Table', 'Events', 'Bytes', 'Stored', 'Ratio', 'First and last'], rows, { label: 'Sizes of events' }),
    make('h3', {}, 'Written since the store was opened'),
    make('p', { id: 'written' }, 'Since ', since, `: ${bytes(written.ownValues)} of values from the app and ${bytes(written.serverValues)} from the server, kept in at least ${bytes(all)}: `
      + `${bytes(written.logBytes)} of the log, ${bytes(written.checkpointBytes)} of checkpoints`, written.amplification === null ? '.' : `. That is ${written.amplification.toFixed(2)} bytes for each.`),
    note('Zeros ahead, HEAD and removed checkpoints are not counted. The same in a shell: ', command('syncline stats'))];
}

const shownGroups = 12;

/// The largest groups as bars: the whole bar is the size before compression.
function chart(groups) {
  const largest = [...groups].sort((a, b) => b.bytes - a.bytes).slice(0, shownGroups), most = Math.max(1, ...largest.map(group => Math.max(group.bytes, group.storedBytes)));
  const [width, step, left, right] = [640, 22, 190, 90], scale = value => (width - left - right) * value / most;
  const words = group => `${group.kind} ${group.several ? 'of several' : group.table ? 'of ' + group.table : ''}`;
  const svg = draw('svg', { viewBox: `0 0 ${width} ${step * Math.max(1, largest.length) + 4}`, role: 'img' }, draw('title', {}, 'Sizes of events by kind and table'));
  largest.forEach((group, index) => svg.append(
    draw('text', { class: 'label', x: left - 8, y: index * step + 15, 'text-anchor': 'end' }, shortened(words(group), 28)),
    draw('rect', { class: 'back', x: left, y: index * step + 3, width: scale(group.bytes), height: step - 6 }),
    draw('rect', { class: 'bar', x: left, y: index * step + 7, width: scale(group.storedBytes), height: step - 14 }),
    draw('text', { class: 'label', x: left + scale(Math.max(group.bytes, group.storedBytes)) + 6, y: index * step + 15 }, bytes(group.bytes))));
  return figure('Event sizes', 'Before compression (light) and on the disk (coloured).', svg);
}

// MARK: Bytes

const parts = { header: 'Header of the file', file: 'The whole file', frame: 'The frame as it is stored', payload: 'Its payload, decoded' };

function fields(shown, found, turn) {
  if (!shown.address) return [make('h3', { id: 'bytes' }, 'Bytes'), note('No frame is there.')];
  const places = (found ? found.frames : []).map(frame => `${found.name}:${frame.offset}`), here = places.indexOf(shown.address);
  const step = (text, place) => button(text, () => choose(place), { disabled: !place });
  const content = Object.entries(parts).map(([part, words]) => {
    const own = shown.fields.map((field, index) => ({ ...field, index })).filter(field => field.part === part);
    return own.length ? [make('h4', {}, words), grid(['Offset', 'Field', 'Bytes', 'Value', 'Check'], own.map(row), { label: words, class: 'bytes' })] : null;
  });
  return [make('h3', { id: 'bytes' }, 'Bytes of ', make('code', {}, shown.address), ' ', shown.wrong ? badge(counted(shown.wrong, 'wrong field'), 'bad') : badge('every check passes', 'good')),
    make('p', { class: 'actions' }, found ? [step('‹ Frame before', places[here - 1]), step('Frame after ›', here < 0 ? null : places[here + 1])] : null,
      command(`syncline inspect frame ${shown.address} --bytes`)),
    content, pager(shown, shown.fields.length, size, turn)];
}

function row(field) {
  const event = field.field.match(/^(?:end of |part of )?record @(\d+)$/);
  return make('tr', {}, make('td', { class: 'number mono' }, grouped(field.offset)),
    make('th', { scope: 'row' }, make('span', { class: `swatch tone${field.index % 6}` }), field.field),
    make('td', {}, make('code', { class: `hex tone${field.index % 6}` }, field.bytes.replace(/..(?!$)/g, '$& '),
      field.length > field.size ? ` … ${counted(field.length - field.size, 'more byte')}` : null)),
    make('td', {}, event ? [eventLink(event[1]), ' '] : null, field.value),
    make('td', {}, field.right === null ? null : badge(field.right ? 'right' : 'wrong', field.right ? 'good' : 'bad')));
}
