import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LabelledSpan } from '../../../src/core/reading.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { isRepeatable } from '../../../src/evidence/signals/read-reaction.ts';
import { turnOf } from '../turn-fixtures.ts';

const reactionTo = (user: string, reply = 'Done. The change is in place.'): string => {
  const { signals } = appraise(turnOf({ reply: [{ type: 'text', text: reply }], next: { tools: [], user } }));
  return signals.map(({ name }) => name).join(' ');
};
interface LabelledMessage {
  readonly reaction: 'correction' | 'thanks' | 'neither';
  readonly user: string;
}
const MESSAGES = readFileSync(path.resolve(import.meta.dirname, 'reactions.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as LabelledMessage);
const messagesOf = (wanted: LabelledMessage['reaction']): readonly string[] =>
  MESSAGES.filter(({ reaction }) => reaction === wanted).map(({ user }) => user);

describe("the user's next message", () => {
  it.each(messagesOf('correction'))('%j is a correction', (user) => {
    expect(reactionTo(user)).toMatch(/^user-(corrected|doubted)$/);
  });

  it.each(messagesOf('thanks'))('%j is thanks', (user) => expect(reactionTo(user)).toBe('user-thanked'));

  it.each(messagesOf('neither'))('%j is neither', (user) => expect(reactionTo(user)).toBe(''));

  it('is an answer when it is a bare no after a question (not when it says what is wrong)', () => {
    expect(reactionTo('no', 'Done. Shall I also update the docs?')).toBe('');
    expect(reactionTo("no, that's wrong", 'Done. Shall I also update the docs?')).toBe('user-corrected');
  });

  it('counts only what the user typed (not insertions of the client, quotes or pastes)', () => {
    expect(reactionTo("<system-reminder>that's wrong, undo that</system-reminder>")).toBe('');
    expect(reactionTo('Translate this:\n> no, that is wrong\n> still failing')).toBe('');
    expect(reactionTo("Explain this:\n```\nthat's wrong\n```")).toBe('');
    expect(reactionTo('[Sun 2026-11-15 03:41 UTC] no, wrong')).toBe('user-corrected');
    expect(
      reactionTo('<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nwrong\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>thanks'),
    ).toBe('user-thanked');
  });

  it('is a correction when it is only a stack trace (not when a new task comes with it)', () => {
    const trace = '$ npm start\nTypeError: x is not a function\n    at main (/w/src/app.js:3:1)';
    expect(reactionTo(trace)).toBe('user-corrected');
    expect(reactionTo(`we also need to look at this one from production:\n${trace}`)).toBe('');
    expect(reactionTo('then we need to tackle this:\n{"text":"that is wrong"}\n Error: 400 no, wrong')).toBe(
      '',
    );
  });

  it('is a correction when it complains about the subject of the turn (about another subject it is a task)', () => {
    expect(reactionTo('The chart is empty.', 'The chart is on the dashboard.')).toBe('user-corrected');
    expect(reactionTo('The chart is empty.', 'The footer is there.')).toBe('');
  });

  it('is neither when it repeats the same request (heartbeats and timers repeat themselves)', () => {
    const task = 'Read HEARTBEAT.md and follow it';
    expect(appraise(turnOf({ task, next: { tools: [], user: task } })).verdict).toBe('ambiguous');
  });

  it('is a correction when a complaint follows the thanks', () => {
    expect(reactionTo('Danke, aber der Filter findet nichts')).toBe('user-corrected');
    expect(reactionTo('Thanks, but could you also add a test?')).toBe('user-thanked');
  });

  it('is quoted without the next piece of work behind it, and what stands there is no remark', () => {
    const read = (user: string) =>
      appraise(turnOf({ reply: [{ type: 'text', text: 'Done.' }], next: { tools: [], user } }));
    const work = 'ticket 41, from Ann. The list of rooms goes into rooms.csv.';
    expect(read(`That is wrong, the total is missing.\n\n${work}`).correction?.quotes).toEqual([
      'That is wrong, the total is missing.',
    ]);
    expect(read(`No.\n\nThe total is missing in the table.`).correction?.quotes).toHaveLength(2);
    expect(read(`Well done.\n\nRoom 4 is free on Monday. Which rooms are free?`).remark).toBeUndefined();
  });

  it('holds no remark in what a model read and left out: it is the request (a fact that it named is one)', () => {
    const columns = 'Columns should include: date, metric_name, value, unit.';
    const user = `Correct!\n\nPlease export the metrics as a CSV file. ${columns}`;
    const read = (spans: readonly LabelledSpan[]) =>
      appraise(turnOf({ reply: [{ type: 'text', text: 'Done.' }], next: { tools: [], user, spans } }));
    const thanks: LabelledSpan = { quote: 'Correct!', kind: 'thanks' };
    expect(read([thanks]).remark).toBeUndefined();
    expect(read([thanks, { quote: columns, kind: 'fact' }]).remark).toEqual([columns]);
  });

  it('says nothing about an auxiliary call', () => {
    expect(appraise(turnOf({ role: 'aux', next: { tools: [], user: 'wrong' } })).verdict).toBe('ambiguous');
  });
});

describe('what counts when it is said again', () => {
  it.each([
    ['we keep the tests beside the code', true],
    ['money is integer cents in our system', true],
    // An aside, and words about oneself, also in brackets or quotation marks.
    ["(i don't know the author)", false],
    ["i don't know the author", false],
    ['"i wonder', false],
    ['(tests are slow today)', false],
    ['（以后再说吧我觉得）', false],
  ])('%j: %s', (sentence, expected) => {
    expect(isRepeatable(sentence)).toBe(expected);
  });
});
