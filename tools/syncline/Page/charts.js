// Charts of the whole history: lines and bars.

import { bytes, counted, draw, grouped, make, note } from './dom.js';
import { pictureSaver } from './share.js';
import { duration } from './times.js';

const width = 640, height = 170, left = 64, right = 8, head = 12, foot = 24;

function lines(title, description, points, series, format) {
  const most = Math.max(1, ...points.flatMap(point => series.map(one => point[one.name])));
  const x = index => left + (width - left - right) * (points.length > 1 ? index / (points.length - 1) : 0);
  const y = value => head + (height - head - foot) * (1 - value / most);
  const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img' }, draw('title', {}, `${title}. ${description}`));
  for (const share of [0, .5, 1]) svg.append(
    draw('line', { class: 'axis', x1: left, x2: width - right, y1: y(most * share), y2: y(most * share) }),
    draw('text', { class: 'label', x: left - 8, y: y(most * share) + 4, 'text-anchor': 'end' }, format(most * share)));
  svg.append(draw('text', { class: 'label', x: left, y: height - 6 }, '@' + grouped(points[0].n)),
    draw('text', { class: 'label', x: width - right, y: height - 6, 'text-anchor': 'end' }, '@' + grouped(points.at(-1).n)));
  for (const one of series) svg.append(draw('polyline', { class: one.style,
    points: points.map((point, index) => `${x(index).toFixed(1)},${y(point[one.name]).toFixed(1)}`).join(' ') }));
  return figure(title, description, svg);
}

export const figure = (title, description, svg) => make('figure', {}, make('figcaption', {}, title, ' ', pictureSaver(title.toLowerCase().replaceAll(' ', '-'), svg)),
  note(description), svg);

function bars(title, description, segments) {
  const most = Math.max(1, ...segments.map(one => one.rawBytes)), step = width / Math.max(1, segments.length);
  const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img' }, draw('title', {}, `${title} by segment. ${description}`));
  const bar = (style, index, value) => draw('rect', { class: style, x: index * step + step * .1, width: Math.min(step * .8, 64),
    y: head + (height - foot - head) * (1 - value / most), height: (height - foot - head) * value / most });
  segments.forEach((segment, index) => {
    svg.append(bar('back', index, segment.rawBytes), bar('bar', index, segment.bytes));
    if (segments.length <= 20) svg.append(draw('text', { class: 'label', x: index * step + step * .1, y: height - 6 }, segment.address));
  });
  return figure(title, description + ' The whole bar is the size before compression, the part in colour the size on the disk.', svg);
}

export function charts(found) {
  const points = found.points, newest = points.at(-1);
  if (!newest) return [make('h2', {}, 'Charts'), note('There is nothing to draw yet.')];
  const sum = name => found.segments.reduce((sum, segment) => sum + segment[name], 0);
  const stored = sum('bytes'), raw = sum('rawBytes');
  const whole = value => grouped(Math.round(value));
  return [make('h2', {}, 'Charts'),
    lines('Changes', `${grouped(newest.made)} made (solid), ${grouped(newest.done)} settled (dashed).`, points,
      [{ name: 'made', style: 'one' }, { name: 'done', style: 'two' }], whole),
    lines('Operations to push', `${counted(newest.pending, 'operation')} now.`, points, [{ name: 'pending', style: 'one' }], whole),
    lines('Age of the oldest pending change', newest.pending ? `${duration(newest.age)} now.` : 'There are no pending changes.', points,
      [{ name: 'age', style: 'one' }], duration),
    lines('Events in the log', `${bytes(newest.bytes)} before compression.`, points, [{ name: 'bytes', style: 'one' }], bytes),
    bars('Compression', `${bytes(raw)} are kept in ${bytes(stored)}${stored ? `, ${(raw / stored).toFixed(1)} : 1` : ''}.`, found.segments)];
}
