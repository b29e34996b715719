import { describe, expect, it } from 'vitest';
import { type NumberAnswer, reportArms } from '../../lab/real-model/number-arms.ts';
import { USUAL, withShuffledVerdicts } from '../../lab/real-model/number-home.ts';
import {
  isRight,
  lastNumber,
  type NumberProblem,
  readProblems,
  splitProblems,
} from '../../lab/real-model/number-problems.ts';
import { type NumberRun, runNumberPractice } from '../../lab/real-model/run-number-practice.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import type { ChatModel, ChatRequest } from '../../src/core/chat.ts';
import type { AttemptOrder } from '../../src/core/practice.ts';
import { text } from '../learn/ask/samples.ts';
import { attemptOf, goodReply, stageOf, taskOf, userText } from '../learn/practice/scripted-practice.ts';

describe('problems whose answer is a number', () => {
  it('grades the number that a reply ends with, and not one on the way', () => {
    const right: readonly [string, number][] = [
      ['4 + 5 = 9, so the answer is 18.', 18],
      ['9 * 2 = 18\n#### 18', 18],
      ['#### $1,800 for 2 days', 1800],
      ['It is \\boxed{42}. That is 7 less than 49.', 42],
      ['The total is \\$70{,}000', 70_000],
      ['**-3**', -3],
      ['She pays $12.50.', 12.5],
    ];
    for (const [reply, answer] of right) expect([reply, lastNumber(reply)]).toEqual([reply, answer]);
    expect(isRight('18 is too much: 17', 18)).toBe(false);
    expect(isRight('I do not know', 18)).toBe(false);
  });

  it('reads lines with "#### N", names the line that has none, and practises nothing that it measures', () => {
    const lines = Array.from({ length: 10 }, (_, at) =>
      JSON.stringify({ question: `q${at}`, answer: `x\n#### ${at},000` }),
    );
    const problems = readProblems(lines.join('\n'));
    expect(problems[3]).toEqual({ index: 3, question: 'q3', answer: 3000 });
    expect(() => readProblems(`${lines[0]}\n{"question": "q", "answer": "7"}`)).toThrow('line 2');
    const { practised, measured } = splitProblems(problems, { practise: 4, measure: 6, seed: 1 });
    expect(new Set([...practised, ...measured]).size).toBe(10);
    expect(splitProblems(problems, { practise: 4, measure: 6, seed: 2 }).practised).not.toEqual(practised);
  });
});

const rowsOf = (arm: string, rights: readonly boolean[]): readonly NumberAnswer[] =>
  rights.map((right, problem) => ({ arm, problem, draw: 0, right, tokensIn: 1, tokensOut: 1, lessons: 0 }));

describe('the report', () => {
  it('says "no difference" where the interval holds 0, and "better" where it does not', () => {
    const half = Array.from({ length: 40 }, (_, at) => at % 2 === 0);
    const verdictOf = (rights: readonly boolean[]) =>
      reportArms([...rowsOf('none', half), ...rowsOf('message', rights)], 1).differences[0];
    expect(verdictOf(half.map((right, at) => (at < 2 ? !right : right)))).toMatchObject({
      ...{ mean: 0, better: 1, worse: 1, pairs: 40, verdict: 'no difference' },
    });
    expect(verdictOf(half.map((right, at) => right || at % 4 === 1))).toMatchObject({
      mean: 0.25,
      verdict: 'better',
    });
  });

  it('pairs only problems that both arms answered', () => {
    const [row] = reportArms([...rowsOf('none', [true, true]), ...rowsOf('message', [false])], 1).differences;
    expect(row).toMatchObject({ pairs: 1, worse: 1, verdict: 'not measured' });
  });
});

const TRICK = 'halve';
const NUMBERS = Array.from(
  { length: 40 },
  (_, index): NumberProblem => ({
    index,
    question: `A crate holds ${1000 + 7 * index} apples, and half of them are sold. How many apples are sold?`,
    answer: (1000 + 7 * index) / 2,
  }),
);

const wordsOf = (request: ChatRequest): string =>
  [...request.system.map((part) => part.text), userText(request)].join('\n');

/** Right in every second attempt, and in no greedy one; with the lesson in its prompt in all of them. */
function scriptedAnswer(asked: ChatRequest[]): ChatModel {
  const turns = new Map<number, number>();
  return async function* (request) {
    asked.push(request);
    const words = wordsOf(request);
    const apples = Number(/holds (\d+) apples/.exec(words)?.[1] ?? 0);
    const isKnown = words.includes(TRICK);
    const turn = turns.get(apples) ?? 0;
    turns.set(apples, turn + 1);
    // Two runs of practice take turns.
    const isLucky = (request.temperature ?? 0) > 0 && turn % 4 < 2;
    const reply =
      isKnown || isLucky
        ? `I take the number of apples and halve it as asked.\n#### ${apples / 2}`
        : `I take the number of apples as it stands here.\n#### ${apples}`;
    yield* text(reply, { inputTokens: 10, outputTokens: 5 });
  };
}

const writerOf = (advantage: string): ChatModel =>
  async function* (request) {
    const stage = stageOf(request);
    const said = { advantage, reconcile: UNITED }[stage as string] ?? goodReply(stage, request);
    yield* text(said, {
      inputTokens: 100,
      outputTokens: 30,
    });
  };

const INSIGHT = 'Read how many are sold and halve the number in the crate before the answer is given.';
const UNITED = JSON.stringify([{ conflict: 1, operation: 'ADD', content: INSIGHT }]);
const LESSON = JSON.stringify({
  situation: 'half of a number of apples in a crate are sold',
  insight: INSIGHT,
  keywords: ['half', 'apples', 'crate', 'sold'],
  triggers: ['how many apples are sold', 'half of the apples in the crate'],
  quotes: [
    { attempt: 1, text: 'I take the number of apples and halve it as asked.' },
    { attempt: 2, text: 'I take the number of apples as it stands here.' },
  ],
});

async function runScripted(writer: ChatModel, over: Partial<NumberRun> = {}) {
  const lines: { readonly type: string; readonly [key: string]: unknown }[] = [];
  const asked: ChatRequest[] = [];
  const report = await runNumberPractice({
    problems: NUMBERS,
    answer: scriptedAnswer(asked),
    writer,
    names: { answer: 'test/answers', writer: 'test/writes' },
    ...{ practise: 10, measure: 20, group: 4, epochs: 1, batch: 10, samples: 2, jobs: 16 },
    longestReply: 400,
    seed: 1,
    recall: 'table',
    hasControl: false,
    seconds: 200,
    write: (line) => void lines.push(line as (typeof lines)[number]),
    ...over,
  });
  return { report, lines, asked };
}

describe('practice with a real model, scripted', () => {
  it('walks from a proposal through the gate into the prompts that are measured', async () => {
    const { report, lines, asked } = await runScripted(writerOf(LESSON), { hasControl: true });
    const of = (type: string) => lines.filter((line) => line.type === type);
    expect(of('judged').map(({ why }) => why)).not.toEqual([]);
    expect(report.verdict).toMatch(/^practice kept (?:1 lesson|\d+ lessons)$/);
    const [graded] = report.lessons;
    expect(graded?.placed).toMatchObject({ message: { problems: 20 }, system: { problems: 20 } });
    expect(report.differences).toContainEqual(
      expect.objectContaining({ of: 'message', measure: 'greedy', mean: 1, verdict: 'better' }),
    );
    // In the user's words in one arm, under the block's heading in the other.
    expect(asked.some((request) => userText(request).includes(TRICK))).toBe(true);
    expect(asked.some(({ system }) => system.some((part) => part.text.includes('## Active Skills')))).toBe(
      true,
    );
    expect(of('answer').filter(({ arm }) => arm === 'none')).toHaveLength(20 * 3);
    // No line has a problem's text.
    expect(of('answer').some((line) => JSON.stringify(line).includes('apples'))).toBe(false);
  });

  it('says that practice kept no lesson, and measures no arm with lessons then', async () => {
    const { report, lines } = await runScripted(writerOf('{"situation": null}'));
    expect(report.verdict).toBe('practice kept no lesson');
    expect(report.differences).toEqual([]);
    expect(lines.find(({ type }) => type === 'practised')).toMatchObject({
      end: 'done',
      counts: { proposed: 0 },
    });
  });

  it('says that it was stopped when its time is over, and publishes nothing half done', async () => {
    const { report } = await runScripted(writerOf(LESSON), { seconds: 0 });
    expect(report.verdict).toMatch(
      /^practice kept no lesson; practice ended before its last step \(aborted\)$/,
    );
  });

  it('uses the limits that a home has where nobody changed them', () => {
    const { library, practice } = checkConfig({}, { env: {} }).config;
    expect({ ...library, ...practice }).toMatchObject(USUAL);
  });
});

describe('shuffled verdicts', () => {
  it('keep the rewards of a group and change which attempt has which', async () => {
    const orders = Array.from(
      { length: 6 },
      (_, place): AttemptOrder => ({
        id: `attempt:run/0/problem/1/${place}`,
        task: taskOf('daily'),
        shown: { text: '', lessons: [], generation: 0 },
        seed: String(place),
        temperature: 1,
        timeoutMs: 1000,
      }),
    );
    const rewardOf = ({ id }: { readonly id: string }) => (/[012]$/.test(id) ? 1 : 0);
    const make = withShuffledVerdicts(
      async (order) => attemptOf(order, { outcome: { is: 'graded', reward: rewardOf(order), reasons: [] } }),
      6,
      1,
    );
    const made = await Promise.all(orders.map((order) => make(order, new AbortController().signal)));
    const rewards = made.map(({ outcome }) => (outcome.is === 'graded' ? outcome.reward : undefined));
    expect(rewards.toSorted()).toEqual([0, 0, 0, 1, 1, 1]);
    expect(rewards).not.toEqual([1, 1, 1, 0, 0, 0]);
  });
});
