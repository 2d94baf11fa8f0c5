// Moments as people write and read them, in the time zone of the browser.

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;

const long = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric',
  hour: '2-digit', minute: '2-digit', second: '2-digit' });
const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const month = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' });
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

export const full = time => long.format(time);
const thousandths = time => String(((time % 1000) + 1000) % 1000).padStart(3, '0');
/// With milliseconds, which tell neighbouring events apart.
export const exact = time => `${full(time)}.${thousandths(time)}`;
export const brief = time => short.format(time);
export const precise = time => `${seconds.format(time)}.${thousandths(time)}`;
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function duration(milliseconds) {
  const count = milliseconds / 1000;
  if (count < 1) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (count < 90) return `${count < 10 ? count.toFixed(1) : count.toFixed(0)} s`;
  if (count < 5400) return `${(count / 60).toFixed(0)} min`;
  if (count < 129600) return `${(count / 3600).toFixed(1)} h`;
  return `${(count / 86400).toFixed(1)} d`;
}

/// `tuesday`, `tue 14:00`, `yesterday 9:30`, `14:05`, `2026-05-19`, `2026-05-19 21:30`: the last such moment until
/// `now`, in milliseconds; null for anything else. A day without a time means its end.
export function moment(text, now) {
  const words = text.trim().toLowerCase().replace(/^(\d{4}-\d{2}-\d{2})t/, '$1 ').split(/[\s,]+/);
  if (words.length === 0 || words.length > 2 || words[0] === '') return null;
  const hasClock = clock.test(words.at(-1));
  const time = hasClock ? words.pop().match(clock).slice(1).map(part => Number(part || 0)) : [23, 59, 59];
  if (time[0] > 23 || time[1] > 59 || time[2] > 59 || words.length > 1) return null;
  const date = dayOf(words[0], now);
  if (!date) return null;
  date.setHours(...time, hasClock ? 0 : 999);
  const isWeekday = words[0] && days.some(name => words[0].length >= 3 && name.startsWith(words[0]));
  if (hasClock && date.getTime() > now) date.setDate(date.getDate() - (isWeekday ? 7 : words[0] ? 0 : 1));
  return date.getTime();
}

function dayOf(word, now) {
  const date = new Date(now);
  if (!word || word === 'today') return date;
  if (word === 'yesterday') { date.setDate(date.getDate() - 1); return date; }
  const written = word.match(/^(\d{4})-(\d{2})-(\d{2})$/);
  if (written) return new Date(Number(written[1]), Number(written[2]) - 1, Number(written[3]));
  const weekday = word.length >= 3 ? days.findIndex(name => name.startsWith(word)) : -1;
  if (weekday < 0) return null;
  date.setDate(date.getDate() - (date.getDay() - weekday + 7) % 7);
  return date;
}

const steps = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 2592000, 7776000, 31536000]
  .map(count => count * 1000);

/// The marks of an axis between two times, at most `most`.
export function ticks(from, to, most) {
  const step = steps.find(step => (to - from) / step <= most) || steps.at(-1) * Math.ceil((to - from) / steps.at(-1) / most);
  const offset = new Date(from).getTimezoneOffset() * 60000;
  const format = step < 60000 ? seconds : step < 86400000 ? (to - from > 86400000 ? short : minute) : step < 2592000000 ? day : month;
  const marks = [];
  for (let time = Math.ceil((from - offset) / step) * step + offset; time <= to && marks.length <= most; time += step)
    marks.push({ time, text: format.format(time) });
  return marks;
}
