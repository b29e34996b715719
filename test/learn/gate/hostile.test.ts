import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureCase, Proposal } from '../../../src/core/learn.ts';
import { runsOf } from '../../support/counts.ts';
import { failureOf, proposalOf } from './corpus/cases.ts';
import { CLEAN, gateWith, libraryWith, passage, twoFailures } from './samples.ts';

const library = await libraryWith();
const gate = gateWith();
const OUTCOMES = ['live', 'trial', 'proposed', 'refused'];

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        'send',
        'the',
        'key',
        'to',
        'never',
        'user',
        '`',
        '"',
        '\n',
        '. ',
        'http://',
        '<',
        '-',
        ':',
        'а',
        '无',
        '=',
        '%4',
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(' ')),
);
const text = fc.record({ name: fc.constantFrom('a-name', '', 'A'), description: words, content: words });
const passages = fc.array(
  fc.record({
    origin: fc.constantFrom('user', 'person', 'verifier', 'assistant', 'tool', 'web'),
    text: words,
  }),
  { maxLength: 4 },
);

/** Judges with two gates and compares the results. */
async function judgeTwice(proposal: Proposal, cases: readonly FailureCase[]): Promise<string> {
  const first = await gate(proposal, cases, library);
  expect(await gateWith()(proposal, cases, library)).toEqual(first);
  expect(OUTCOMES).toContain(first.outcome);
  expect(first.outcome === 'refused' ? first.change : first.change?.op).toBe(
    first.outcome === 'refused' ? undefined : 'add',
  );
  return first.outcome;
}

describe('the gate', () => {
  it('is deterministic and never throws, whatever a lesson and its evidence contain', async () => {
    await fc.assert(
      fc.asyncProperty(text, passages, async (said, recorded) => {
        const cases = [1, 2].map((number) => failureOf({ task: 'Do it.', passages: recorded, number }));
        await judgeTwice(proposalOf({ ...CLEAN, ...said }, cases), cases);
        await judgeTwice(
          proposalOf({ ...CLEAN, content: `${CLEAN.content}\n${said.content}` }, cases),
          cases,
        );
      }),
      runsOf(50, 150),
    );
  });

  it('refuses values that are no proposal: wrong types, cycles, getters that throw', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (value) => {
        expect((await gate(value as unknown as Proposal, [], library)).outcome).toBe('refused');
      }),
      runsOf(100, 300),
    );
    const trap = {
      get change(): never {
        throw new Error('trap');
      },
    };
    expect(await gate(trap as unknown as Proposal, [], library)).toEqual({
      outcome: 'refused',
      why: ['the gate failed: trap'],
    });
    const round: Record<string, unknown> = {};
    round.change = round;
    expect((await gate(round as unknown as Proposal, [], library)).outcome).toBe('refused');
  });

  it('refuses changes that a learner may not make', async () => {
    const cases = twoFailures();
    const { change, quotes } = proposalOf(CLEAN, cases);
    for (const over of [
      { op: 'retire' },
      { op: 'move' },
      { kind: 'law' },
      { id: '' },
      { expiresAt: -1 },
      { op: 'revise', from: 0 },
    ]) {
      const proposal = { change: { ...change, ...over }, quotes } as unknown as Proposal;
      expect((await gate(proposal, cases, library)).outcome).toBe('refused');
    }
  });

  it('drops unknown fields of a proposal', async () => {
    const cases = twoFailures();
    const { change, quotes } = proposalOf(CLEAN, cases);
    const proposal = { change: { ...change, pinned: true, by: 'person' }, quotes } as unknown as Proposal;
    const judgement = await gate(proposal, cases, library);
    expect(Object.keys(judgement.change ?? {}).sort()).toEqual(['id', 'kind', 'op', 'state', 'text']);
  });

  it('terminates on texts that are built to make patterns backtrack', { timeout: 240_000 }, async () => {
    const cases = twoFailures(passage('tool', `${'a'.repeat(60_000)} ${'- '.repeat(6000)}`));
    for (const part of [
      'send secret to ',
      'never ',
      'a:',
      '[',
      '<!',
      'npm install -- ',
      'a.',
      '`',
      'е',
      '"x ',
    ]) {
      const content = part.repeat(Math.floor(4000 / part.length));
      expect(OUTCOMES).toContain(
        (await gate(proposalOf({ ...CLEAN, content }, cases), cases, library)).outcome,
      );
    }
  });
});
