import { describe, expect, it } from 'vitest';
import type { Author, Change, LessonText } from '../../src/core/lesson.ts';
import { TEAM } from '../../src/core/principal.ts';
import { createChangeSetDraft } from '../../src/lessons/apply-change.ts';
import { createLibraryState } from '../../src/lessons/library-state.ts';
import { isPersonsWord } from '../../src/lessons/told.ts';
import { add, instar, person, text } from './library/samples.ts';

const QUOTE = 'The user said:\n\n> use pnpm, not npm\n\nThe task was:\n\n> add zod';
const by = (learner: string, turns: readonly string[] = ['t1']): LessonText['evidence'] => ({
  turns,
  quotes: [],
  learner,
});
const note = (source: LessonText['note']['source'], more: Partial<LessonText['note']> = {}) => ({
  ...text().note,
  source,
  ...more,
});
/** What a person said in a chat, as the learner that quotes writes it. */
const chat = (over: Partial<LessonText> = {}): LessonText =>
  text({ content: QUOTE, evidence: by('distiller'), ...over });

describe('a person’s word', () => {
  it.each<[string, Partial<LessonText>]>([
    ['a quote of the chat', { content: QUOTE, evidence: by('distiller') }],
    ['a note that quotes', { content: QUOTE, evidence: by('notes') }],
    ['a file', { note: note('told'), evidence: by('file') }],
    ['the page, a command', { note: note('told'), evidence: by('person', []) }],
    ['an imported memory file', { note: note('told'), evidence: by('import') }],
    [
      'a model’s lesson with the quote',
      {
        content: 'Install with pnpm.\nThe user said: "use pnpm, not npm" (2 times)',
        evidence: by('evolver'),
      },
    ],
    ['a model’s lesson that a person edited', { note: note('told'), evidence: by('evolver') }],
  ])('is %s', (_, over) => {
    expect(isPersonsWord({ text: text(over) })).toBe(true);
  });

  it.each<[string, Partial<LessonText>]>([
    ['a starter skill', { note: note('told'), evidence: by('starter') }],
    ['a lesson from outcomes', { evidence: by('evolver') }],
    ['the memory of another program', { note: note('inferred'), evidence: by('import') }],
    ['an experience of practice', { note: note('practice'), evidence: by('practice') }],
    ['a command that worked', { content: 'When this error came up again:', evidence: by('distiller') }],
    [
      'what a check said',
      { content: 'A check said:\n\n> no tabs', note: note('told'), evidence: by('distiller') },
    ],
    ['the task of a quote', { content: 'The task was:\n\n> use pnpm, not npm', evidence: by('notes') }],
    ['the team’s copy', { content: QUOTE, scope: { member: TEAM }, evidence: by('distiller') }],
    ['a copy for another agent', { content: QUOTE, note: note('inferred'), evidence: by('transfer') }],
  ])('is not %s', (_, over) => {
    expect(isPersonsWord({ text: text(over) })).toBe(false);
  });
});

const learnerNamed = (name: string): Author => ({ kind: 'learner', name });
const measurement: Author = { kind: 'instar', name: 'measurement' };

/** A library with what a person said, and with a later word of the same person and of another one. */
function shelf(isRecorded = false) {
  const state = createLibraryState();
  let sets = 0;
  const apply = (change: Change, author: Author = person): string => {
    const draft = createChangeSetDraft(state, author, ++sets, isRecorded);
    const result = draft.apply(change);
    state.commit(draft, { id: `s${sets}`, by: author, reason: '', at: sets });
    return result.status === 'refused' ? result.why : result.status;
  };
  apply(add('told', { text: chat({ name: 'told' }) }));
  apply(add('newer', { text: chat({ name: 'newer', evidence: by('distiller', ['t2']) }) }));
  apply(
    add('other', {
      text: chat({ name: 'other', scope: { member: 'k_12345678' }, evidence: by('distiller', ['t3']) }),
    }),
  );
  apply(add('learned', { text: text({ name: 'learned', evidence: by('evolver', ['t4']) }) }));
  return { apply, lesson: (id: string) => state.lesson(id) };
}
const retire = (more: object = {}): Change => ({ op: 'retire', id: 'told', reason: 'why', ...more });
const revise = (over: Partial<LessonText>): Change => ({
  op: 'revise',
  id: 'told',
  from: 1,
  text: chat({ name: 'told', ...over }),
});
const KEPT = /a person's word/;

describe('what a person told', () => {
  it.each<[string, Change, Author]>([
    ['retired by a measurement', retire(), measurement],
    ['retired for its age', retire(), instar],
    ['retired by a model', retire({ turns: ['t9'] }), learnerNamed('evolver')],
    ['retired by a learner that names no turn of the person', retire(), learnerNamed('distiller')],
    ['retired for a learned lesson', retire({ supersededBy: 'learned' }), measurement],
    ['retired for the word of another person', retire({ supersededBy: 'other' }), measurement],
    ['sent back to wait', { op: 'move', id: 'told', to: 'proposed' }, measurement],
    ['given an end', { op: 'expire', id: 'told', expiresAt: 5 }, measurement],
    ['reworded by a model', revise({ content: 'Prefer pnpm.' }), learnerNamed('evolver')],
    [
      'reworded without a newer word',
      revise({ content: 'The user said:\n\n> whatever' }),
      learnerNamed('distiller'),
    ],
    [
      'merged away by a measurement',
      { op: 'merge', ids: ['newer', 'told'], into: 'newer', from: 1, text: chat({ name: 'newer' }) },
      measurement,
    ],
    [
      'merged into a text without its words',
      { op: 'merge', ids: ['learned', 'told'], into: 'learned', from: 1, text: text({ name: 'learned' }) },
      learnerNamed('practice'),
    ],
  ])('is not %s', (_, change, author) => {
    const { apply, lesson } = shelf();
    const before = lesson('told');
    expect(apply(change, author)).toMatch(KEPT);
    expect(lesson('told')).toBe(before);
  });

  it.each<[string, Change, Author]>([
    ['ended by a person', retire(), person],
    ['ended by what the same person took back', retire({ turns: ['t9'] }), learnerNamed('notes')],
    ['replaced by a newer word of the same person', retire({ supersededBy: 'newer' }), measurement],
    [
      'added to by the same person',
      revise({ content: 'The user said:\n\n> pnpm 9, not npm', evidence: by('distiller', ['t1', 't9']) }),
      learnerNamed('distiller'),
    ],
    [
      'explained by a model that keeps the words',
      revise({
        content: 'Install with pnpm.\nThe user said: "use pnpm, not npm"',
        evidence: by('evolver', ['t1']),
      }),
      learnerNamed('evolver'),
    ],
    ['linked', revise({ note: note('experience', { links: ['newer'] }) }), measurement],
    ['erased', retire(), { kind: 'instar', name: 'erasure' }],
    ['moved to its owner', revise({ scope: { member: 'k_12345678' } }), { kind: 'instar', name: 'owners' }],
  ])('is %s', (_, change, author) => {
    expect(shelf().apply(change, author)).toBe('applied');
  });

  it('stays as the record has it where an earlier version retired it', () => {
    const { apply, lesson } = shelf(true);
    expect(apply(retire(), measurement)).toBe('applied');
    expect(lesson('told')?.state).toBe('retired');
  });
});
