import type { ChatModel } from '../../src/core/chat.ts';
import type { LessonPlace } from '../../src/core/lesson.ts';
import type { PracticeEvent, PracticeResult } from '../../src/learn/practice/practice-input.ts';
import {
  type ArmLessons,
  answerArm,
  NO_LESSONS,
  type NumberAnswer,
  type NumberReport,
  reportArms,
} from './number-arms.ts';
import { type NumberHome, openNumberHome, type RecallEngine, USUAL } from './number-home.ts';
import { type NumberProblem, numberTask, splitProblems } from './number-problems.ts';

export interface NumberRun {
  readonly problems: readonly NumberProblem[];
  readonly answer: ChatModel;
  readonly writer: ChatModel;
  readonly names: { readonly answer: string; readonly writer: string };
  readonly practise: number;
  readonly measure: number;
  readonly group: number;
  readonly epochs: number;
  readonly batch: number;
  readonly samples: number;
  readonly jobs: number;
  readonly longestReply: number;
  readonly seed: number;
  readonly recall: RecallEngine;
  /** Also practice with shuffled verdicts. */
  readonly hasControl: boolean;
  /** Of the whole run: practice stops so early that its lessons can be measured. */
  readonly seconds: number;
  readonly write: (line: object) => void;
}

export interface NumberRunReport extends NumberReport {
  readonly verdict: string;
  readonly lessons: readonly PractisedHome[];
}

/** What a run of practice made. */
export interface PractisedHome {
  readonly practice: 'graded' | 'shuffled';
  readonly end: string;
  readonly kept: number;
  readonly waiting: number;
  /** Measured problems whose prompt has a lesson, by place, and the mean number of lessons in a prompt. */
  readonly placed: Readonly<Record<string, { readonly problems: number; readonly mean: number }>>;
  readonly recall: string;
}

const PLACES: readonly LessonPlace[] = ['message', 'system'];
/** Of the time that the arm without lessons took, for the two arms with lessons and what stands between. */
const TIME_TO_MEASURE = 3;

/** Measures without lessons, practises, and measures with the lessons that were kept. */
export async function runNumberPractice(run: NumberRun): Promise<NumberRunReport> {
  const began = performance.now();
  const { practised, measured } = splitProblems(run.problems, run);
  if (practised.length < run.practise || measured.length < run.measure)
    throw new Error(
      `${run.practise} + ${run.measure} problems are wanted, the file has ${run.problems.length}`,
    );
  const whole = AbortSignal.timeout(run.seconds * 1000);
  const answers: NumberAnswer[] = [];
  const measureArm = async (arm: string, shown: readonly ArmLessons[]): Promise<void> => {
    const missing = new Map<string, number>();
    answers.push(
      ...(await answerArm({
        ...run,
        arm,
        shown,
        problems: measured,
        model: run.names.answer,
        temperature: USUAL.temperature,
        onAnswer: (answer) => run.write({ type: 'answer', ...answer }),
        onMissing: (why) => missing.set(why, (missing.get(why) ?? 0) + 1),
        signal: whole,
      })),
    );
    if (missing.size > 0) run.write({ type: 'missing', arm, why: Object.fromEntries(missing) });
  };
  await measureArm('none', []);
  const tookMs = performance.now() - began;
  run.write({ type: 'measured', arm: 'none', seconds: tookMs / 1000 });

  const left = run.seconds * 1000 - tookMs * (1 + TIME_TO_MEASURE);
  const inTime = left > 0 ? AbortSignal.timeout(Math.round(left)) : AbortSignal.abort();
  const signal = AbortSignal.any([whole, inTime]);
  const kinds = run.hasControl ? (['graded', 'shuffled'] as const) : (['graded'] as const);
  const lessons = await Promise.all(
    kinds.map(async (kind): Promise<PractisedHome> => {
      const home = await openNumberHome(run.recall);
      try {
        const { end } = await practiseIn(home, kind, practised, { run, signal });
        const places = kind === 'graded' ? PLACES : PLACES.slice(0, 1);
        const shown = await Promise.all(places.map((place) => placeAll(home, place, measured)));
        const placed = places.map((place, at) => [place, countPlaced(shown[at] ?? [])] as const);
        const all = home.lessons();
        const found: PractisedHome = {
          practice: kind,
          end,
          kept: home.shown().length,
          waiting: all.filter(({ state }) => state === 'proposed').length,
          placed: Object.fromEntries(placed),
          recall: home.engine,
        };
        run.write({ type: 'library', ...found, lessons: all.map(told) });
        // An arm without a lesson in any prompt is the arm without lessons once more.
        await Promise.all(
          placed.map(async ([place, { problems }], at) => {
            if (problems > 0) await measureArm(kind === 'graded' ? place : kind, shown[at] ?? []);
          }),
        );
        return found;
      } finally {
        await home.close();
      }
    }),
  );
  const report = { verdict: verdictOf(lessons), lessons, ...reportArms(answers, run.seed) };
  run.write({ type: 'summary', seconds: (performance.now() - began) / 1000, ...report });
  return report;
}

const told = ({
  state,
  text: { name, description, content },
}: ReturnType<NumberHome['lessons']>[number]) => ({
  state,
  name,
  description,
  content,
});

function verdictOf([graded]: readonly PractisedHome[]): string {
  if (graded === undefined) return 'nothing was practised';
  const { kept, waiting, end, placed } = graded;
  const isPlaced = Object.values(placed).some(({ problems }) => problems > 0);
  return [
    kept === 0 ? 'practice kept no lesson' : `practice kept ${kept} ${kept === 1 ? 'lesson' : 'lessons'}`,
    ...(kept > 0 && !isPlaced ? ['recall placed none of them in a measured prompt'] : []),
    ...(waiting > 0 ? [`${waiting} wait for a person`] : []),
    ...(end === 'done' ? [] : [`practice ended before its last step (${end})`]),
  ].join('; ');
}

const placeAll = (
  home: NumberHome,
  place: LessonPlace,
  problems: readonly NumberProblem[],
): Promise<readonly ArmLessons[]> =>
  Promise.all(
    problems.map(async (problem) => {
      const { prompt, domain } = numberTask(problem);
      const shown = await home.lessonsFor(place)({ task: prompt, domain });
      return shown.text === '' ? NO_LESSONS : shown;
    }),
  );

const countPlaced = (shown: readonly ArmLessons[]) => ({
  problems: shown.filter(({ text }) => text !== '').length,
  mean: shown.reduce((sum, { lessons }) => sum + lessons.length, 0) / Math.max(1, shown.length),
});

interface PracticeIn {
  readonly run: NumberRun;
  readonly signal: AbortSignal;
}

/** One run of practice, with everything it does as lines. */
async function practiseIn(
  home: NumberHome,
  kind: PractisedHome['practice'],
  problems: readonly NumberProblem[],
  { run, signal }: PracticeIn,
): Promise<PracticeResult> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const note = (line: object): void => run.write({ practice: kind, seconds: seconds(), ...line });
  const answering = countCalls(run.answer);
  const writing = countCalls(run.writer);
  let rewards: number[] = [];
  const onEvent = (event: PracticeEvent): void => {
    if (event.type === 'attempt-made') {
      if (event.reward !== undefined) rewards.push(event.reward);
      if (event.is === 'infrastructure') note({ type: 'attempt-lost', why: event.why });
    } else if (event.type === 'groups-kept') {
      const { step, kept, of } = event;
      const right = rewards.filter((reward) => reward === 1).length;
      note({ type: 'groups', step, groups: of, differ: kept, attempts: rewards.length, right });
      rewards = [];
    } else if (event.type === 'group-lost') note({ type: event.type, why: event.why });
    else if (event.type === 'operation-quarantined') note({ type: event.type, why: event.why });
    else if (event.type === 'batch-ended') {
      const { outcome, judgements, generation } = event.cycle;
      note({ type: 'batch', step: event.step, outcome, judged: judgements.length, generation });
    }
  };
  const result = await home.practise({
    problems,
    answer: answering.model,
    writer: writing.model,
    names: run.names,
    place: 'message',
    groupSize: run.group,
    epochs: run.epochs,
    batch: run.batch,
    jobs: run.jobs,
    seed: run.seed,
    longestReply: run.longestReply,
    isShuffled: kind === 'shuffled',
    onEvent,
    onJudged: (judged) => note({ type: 'judged', ...judged }),
    onAsked: (asked) => note({ type: 'asked', note: asked }),
    signal,
  });
  const { end, note: why, counts, rewards: mean } = result;
  note({
    type: 'practised',
    end,
    ...(why !== undefined && { why }),
    counts,
    reward: mean.verifier,
    attempts: answering.counts(),
    writer: writing.counts(),
  });
  return result;
}

/** The calls of a model and their tokens. */
function countCalls(model: ChatModel) {
  const counts = { calls: 0, failed: 0, tokensIn: 0, tokensOut: 0, longestPrompt: 0 };
  const counted: ChatModel = async function* (request, options) {
    counts.calls++;
    for await (const event of model(request, options)) {
      if (event.type === 'failure') counts.failed++;
      if (event.type === 'reply-end' && event.usage !== undefined) {
        counts.tokensIn += event.usage.inputTokens;
        counts.tokensOut += event.usage.outputTokens;
        counts.longestPrompt = Math.max(counts.longestPrompt, event.usage.inputTokens);
      }
      yield event;
    }
  };
  return { model: counted, counts: () => ({ ...counts }) };
}
