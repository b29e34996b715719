import type { Budget } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ask } from '../../core/learn.ts';
import type { PracticeJournal, PracticeTask } from '../../core/practice.ts';
import type { DecodedTurn, Records, SessionView, TurnView } from '../../core/store.ts';
import type { Calibration } from '../../evidence/judge/calibration.ts';
import { isPractisedOn } from '../../evidence/learned-from.ts';
import { taskOf } from '../../evidence/turn-evidence.ts';
import { createComparativeVerifier } from '../../evidence/verifiers/comparative-verifier.ts';
import { answerOf, domainOf } from '../../evidence/verify-session.ts';
import { carriesOutsideText } from '../../text/typed-text.ts';
import { createPracticeUnits } from '../practice/practice-units.ts';
import type { CompareAnswers } from './measure-trial.ts';

export interface ReplayTasksOptions {
  readonly records: Pick<Records, 'sessions' | 'turns' | 'recalls'>;
  /** Undefined for a turn that cannot be read any more. */
  readonly decodeTurn: (turn: TurnView) => Promise<DecodedTurn | undefined>;
  /** Whether the words of a session may be shown to the models that answer and judge. */
  readonly maySee: (session: string) => Promise<boolean>;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
const MOST_DAYS = 90;
const MOST_SESSIONS = 300;
const MOST_TASKS = 60;
/** Runs that are no work of a user. */
const OWN_RUNS: ReadonlySet<string> = new Set(['practice', 'train']);

/**
 * Recorded requests that can be answered again as they were: the first request of a session, in words alone, in the user's own
 * words, which was answered in words at once. A request that needed tools cannot be replayed without its workspace.
 */
export function createReplayTasks(options: ReplayTasksOptions): () => Promise<readonly PracticeTask[]> {
  const { records, now } = options;
  return async () => {
    const tasks = new Map<string, PracticeTask>();
    for (const session of await records.sessions({ limit: MOST_SESSIONS, withoutPractice: true })) {
      if (tasks.size >= MOST_TASKS) break;
      if (session.erased || session.lastAt < now() - MOST_DAYS * DAY_MS) continue;
      const task = (await options.maySee(session.id)) ? await readTask(session, options) : undefined;
      // The same words again are the same task.
      if (task !== undefined && !tasks.has(task.prompt)) tasks.set(task.prompt, task);
    }
    return [...tasks.values()];
  };
}

async function readTask(
  { id, agent, project }: SessionView,
  { records, decodeTurn }: ReplayTasksOptions,
): Promise<PracticeTask | undefined> {
  const first = (await records.turns(id)).find(({ role }) => role === 'main');
  if (first?.status !== 'complete' || !isPractisedOn(first) || OWN_RUNS.has(first.runKind ?? ''))
    return undefined;
  const read = await decodeTurn(first);
  const isInWords = read?.request.messages.every(
    ({ role, content }) => role === 'user' && content.every(({ type }) => type === 'text'),
  );
  if (read === undefined || isInWords !== true || answerOf(read) === '') return undefined;
  const prompt = taskOf(read.request.messages);
  // Text that a stranger wrote is not answered again: it may be an instruction.
  if (prompt === '' || carriesOutsideText(prompt)) return undefined;
  const system = read.request.system.map(({ text }) => text).join('\n');
  return {
    id: `replay/${id}`,
    root: `replay/${id}`,
    origin: 'mined',
    prompt,
    ...(system === '' ? {} : { system }),
    domain: await domainOf(id, records),
    agent,
    ...(project === undefined ? {} : { project: project.id }),
    from: { session: id, turn: first.id },
  };
}

/** Compares answers for trials. */
export interface TrialJudge {
  /** Compares answers to a task, each pair in both orders; without a majority it is a tie. */
  readonly compare: CompareAnswers;
  /** Why its comparisons do not count now; undefined when they do. */
  readonly judgeRefusal: () => string | undefined;
}

interface TrialJudgeParts {
  readonly openJudge: (budget: Budget) => Promise<JudgeModel | undefined>;
  readonly clock: Clock;
}

/** The model that compares, and how far people agree with it. */
export interface JudgeModel {
  readonly ask: Ask;
  readonly model: string;
  readonly calibration: Pick<Calibration, 'status'>;
}

/** Comparisons are journaled as attempts are: interrupted work pays for none twice. Undefined without a judge. */
export async function openTrialJudge(
  { openJudge, clock }: TrialJudgeParts,
  budget: Budget,
  journal: PracticeJournal,
): Promise<TrialJudge | undefined> {
  const judge = await openJudge(budget);
  if (judge === undefined) return undefined;
  const units = createPracticeUnits({ journal, ask: judge.ask, learner: judge.model, clock });
  const askAbout = ({ from }: PracticeTask): Ask =>
    units.askAbout(from === undefined ? [] : [from.session]) ?? judge.ask;
  return createTrialJudge(askAbout, judge.calibration);
}

/** Its word counts only once it was compared with people and verifiers on enough turns, and while it agrees with them. */
export const createTrialJudge = (
  askAbout: (task: PracticeTask) => Ask,
  calibration: Pick<Calibration, 'status'>,
): TrialJudge => ({
  compare: (task) => createComparativeVerifier(askAbout(task)),
  judgeRefusal: () => {
    const { isTrusted, weight, said } = calibration.status();
    if (!isTrusted) return said;
    return weight < 1
      ? `the judge was compared with people and verifiers on too few turns: ${said}`
      : undefined;
  },
});
