// The debugger: questions that replay the log. Each is a command of the tool, which stands beside its answer.

import { badge, button, command, counted, grouped, make, note, problem } from './dom.js';
import { moment, own, show, state, store, tell } from './store.js';
import { changes, eventLink, rowLink } from './fields.js';

const labelled = (text, input, hint) => make('label', { class: hint ? 'whole' : null }, make('span', {}, text), input, hint ? make('small', {}, hint) : null);
const field = (name, value, placeholder, required) => make('input', { name, type: 'text', value: value || '', placeholder, required,
  autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });

function question(kind, title, words, inputs, ask, answer) {
  const output = make('div', { class: 'result', 'aria-live': 'polite' });
  const submit = make('button', { class: 'primary' }, ask);
  const form = make('form', { class: 'line-form', onsubmit: async event => {
    event.preventDefault();
    submit.disabled = true;
    delete output.dataset.done;
    output.replaceChildren(make('p', { class: 'note working' }, 'Replaying the log…'));
    try {
      const asked = Object.fromEntries(new FormData(form));
      if (state.view === 'debugger') show({ own: { ask: kind, ...asked } });
      const found = await tell('debug/' + kind, asked);
      output.replaceChildren(...[...answer(found), found.warnings ? make('p', { class: 'problem' }, found.warnings) : null,
        make('p', { class: 'note' }, 'The same in a shell: ', command(found.command))].flat(3).filter(Boolean));
    } catch (error) { output.replaceChildren(problem(error)); }
    submit.disabled = false;
    output.dataset.done = kind;
  } }, inputs, submit);
  return make('article', { class: 'card question', id: 'ask-' + kind }, make('h3', {}, title), note(words), form, output);
}

export function questions() {
  const prepared = own();
  // What the address asks is asked at once; its other members are those of the form.
  const of = (kind, name) => prepared.ask === kind ? prepared[name] : '';
  const here = '@' + moment();
  const row = state.row ? `${state.row.table}/${state.row.id}` : 'notes/r1';
  setTimeout(() => {
    const chosen = document.getElementById('ask-' + prepared.ask);
    if (!chosen) return;
    chosen.scrollIntoView({ block: 'nearest' });
    chosen.querySelector('input, select').focus();
    chosen.querySelector('form').requestSubmit();
  }, 0);
  return [make('h2', {}, 'Debugger'),
    question('bisect', 'When did it begin?', 'The first event after which a condition is true: of a row, a field, the rows of a table, the outbox or the conflicts. A count alone: the first event that changed it.', [
      labelled('Condition', field('condition', of('bisect', 'condition'), `${row}.text eq 'milk'`, true), `${row} · not ${row} · count(notes: done) ge 10 · pending gt 100 · conflicts ge 1`),
      labelled('From', field('from', of('bisect', 'from'), '@1')), labelled('To', field('to', of('bisect', 'to'), '@' + store.last))], 'Search', bisected),
    question('without', 'What if it had not happened?', 'The log is replayed without some events. What the server sent stays as it was.', [
      labelled('Events', field('events', of('without', 'events') || here, '@41 or @41..57', true))], 'Replay', varied),
    question('policy', 'What would another policy have done?', 'The conflicts of pushes are decided by a policy, instead of the decisions that were made.', [
      labelled('Policy', make('select', { name: 'policy' }, ['server-wins', 'client-wins', 'merge', 'fail'].map(name => make('option', { selected: of('policy', 'policy') === name }, name))))], 'Replay', varied),
    question('compare', 'What differs?', 'This moment compared with another one, with another store or a report, or with the server.', [
      labelled('With', field('with', of('compare', 'with'), '@41, ../other/.syncline or server', true)),
      labelled('Moment', field('from', of('compare', 'from') || here, here)),
      labelled('Table', make('select', { name: 'table' }, make('option', { value: '' }, 'all tables'), store.tables.map(name => make('option', { selected: of('compare', 'table') === name }, name))))], 'Compare', compared)];
}

function bisected(found) {
  const answer = found.lines[0] || {};
  if (answer.event) {
    const number = answer.event.address.slice(1);
    return [make('p', { class: 'lead' }, eventLink(number), ' ', badge(answer.event.kind, 'kind ' + answer.event.kind)),
      make('p', { class: 'actions' }, button('Show the event', () => show({ at: Number(number), view: 'event' }))),
      answer.count ? make('p', {}, `${grouped(answer.count.before)} before it, ${grouped(answer.count.after)} after it`) : null,
      note(`searched ${answer.searched}, ${counted(answer.examined, 'event')} examined`)];
  }
  return [make('p', { class: 'lead' }, never(answer))];
}

/// That no event made a condition true, or changed a count.
export const never = answer => !answer.searched ? 'There are no events to search.'
  : answer.count ? `It was ${answer.count.after} in all of ${answer.searched}.`
  : answer.heldBefore ? `It was true before ${answer.searched}, and did not become true again in it.` : `It never became true in ${answer.searched}.`;

function varied(found) {
  const answer = found.lines[0] || {};
  const count = answer.differencesCount || (answer.differences || []).length;
  const list = (title, elements, line) => elements && elements.length ? [make('h4', {}, title), make('ul', { class: 'plain' }, elements.slice(0, 200).map(element => make('li', {}, line(element))))] : null;
  return [make('p', { class: 'lead' }, count ? `${counted(count, 'row')} would differ.` : 'No row would differ.'),
    note(`Operations to push: ${grouped(answer.pending.before)} → ${grouped(answer.pending.after)}`),
    list('Resolved differently', answer.decisions, made => [eventLink(made.event.slice(1)), ` ${made.choice} for `, rowLink(made.table, made.id)]),
    list('Left out', answer.leftOut, event => eventLink(event.slice(1))),
    list('Impossible', answer.impossible, step => [eventLink(step.event.slice(1)), ` ${step.reason}`]),
    differences(answer.differences || [], count)];
}

const compared = found => [make('p', { class: 'lead' }, found.count ? `${counted(found.count, 'row')} differ${found.count === 1 ? 's' : ''}.` : 'Nothing differs.'),
  differences(found.lines, found.count)];

const differences = (rows, count) => [rows.slice(0, 200).map(row => make('section', { class: 'difference' },
  make('h4', {}, badge(row.change, row.change), ' ', rowLink(row.table, row.id)), changes(row.fields))),
count > 200 ? note(`and ${grouped(count - 200)} more`) : null];

