import { isRecord, textOf } from '../shared/connection.ts';
import type { InstarClient } from '../shared/instar-client.ts';
import { type AgentRun, runSubject } from '../shared/run-reports.ts';

/** Lessons for one run: the block of its session, and those that are new in it. */
export interface PromptLessons {
  /** The same bytes for all runs of a session, so that providers can cache the prompt. */
  readonly block: string;
  readonly added: string;
}

interface ShownSession {
  readonly block: string;
  readonly names: Set<string>;
}

const RECALL_MS = 4_000;
const MOST_SESSIONS = 500;
/** New lessons in a run of a session that has begun. */
const MOST_ADDED = 3;
const NONE: PromptLessons = { block: '', added: '' };

/**
 * The lessons of a session are recalled at its first run and then frozen. What a later request needs besides stands behind the user's
 * message. Only the first run counts in measurements of lessons: it alone was shown what was recalled for it, with a hold-out.
 */
export function createPromptLessons(
  client: Pick<InstarClient, 'ask' | 'flush'>,
): (run: AgentRun, task: string) => Promise<PromptLessons> {
  const sessions = new Map<string, ShownSession>();
  const recall = async (query: Readonly<Record<string, unknown>>) => {
    const { status, body } = await client.ask(
      'POST',
      '/api/recall',
      { ...query, isUnhurried: true },
      RECALL_MS,
    );
    if (status !== 200 || !isRecord(body)) return undefined;
    const lessons = Array.isArray(body.lessons) ? body.lessons : [];
    const names = lessons.flatMap((one) => (isRecord(one) ? (textOf(one.name) ?? []) : []));
    return { text: textOf(body.text) ?? '', names };
  };

  return async (run, task) => {
    const scope = {
      agent: run.agent,
      ...(run.folder === undefined ? {} : { folder: run.folder }),
    };
    const known = sessions.get(run.session);
    if (known === undefined) {
      // The episode must be there before its lessons are recorded.
      await client.flush(RECALL_MS);
      const found = await recall({ task, ...scope, episode: runSubject(run) });
      // Nothing is remembered of a recall that failed: the next run tries again.
      if (found === undefined) return NONE;
      const [oldest] = sessions.keys();
      if (sessions.size >= MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      sessions.set(run.session, { block: found.text, names: new Set(found.names) });
      return { block: found.text, added: '' };
    }
    const found = await recall({ task, ...scope });
    const fresh = (found?.names ?? []).filter((name) => !known.names.has(name)).slice(0, MOST_ADDED);
    const texts: string[] = [];
    for (const name of fresh) {
      const lesson = await recall({ name, ...scope });
      if (lesson === undefined || lesson.text === '') continue;
      known.names.add(name);
      texts.push(lesson.text);
    }
    return { block: known.block, added: texts.join('\n\n') };
  };
}
