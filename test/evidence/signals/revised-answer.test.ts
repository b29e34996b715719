import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appraise } from '../../../src/evidence/appraise.ts';
import { isRevisedAnswer } from '../../../src/evidence/signals/revised-answer.ts';
import { turnOf } from '../turn-fixtures.ts';

const FUNCTION =
  'def percent(part, whole):\n    if whole == 0:\n        raise ValueError("zero")\n    return part';
const fenced = (code: string, words = ''): string => `${words}\n\`\`\`python\n${code}\n\`\`\``;

describe('an answer with changes', () => {
  it.each([
    ['a parameter more', fenced(FUNCTION), fenced(FUNCTION.replace('whole):', 'whole, ctx):'))],
    ['other words around it', fenced(FUNCTION), fenced(`# owner: core\n${FUNCTION}`, 'Sure, here it is:')],
    [
      'a line more',
      'The release is on hold.\nThe map has errors.',
      'The release is on hold.\nThe map has errors.\nBack at nine.',
    ],
    ['another class', fenced(FUNCTION), fenced(FUNCTION.replace('ValueError', 'InputError'))],
  ])('is found: %s', (_, first, second) => expect(isRevisedAnswer(first, second)).toBe(true));

  it.each([
    ['the same again', fenced(FUNCTION), fenced(FUNCTION, 'Here it is again:')],
    [
      'another function',
      fenced(FUNCTION),
      fenced('def dedupe(items):\n    return list(dict.fromkeys(items))'),
    ],
    [
      'a like file for something else',
      'port: 8583\ntimeout: 42\nowner: Lucia\ntracing: off',
      'port: 3302\ntimeout: 18\nowner: Sanna\ntracing: on',
    ],
    ['a word', 'Done.', 'Done, too.'],
    [
      'the answer inside a long one',
      fenced(FUNCTION),
      fenced(`${FUNCTION}\n${'print(percent(1, 2))\n'.repeat(30)}`),
    ],
  ])('is none: %s', (_, first, second) => expect(isRevisedAnswer(first, second)).toBe(false));

  it('is never one that did not change, and never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => !isRevisedAnswer(text, text)));
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, two) => typeof isRevisedAnswer(one, two) === 'boolean'),
    );
  });
});

const read = (user: string, isRevised: boolean) =>
  appraise(
    turnOf({
      task: 'Write a Python function percent.',
      reply: [{ type: 'text', text: fenced(FUNCTION) }],
      next: { tools: [], user, ...(isRevised ? { isRevised: true as const } : {}) },
    }),
  );

describe('what changed the answer', () => {
  it.each([
    'With us a function always has one more parameter at the end, named ctx.',
    'Our gate refuses a query that does not open with the comment "-- checked".',
    'For anything that can be switched we write open/closed.',
    'A file without "# owner: support" as its closing line does not pass our check.',
  ])('is a rule of the house where it says so: %s', (said) => {
    expect(read(said, true).correction).toEqual({ quotes: [said], isStanding: true });
  });

  it.each([
    'Below everything goes one line Hazard: with the risk in one word.',
    'I only read the first line, so it has to start with "Key news:".',
    'On top of the query I need a line "-- not for reports".',
  ])('else it counts when it is said again: %s', (said) => {
    const { correction, remark } = read(said, true);
    expect(correction?.quotes ?? remark).toEqual([said]);
    expect(correction?.isStanding ?? false).toBe(false);
  });

  it('is quoted with the sentence that names what it is about', () => {
    const { correction } = read(
      'Where is ctx? We pass it to each function, behind the other parameters.',
      true,
    );
    expect(correction?.quotes).toEqual([
      'Where is ctx?',
      'We pass it to each function, behind the other parameters.',
    ]);
  });

  it.each([
    'Our deploy runs today at five.',
    'Our server is slow, so the cache helps.',
    'With us it is quiet today.',
  ])('is no rule where it tells of one moment: %s', (said) =>
    expect(read(said, true).correction).toBeUndefined(),
  );

  it.each([
    'Can we always use the cache?',
    'Is this how our tests look?',
    'See https://tracker.example/1234 for the details.',
    'thanks, that is it',
  ])('is nothing to learn from as a question, a link or thanks: %s', (said) => {
    const { correction, remark } = read(said, true);
    expect({ correction, remark }).toEqual({ correction: undefined, remark: undefined });
  });

  it('is looked at closely where the answer did not change', () => {
    const said = 'Below everything goes one line Hazard: with the risk in one word.';
    expect(read(said, false)).toMatchObject({ signals: [] });
    expect(read(said, false).remark).toBeUndefined();
  });
});
