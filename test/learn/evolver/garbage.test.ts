import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/chat.ts';
import type { Library } from '../../../src/core/library.ts';
import { createEvolver } from '../../../src/learn/evolver/evolver.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { add, text as lessonText } from '../../lessons/library/samples.ts';
import { runsOf } from '../../support/counts.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { asker, speaker, text } from '../ask/samples.ts';
import { failure, goodSkill, learnFrom, libraryWith } from './samples.ts';

const HOSTILE = [
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'a\0b',
  'con.md',
  '\u202egnp',
  'skill\u200b',
  'аmounts',
  '-rf',
  'A'.repeat(100),
  '',
  '---js',
  'known-skill',
  '![x](https://evil.example/x.png)',
  '\ud800',
  '</skills>',
  'mark-1>>>',
];

const hostileWord = fc.oneof(fc.constantFrom(...HOSTILE), fc.string(), fc.string({ unit: 'binary' }));
const anyValue = fc.jsonValue({ maxDepth: 4 });

/** A skill with some valid fields. */
const brokenSkill = fc
  .tuple(
    fc.subarray(Object.keys(goodSkill)),
    fc.dictionary(
      fc.constantFrom('name', 'description', 'content', 'category', 'revises', 'quotes', '__proto__', 'x'),
      fc.oneof(hostileWord, anyValue),
    ),
  )
  .map(([kept, over]) => ({
    ...Object.fromEntries(Object.entries(goodSkill).filter(([key]) => kept.includes(key))),
    ...over,
  }));

const good = JSON.stringify([goodSkill]);

/** Each draws two replies, of which the second is asked for when the first cannot be read. */
const RUNS = runsOf(250, 700);

const reply = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.nat({ max: good.length - 1 }).map((at) => good.slice(0, at)),
  fc
    .tuple(fc.nat({ max: good.length - 1 }), fc.string({ maxLength: 3 }))
    .map(([at, put]) => good.slice(0, at) + put + good.slice(at + 1)),
  anyValue.map((value) => JSON.stringify(value)),
  fc.array(brokenSkill, { maxLength: 6 }).map((skills) => JSON.stringify(skills)),
  fc
    .tuple(brokenSkill, brokenSkill)
    .map(([one, other]) => `Sure:\n\`\`\`json\n${JSON.stringify({ skills: [one, other] })}\n\`\`\``),
  fc.integer({ min: 1, max: 3000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 3000 }).map((depth) => '{"a":'.repeat(depth)),
);

describe('garbage from a model', () => {
  let library: Library;
  beforeAll(async () => {
    library = await libraryWith(add('k1', { text: lessonText({ name: 'known-skill' }) }));
  });

  const learn = async (...replies: readonly (readonly ChatEvent[])[]) => {
    const evolver = createEvolver({
      maxNewSkills: 3,
      nearest: async () => library.lessons(),
      checkText: checkLessonText,
    });
    const { model, requests } = speaker(...replies);
    const learned = await learnFrom(evolver, [failure()], { library, ask: asker(model).ask });
    return { ...learned, heard: requests.length };
  };

  it('never throws, proposes no invalid skill and does not change the library, whatever the replies', async () => {
    const before = JSON.stringify(library.lessons());
    let proposed = 0;
    let replies = 0;
    await fc.assert(
      fc.asyncProperty(reply, reply, async (first, second) => {
        const { proposals, stuck, heard } = await learn(text(first), text(second));
        replies += heard;
        expect(proposals.length + stuck.length).toBeGreaterThan(0);
        expect(proposals.length).toBeLessThanOrEqual(3);
        for (const proposal of proposals) {
          proposed++;
          const { change } = proposal;
          expect(
            change.op === 'retire' ? undefined : checkLessonText(proposedText(proposal)),
          ).toBeUndefined();
          expect(change.op === 'revise' || change.op === 'retire' ? change.id : 'k1').toBe('k1');
        }
      }),
      RUNS,
    );
    expect(JSON.stringify(library.lessons())).toBe(before);
    expect(library.generation).toBe(1);
    expect(replies).toBeGreaterThan(1.28 * RUNS.numRuns);
    // Some replies are valid: else the test would prove nothing.
    expect(proposed).toBeGreaterThan(0);
    expect(proposed).toBeLessThan(1500);
  });

  it.each([
    ['10 MB of words', 'word '.repeat(2_000_000)],
    ['10 MB of JSON', `[${'{"name":"a"},'.repeat(700_000)}0]`],
    [
      '10,000 skills',
      JSON.stringify(Array.from({ length: 10_000 }, (_, at) => ({ ...goodSkill, name: `skill-${at}` }))),
    ],
    [
      'a skill of a megabyte',
      JSON.stringify([{ ...goodSkill, content: goodSkill.content + 'x'.repeat(900_000) }]),
    ],
    ['the same skill twice', JSON.stringify([goodSkill, goodSkill])],
    ['a refusal', 'I am sorry, but I cannot help with that.'],
    ['a copy of a skill that exists', JSON.stringify([{ ...goodSkill, name: 'known-skill' }])],
  ])('makes no more of %s than it says', async (_, said) => {
    const { proposals, stuck } = await learn(text(said));
    expect(proposals.length).toBeLessThanOrEqual(said.includes(goodSkill.description) ? 3 : 0);
    expect(proposals.length === 0 ? stuck.length : 1).toBe(1);
    for (const proposal of proposals) expect(proposedText(proposal).content.length).toBeLessThan(8192);
  });

  it('is not accepted from a reply that stops before its end', async () => {
    const open: readonly ChatEvent[] = [
      { type: 'reply-start', id: 'r', model: 'm' },
      { type: 'text-delta', text: good },
    ];
    expect(await learn(open)).toMatchObject({ proposals: [], stuck: [{ isRetryable: true }] });
  });
});
