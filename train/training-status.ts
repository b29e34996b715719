import { compact, type JsonObject } from '../src/core/json.ts';
import type { Lesson } from '../src/core/lesson.ts';
import type { RememberedRules } from '../src/core/task-source.ts';
import { estimateLessonTokens } from '../src/lessons/recall/select-lessons.ts';
import { plural } from '../src/text/phrases.ts';
import { findAdapter, type HomeFolder } from './adapter-folders.ts';
import type { PolicyTrial, PromotionState } from './promotion-stages.ts';
import type { TrainingEvent } from './training-window.ts';

/** The versions that serve or are on trial, for the status output. */
export const describeVersions = (
  engine: string,
  { live, previous, trial, waiting }: PromotionState,
  home: HomeFolder,
): JsonObject => ({
  policy: `instar/${engine}@${live.version}`,
  // The live version's adapter, for the user to copy.
  ...compact({ adapter: findAdapter(home, engine, live.version) }),
  versions: compact({
    live: live.version,
    previous: previous?.version,
    onTrial: trial && describeTrial(trial),
    waiting: waiting && describeTrial(waiting),
  }),
});

const describeTrial = ({ served, stage, sessions, differences, replay, regression }: PolicyTrial) => ({
  version: served.version,
  stage,
  tasks: differences.n,
  questions: regression?.n ?? 0,
  replayed: replay?.n ?? 0,
  sessions: sessions.length,
});

/** What became of the rules that the live weights remember, in words. `kept`: those whose lessons are not shown now. */
export function sayRemembered(
  { rules }: RememberedRules,
  lessons: readonly Lesson[],
  kept: ReadonlySet<string>,
): string {
  const silent = lessons.filter(({ id }) => kept.has(id));
  const tokens = silent.reduce((sum, lesson) => sum + estimateLessonTokens(lesson), 0);
  const measured = new Map(rules.map(({ lesson, revision }) => [lesson, revision]));
  const again = lessons.filter(({ id, revision }) => measured.get(id) === revision && !kept.has(id)).length;
  const gone = rules.length - silent.length - again;
  return [
    silent.length === 0
      ? 'no rule any more'
      : `${plural(silent.length, 'rule')} without a lesson in the prompt, up to ${tokens} tokens less`,
    ...(again === 0 ? [] : [`${again} shown again, since an answer broke ${again === 1 ? 'it' : 'them'}`]),
    ...(gone === 0
      ? []
      : [`${gone} ended or changed since, and still in the weights: instar train rollback`]),
  ].join('; ');
}

/** The progress of the current or last training window, for the status output. */
export interface TrainingView {
  begin(steps: number): void;
  hear(event: TrainingEvent): void;
  fail(why: string): void;
  end(): void;
  describe(): JsonObject | undefined;
}

interface Window {
  readonly steps: number;
  readonly done: number;
  readonly reward?: number;
  readonly completion?: number;
  /** Of the last step that trained. */
  readonly loss?: number;
  /** The means of the parts of rewards, of the last group. */
  readonly parts?: Readonly<Record<string, number>>;
  readonly pairs?: { readonly count: number; readonly candidate: number; readonly live: number };
  readonly moves: readonly string[];
  readonly problem?: string;
  readonly isRunning: boolean;
}

export function createTrainingView(): TrainingView {
  let window: Window | undefined;
  const change = (more: Partial<Window>): void => {
    if (window !== undefined) window = { ...window, ...more };
  };
  return {
    begin: (steps) => {
      window = { steps, done: 0, moves: [], isRunning: true };
    },
    hear: (event) => {
      if (window === undefined) return;
      switch (event.type) {
        case 'step-trained':
        case 'step-idle': {
          const { seen: rewards, loss } = event.report;
          change({
            done: window.done + 1,
            ...(rewards === undefined ? {} : { reward: rewards.reward }),
            ...(rewards?.completion === undefined ? {} : { completion: rewards.completion }),
            ...(loss === undefined ? {} : { loss }),
          });
          return;
        }
        case 'step-refused':
        case 'rolled-back':
          change({ done: window.done + 1 });
          return;
        case 'pair-weighed': {
          const { pairs: count, candidate, live } = event;
          change({ pairs: { count, candidate: candidate / count, live: live / count } });
          return;
        }
        case 'moved':
          change({
            moves: [
              ...window.moves,
              `version ${event.moved.version} is ${event.moved.to}: ${event.moved.why}`,
            ],
          });
          return;
        case 'ran-dry': {
          const { differ, wanted } = event;
          const dry = `its tasks have little more to compare (${differ} of ${wanted} groups differ): training ended`;
          change({ moves: [...window.moves, dry] });
          return;
        }
        case 'weights-unfit':
          change({ problem: `version ${event.version} cannot answer: ${event.why}` });
          return;
        case 'stuck':
        case 'not-trained':
          change({ problem: event.why });
      }
    },
    fail: (problem) => change({ problem }),
    end: () => change({ isRunning: false }),
    describe: () => {
      if (window === undefined) return undefined;
      const { steps, done, reward, completion, loss, pairs, moves, problem, isRunning } = window;
      return compact({
        steps,
        done,
        reward,
        completion,
        loss,
        pairs: pairs && { ...pairs },
        moves: [...moves],
        problem,
        isRunning,
      });
    },
  };
}
