import { asObject } from '../../core/json.ts';
import type { Ask } from '../../core/learn.ts';
import type { Records } from '../../core/records.ts';
import { NO_COST } from '../../learn/cost.ts';
import { createVerifiers, type Verifiers } from '../../signals/verifiers/registry.ts';
import { domainOf } from '../learning/verify-session.ts';
import { type RecordedTask, readRecordedTask } from './recorded-task.ts';

export interface RecordedTasksOptions {
  /** `learn.verifiers` of the configuration. */
  readonly rows: Parameters<typeof createVerifiers>[0];
  readonly records: Pick<Records, 'sessions' | 'recalls' | 'turns' | 'block'>;
  readonly now: () => number;
}

/** An answer to a recorded task. */
export interface RecordedAnswer {
  readonly task: string;
  readonly domain: string;
  readonly answer: string;
}

/** Tasks that users gave, and the grades of answers to them by the verifiers that the users configured. */
export interface RecordedTasks {
  /** Whether any verifier is configured that could grade an answer. */
  readonly canGrade: boolean;
  /** Newest first. Only tasks whose recorded answer can be graded: then an attempt can be, too. */
  gather(signal: AbortSignal): Promise<readonly RecordedTask[]>;
  /** 0 to 1; undefined when no verifier could grade it. */
  grade(answer: RecordedAnswer, signal: AbortSignal): Promise<number | undefined>;
}

const DAY_MS = 24 * 3_600_000;
const MOST_DAYS = 30;
const MOST_SESSIONS = 300;

/** Verifiers that need only the answer. Others need a reference or a workspace, or ask a model, which costs money. */
const ASK_NOBODY: ReadonlySet<string> = new Set(['regex', 'schema', 'module']);
const ASK: Ask = async () => ({
  ok: false,
  why: 'training asks no model',
  isRetryable: false,
  cost: NO_COST,
});

export function createRecordedTasks({ rows, records, now }: RecordedTasksOptions): RecordedTasks {
  let made: Promise<Verifiers> | undefined;
  const verifiers = (): Promise<Verifiers> => {
    made ??= createVerifiers(rows, { ask: ASK });
    return made;
  };
  const grade: RecordedTasks['grade'] = async ({ task, domain, answer }, signal) => {
    const all = await verifiers();
    if (!ASK_NOBODY.has(all.rowFor(domain)?.kind ?? '')) return undefined;
    const graded = await all.verify({ task, domain, output: answer }, signal);
    return graded.status === 'ok' ? graded.reward : undefined;
  };
  return {
    canGrade: rows.some((row) => ASK_NOBODY.has(String(asObject(row).kind))),
    grade,
    gather: async (signal) => {
      if (rows.length === 0) return [];
      const tasks = new Map<string, RecordedTask>();
      for (const session of await records.sessions({ limit: MOST_SESSIONS })) {
        if (signal.aborted) break;
        if (session.erased || session.lastAt < now() - MOST_DAYS * DAY_MS) continue;
        const domain = await domainOf(session.id, records);
        if (!ASK_NOBODY.has((await verifiers()).rowFor(domain)?.kind ?? '')) continue;
        const read = await readRecordedTask(session, domain, records);
        // The same text again is the same task.
        const name = read && JSON.stringify([domain, read.task.text]);
        if (read === undefined || name === undefined || tasks.has(name)) continue;
        const worth = await grade({ task: read.task.text, domain, answer: read.answer }, signal);
        if (worth !== undefined) tasks.set(name, read.task);
      }
      return [...tasks.values()];
    },
  };
}
