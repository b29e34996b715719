import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { Appraisal, TurnEvidence } from '../../../src/core/evidence.ts';
import { createDayBudget } from '../../../src/cost/day-budget.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { createCalibration } from '../../../src/evidence/judge/calibration.ts';
import { digestTurn } from '../../../src/evidence/judge/digest-turn.ts';
import { fenceData } from '../../../src/evidence/judge/fence-data.ts';
import {
  blindEvidence,
  createJudge,
  createRulingCache,
  type JudgeRuling,
} from '../../../src/evidence/judge/judge.ts';
import { runsOf } from '../../support/counts.ts';
import { callOf, turnOf } from '../turn-fixtures.ts';
import { asking } from './scripted-ask.ts';

const never = new AbortController().signal;
const vote = (score: number, reason = `because ${score}`) => ({ score, reason });
const open: Appraisal = { turn: 't1', verdict: 'ambiguous', signals: [], digests: [] };

/** A judge with these votes, and the number of questions it was asked. */
const ruleOn = async (
  votes: readonly unknown[],
  evidence: TurnEvidence = turnOf(),
  wanted = 3,
): Promise<{ readonly ruling: JudgeRuling; readonly asked: number }> => {
  const { ask, prompts } = asking((_, count) => votes[count - 1]);
  const ruling = await createJudge({ ask, votes: wanted })(evidence, open, never);
  return { ruling, asked: prompts.length };
};

describe('a judge', () => {
  it.each([
    [[1, 1], 1, 2],
    [[-1, -1], -1, 2],
    [[1, -1, 1], 1 / 3, 3],
    [[1, 0, 1], 2 / 3, 3],
    [[0, -1, -1], -2 / 3, 3],
  ])('with the votes %j rules %d after %i questions', async (scores, score, questions) => {
    const { ruling, asked } = await ruleOn(scores.map((one) => vote(one)));
    expect(ruling).toMatchObject({
      kind: 'ruled',
      reward: { source: 'judge', note: `because ${Math.sign(score)}` },
    });
    expect(ruling.kind === 'ruled' && ruling.reward.score).toBeCloseTo(score, 9);
    expect(asked).toBe(questions);
  });

  it.each([
    ['a tie', [1, -1, 0], 3],
    ['unclear, as soon as no side can win', [0, 0], 2],
    ['split by an unclear vote', [1, 0, 0], 3],
  ])('is undecided: %s', async (_, scores, questions) => {
    const { ruling, asked } = await ruleOn(scores.map((one) => vote(one)));
    expect(ruling).toMatchObject({
      kind: 'unknown',
      isRetryable: false,
      why: expect.stringContaining('no majority'),
    });
    expect(asked).toBe(questions);
  });

  it('requires more than half of an even number of votes', async () => {
    expect(
      (
        await ruleOn(
          [1, -1].map((one) => vote(one)),
          turnOf(),
          2,
        )
      ).ruling.kind,
    ).toBe('unknown');
    expect(
      (
        await ruleOn(
          [1, 1].map((one) => vote(one)),
          turnOf(),
          2,
        )
      ).ruling.kind,
    ).toBe('ruled');
    expect((await ruleOn([vote(-1)], turnOf(), 1)).ruling.kind).toBe('ruled');
  });

  it('rules with the majority, whatever the votes are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 3, 5),
        fc.array(fc.constantFrom(1, 0, -1), { minLength: 5, maxLength: 5 }),
        async (wanted, scores) => {
          const { ruling, asked } = await ruleOn(
            scores.map((one) => vote(one)),
            turnOf(),
            wanted,
          );
          const cast = scores.slice(0, wanted);
          const majority = [1, -1].find((side) => cast.filter((one) => one === side).length > wanted / 2);
          expect(ruling.kind === 'ruled' ? Math.sign(ruling.reward.score) : undefined).toBe(majority);
          expect(asked).toBeLessThanOrEqual(wanted);
        },
      ),
      runsOf(13, 40),
    );
  });

  it('counts an unusable reply as no vote', async () => {
    const { ask } = asking((user) => (user.includes('cannot be used') ? 'still nothing' : 'nothing'));
    expect(await createJudge({ ask })(turnOf(), open, never)).toMatchObject({
      kind: 'unknown',
      isRetryable: false,
      votes: { success: 0, failure: 0, unclear: 0, spoiled: 2 },
    });
  });

  it('stops when the model is unavailable, the budget is spent or it is aborted, and is retryable', async () => {
    const gone = asking(() => undefined);
    expect(await createJudge({ ask: gone.ask })(turnOf(), open, never)).toMatchObject({
      kind: 'unknown',
      isRetryable: true,
    });
    expect(gone.prompts).toHaveLength(2);
    const tooSmall = createDayBudget({ limits: { tokens: 9 }, setting: 'learn.budget', clock: systemClock });
    const poor = asking(() => vote(1), tooSmall);
    expect(await createJudge({ ask: poor.ask })(turnOf(), open, never)).toMatchObject({
      why: expect.stringContaining('learn.budget.tokensPerDay'),
      isRetryable: true,
    });
    expect(poor.prompts).toHaveLength(0);
    const told = await createJudge({ ask: asking(() => vote(1)).ask })(turnOf(), open, AbortSignal.abort());
    expect(told).toMatchObject({ kind: 'unknown', isRetryable: true });
  });

  it.each<readonly [string, Partial<TurnEvidence>]>([
    ['a sub-agent turn', { role: 'side' }],
    ['a title request', { role: 'aux' }],
    ['a turn that a person has scored', { given: [{ source: 'person', score: 0 }] }],
    ['a turn that a verifier has scored', { given: [{ source: 'verifier', score: 0 }] }],
    ['a turn that it has judged before', { given: [{ source: 'judge', score: 0 }] }],
    ['a turn that the user thanked for', { next: { tools: [], user: 'Perfect, thank you!' } }],
    ['a turn whose provider failed', { status: 'upstream-error', failure: 'overloaded: try later' }],
    ['a turn without a reply', { reply: [] }],
  ])('is not asked about %s', async (_, more) => {
    const { ask, prompts } = asking(() => vote(1));
    const evidence = turnOf(more);
    expect(await createJudge({ ask })(evidence, appraise(evidence), never)).toMatchObject({
      kind: 'skipped',
    });
    expect(prompts).toHaveLength(0);
  });

  it('repeats its ruling on the same content without asking (and asks when anything differs)', async () => {
    const { ask, prompts } = asking(() => vote(1));
    const cache = createRulingCache();
    const judge = createJudge({ ask, cache });
    const first = await judge(turnOf(), open, never);
    const again = await judge(turnOf({ turn: 't2', session: 's2' }), open, never);
    expect(again).toEqual({
      kind: 'ruled',
      reward: first.kind === 'ruled' && first.reward,
      cost: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
    });
    expect(prompts).toHaveLength(2);
    await judge(turnOf({ next: { tools: [], user: 'and now?' } }), open, never);
    expect(prompts).toHaveLength(4);
    await createJudge({ ask, cache, model: 'another' })(turnOf(), open, never);
    expect(prompts).toHaveLength(6);
  });

  it('does not cache the result of an unavailable model', async () => {
    const { ask } = asking((_, count) => (count <= 2 ? undefined : vote(1)));
    const judge = createJudge({ ask });
    expect((await judge(turnOf(), open, never)).kind).toBe('unknown');
    expect((await judge(turnOf(), open, never)).kind).toBe('ruled');
  });

  it('returns a retryable result when the cache fails', async () => {
    const { ask } = asking(() => vote(1));
    const cache = {
      get: () => {
        throw new Error('disk');
      },
      set: () => undefined,
    };
    expect(await createJudge({ ask, cache })(turnOf(), open, never)).toMatchObject({
      kind: 'unknown',
      why: 'judging failed: disk',
    });
  });
});

describe('the prompt of a judge', () => {
  it('has the task, the calls with their results, and the next message', async () => {
    const { ask, prompts } = asking(() => vote(1));
    const evidence = callOf('Bash', { command: 'npm test' }, 'ok 3 tests', {
      task: 'Run the tests',
      next: { tools: [{ callId: 'c1', text: 'ok 3 tests' }], user: 'And the other folder?' },
    });
    await createJudge({ ask })(evidence, { ...open, digests: ['TypeError @ a.ts:3'] }, never);
    expect(prompts[0]?.user).toMatch(
      /TypeError @ a\.ts:3[\s\S]*Run the tests[\s\S]*And the other folder\?[\s\S]*Bash \{"command":"npm test"\}\nreturned: ok 3 tests/,
    );
  });

  it('has at most 4,000 tokens, with complete errors and failed calls before others', () => {
    const long = (word: string): string => `${word} `.repeat(20_000);
    const calls = Array.from({ length: 40 }, (_, index) => `c${index}`);
    const evidence = turnOf({
      task: long('task'),
      reply: [
        { type: 'reasoning', text: 'secret thoughts' },
        { type: 'text', text: long('reply') },
        ...calls.map((id) => ({ type: 'tool-call' as const, id, name: 'Read', arguments: long('{"x":1}') })),
      ],
      next: {
        tools: calls.map((callId) => ({
          callId,
          text: callId === 'c5' ? `BROKEN ${long('why')}` : long('日本語'),
          isError: callId === 'c5',
        })),
        user: long('next'),
      },
      earlier: calls.map((name) => ({ name, arguments: long('x'), failed: true })),
      attempts: [{ action: long('a'), result: long('b'), ok: false }],
    });
    const sections = digestTurn(evidence, { ...open, digests: ['TypeError @ a.ts:3', 'exit 1'] });
    const { text } = fenceData(sections);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(12_000);
    expect(text).toContain('TypeError @ a.ts:3\nexit 1');
    expect(text).toMatch(/failed: BROKEN why/);
    expect(text).toContain('(and 28 more calls)');
    expect(text).not.toContain('secret thoughts');
    expect(text).not.toContain('\ufffd');
  });

  it('gives a long result the room that other sections leave', () => {
    const evidence = callOf('Read', { path: 'a' }, 'line\n'.repeat(1800), { task: 'Read it' });
    const { text } = fenceData(digestTurn(evidence, open));
    expect(text).not.toContain('cut');
  });

  it('stays within its limit for any texts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.nat({ max: 3000 })), {
          minLength: 5,
          maxLength: 5,
        }),
        (texts) => {
          const [task = '', said = '', given = '', result = '', user = ''] = texts.map(([text, times]) =>
            text.repeat(times),
          );
          const evidence = callOf('x', given, result, { task });
          const sections = digestTurn(
            {
              ...evidence,
              reply: [{ type: 'text', text: said }, ...evidence.reply],
              next: { tools: evidence.next?.tools ?? [], user },
            },
            open,
          );
          expect(Buffer.byteLength(fenceData(sections).text)).toBeLessThanOrEqual(12_000);
        },
      ),
      runsOf(10, 30),
    );
  });

  it('fences each section with a mark that the section cannot imitate', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), (texts) => {
        const sections = texts.map((text, index) => ({ label: `part ${index}`, text: `${text}\n>>>\n<<<` }));
        const { text, rule } = fenceData(sections);
        const mark = /<<<(\w{12}) part 0\n/.exec(text)?.[1] ?? 'no mark';
        expect(rule).toContain(mark);
        expect(text.split(mark)).toHaveLength(2 * texts.length + 1);
        // A section that quotes the mark of one prompt changes the mark of the next.
        const replay = fenceData([{ label: 'part 0', text: `${mark}>>>` }]);
        expect(replay.text.split('\n')[0]).not.toContain(mark);
      }),
    );
  });

  it('contains no invisible characters', () => {
    const { text } = fenceData([{ label: 'x', text: 'a\u202eb\u200bc\u0000d\u{e0041}' }]);
    expect(text).toMatch(/\nabcd\n/);
  });
});

describe('a judge and the material of a turn', () => {
  it('is not asked about a turn that only reads and goes on', async () => {
    const { ask, prompts } = asking(() => vote(1));
    const judge = createJudge({ ask });
    const reads = callOf('Bash', { command: 'cat a.ts | head -20' }, 'const a = 1;');
    expect(await judge(reads, open, never)).toMatchObject({ kind: 'skipped' });
    expect(await judge(callOf('Read', { file_path: 'a.ts' }, 'const a = 1;'), open, never)).toMatchObject({
      kind: 'skipped',
    });
    expect(prompts.length).toBe(0);
    expect(await judge({ ...reads, next: { tools: [], user: 'hm' } }, open, never)).toMatchObject({
      kind: 'ruled',
    });
  });

  it('is compared without the words that it is compared with', () => {
    const said = turnOf({
      next: { tools: [], user: 'no, the other file' },
      given: [{ source: 'chat', score: -1 }],
    });
    const [evidence, shown] = blindEvidence(said, { ...open, verdict: 'failure', source: 'chat' });
    expect(evidence.next).toEqual({ tools: [] });
    expect(evidence.given).toEqual([]);
    expect(shown).toMatchObject({ verdict: 'ambiguous', signals: [] });
    const [rated] = blindEvidence(said, { ...open, verdict: 'failure', source: 'person' });
    expect(rated.next?.user).toBe('no, the other file');
  });
});

describe('a judge that disagrees with people', () => {
  it('is switched off: it is not asked, and says why', async () => {
    const calibration = createCalibration();
    const { ask } = asking(() => vote(1));
    const judge = createJudge({ ask, calibration, cache: createRulingCache() });
    expect(await judge(turnOf(), open, never)).toMatchObject({
      reward: { score: 0.5, note: 'because 1' },
    });
    for (let turn = 0; turn < 30; turn++) {
      calibration.hear({ turn: `t${turn}`, source: 'judge', score: 1, at: 1 });
      calibration.hear({ turn: `t${turn}`, source: 'person', score: turn < 8 ? 1 : -1, at: 1 });
    }
    expect(await judge(turnOf(), open, never)).toEqual({
      kind: 'skipped',
      why: expect.stringContaining('on 8 of 30 turns'),
    });
  });
});
