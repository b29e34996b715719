import type { ChatModel } from '../../src/core/chat.ts';
import type { PlacedLessons } from '../../src/core/lesson.ts';
import { createInProcessClient } from '../../src/models/in-process-client.ts';
import type { Interval } from '../../src/stats/interval.ts';
import { blockMean } from '../report/block-bootstrap.ts';
import { pairedBootstrap } from '../report/paired-bootstrap.ts';
import { isRight, type NumberProblem, numberTask } from './number-problems.ts';

/** One answer to a problem that was not practised. */
export interface NumberAnswer {
  readonly arm: string;
  readonly problem: number;
  /** 0: the greedy one. */
  readonly draw: number;
  readonly right: boolean;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Lessons in its prompt. */
  readonly lessons: number;
}

export interface ArmLessons extends PlacedLessons {
  readonly lessons: readonly string[];
}

export const NO_LESSONS: ArmLessons = { text: '', lessons: [] };

export interface ArmOptions {
  readonly arm: string;
  readonly problems: readonly NumberProblem[];
  /** What each problem's prompt is shown, in their order. */
  readonly shown: readonly ArmLessons[];
  readonly answer: ChatModel;
  readonly model: string;
  /** Answers at `temperature`, besides the greedy one. */
  readonly samples: number;
  readonly temperature: number;
  readonly longestReply: number;
  readonly onAnswer: (answer: NumberAnswer) => void;
  /** An answer is missing, and why. */
  readonly onMissing: (why: string) => void;
  readonly signal: AbortSignal;
}

/** All answers of an arm at once: the server makes batches of them. */
export async function answerArm(options: ArmOptions): Promise<readonly NumberAnswer[]> {
  const { problems, samples, shown } = options;
  const answers = await Promise.all(
    problems.flatMap((problem, at) =>
      Array.from({ length: samples + 1 }, (_, draw) =>
        answerOnce(problem, draw, shown[at] ?? NO_LESSONS, options),
      ),
    ),
  );
  return answers.flatMap((one) => one ?? []);
}

async function answerOnce(
  problem: NumberProblem,
  draw: number,
  shown: ArmLessons,
  { arm, answer, model, temperature, longestReply, onAnswer, onMissing, signal }: ArmOptions,
): Promise<NumberAnswer | undefined> {
  const { prompt } = numberTask(problem);
  const request = {
    model,
    system: [],
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: prompt }] }],
    tools: [],
    stream: false,
    temperature: draw === 0 ? 0 : temperature,
    maxTokens: longestReply,
  };
  const speak = createInProcessClient(answer, () => shown);
  const speaker = { session: `${arm}/${problem.index}/${draw}`, agent: '', runKind: 'bench' };
  const { text, usage, failure } = await speak(request, speaker, signal);
  if (failure !== undefined) {
    onMissing(`${failure.kind}: ${failure.message.slice(0, 200)}`);
    return undefined;
  }
  const given = {
    arm,
    problem: problem.index,
    draw,
    right: isRight(text, problem.answer),
    tokensIn: usage?.inputTokens ?? 0,
    tokensOut: usage?.outputTokens ?? 0,
    lessons: shown.lessons.length,
  };
  onAnswer(given);
  return given;
}

const MEASURES = {
  greedy: ({ draw }: NumberAnswer) => draw === 0,
  sampled: ({ draw }: NumberAnswer) => draw > 0,
} as const;
type Measure = keyof typeof MEASURES;

interface ArmShare {
  readonly arm: string;
  readonly measure: Measure;
  readonly problems: number;
  readonly answers: number;
  readonly right: number;
  /** The mean over problems. */
  readonly share?: number;
  readonly interval?: Interval;
  readonly tokensOut: number;
}

interface ArmDifference {
  readonly of: string;
  readonly against: string;
  readonly measure: Measure;
  readonly pairs: number;
  readonly better: number;
  readonly worse: number;
  readonly mean?: number;
  readonly interval?: Interval;
  readonly verdict: 'better' | 'worse' | 'no difference' | 'not measured';
}

export interface NumberReport {
  readonly shares: readonly ArmShare[];
  readonly differences: readonly ArmDifference[];
}

/** Shares of right answers with intervals over problems, and each arm against the first, paired by problem. */
export function reportArms(answers: readonly NumberAnswer[], seed: number): NumberReport {
  const arms = [...new Set(answers.map(({ arm }) => arm))];
  const measures = (Object.keys(MEASURES) as Measure[]).filter((one) => answers.some(MEASURES[one]));
  const [base] = arms;
  const rows = measures.flatMap((measure) =>
    arms.map((arm) => {
      const own = answers.filter((one) => one.arm === arm && MEASURES[measure](one));
      return { measure, arm, own, means: meansOf(own) };
    }),
  );
  return {
    shares: rows.map(({ measure, arm, own, means }) => {
      const blocks = [...means.values()].map((mean) => ({ sum: mean, n: 1 }));
      const found = blockMean(blocks, { seed: `${seed}/${arm}/${measure}`, range: { low: 0, high: 1 } });
      return {
        arm,
        measure,
        problems: means.size,
        answers: own.length,
        right: own.filter(({ right }) => right).length,
        ...(found.mean !== undefined && { share: found.mean }),
        ...(found.interval !== undefined && { interval: found.interval }),
        tokensOut: own.reduce((sum, { tokensOut }) => sum + tokensOut, 0),
      };
    }),
    differences: rows.flatMap(({ measure, arm, means }) => {
      const against = rows.find((one) => one.arm === base && one.measure === measure)?.means;
      return arm === base || base === undefined || against === undefined
        ? []
        : [compare({ of: arm, against: base, measure }, means, against, seed)];
    }),
  };
}

/** The share of right answers to each problem. */
function meansOf(answers: readonly NumberAnswer[]): ReadonlyMap<number, number> {
  const counts = new Map<number, { readonly right: number; readonly of: number }>();
  for (const { problem, right } of answers) {
    const { right: before, of } = counts.get(problem) ?? { right: 0, of: 0 };
    counts.set(problem, { right: before + Number(right), of: of + 1 });
  }
  return new Map([...counts].map(([problem, { right, of }]) => [problem, right / of]));
}

function compare(
  named: Pick<ArmDifference, 'of' | 'against' | 'measure'>,
  own: ReadonlyMap<number, number>,
  other: ReadonlyMap<number, number>,
  seed: number,
): ArmDifference {
  const pairs = [...own].flatMap(([problem, a]) => {
    const b = other.get(problem);
    return b === undefined ? [] : [{ block: String(problem), a, b }];
  });
  const { mean, interval } = pairedBootstrap(pairs, { seed: `${seed}/${named.of}/${named.measure}` });
  const counts = {
    pairs: pairs.length,
    better: pairs.filter(({ a, b }) => a > b).length,
    worse: pairs.filter(({ a, b }) => a < b).length,
  };
  if (mean === undefined || interval === undefined) return { ...named, ...counts, verdict: 'not measured' };
  const verdict = interval.low > 0 ? 'better' : interval.high < 0 ? 'worse' : 'no difference';
  return { ...named, ...counts, mean, interval, verdict };
}
