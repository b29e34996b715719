import type { Clock } from '../../core/clock.ts';
import { compact } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import type { Recall } from '../../core/recall.ts';
import type { Records } from '../../core/records.ts';
import type { ShownLessons, Turn } from '../../gateway/turn.ts';
import { createShown, type ShownOptions } from '../../library/shown/shown.ts';
import { type Conversation, readConversation } from '../../wire/conversation.ts';
import { createCountLessons } from './count-lessons.ts';

export interface ShowLessonsOptions {
  readonly library: Library;
  readonly recall: Recall;
  readonly records: Records;
  readonly clock: Clock;
  /** A choice could not be kept: after a restart the session's prompt may change once. */
  readonly onFault: (error: unknown, session: string) => void;
}

/** What a turn is shown. Auxiliary calls get nothing; a prompt that is only counted gets what it would be sent with. */
export function createShowLessons(
  options: ShowLessonsOptions,
): (turn: Turn) => ShownLessons | Promise<ShownLessons> {
  const { library, recall, records, clock, onFault } = options;
  const common: Omit<ShownOptions, 'record' | 'restore'> = {
    recall,
    generation: () => library.generation,
    lessonCount: createCountLessons(library),
    lesson: library.lesson,
    changedSince: (generation) => {
      const diff = library.diff(generation, library.generation);
      return {
        ids: new Set([...(diff?.added ?? []), ...(diff?.revised ?? [])].map(({ id }) => id)),
        withdrawn: (diff?.removed ?? []).map(({ id }) => id),
      };
    },
  };
  const shown = createShown({
    ...common,
    record: (fact, text) => {
      const { session, block: hash } = fact;
      const blocks = hash === undefined || text === undefined ? [] : [{ hash, text, session }];
      records
        .append([{ at: clock.now(), fact }], blocks, true)
        .catch((error: unknown) => onFault(error, session));
    },
    restore: async (session) => {
      const facts = (await records.recalls(session)).map(({ fact }) => fact);
      const choices = facts.flatMap((fact) => (fact.type === 'lessons-recalled' ? [fact] : []));
      return Promise.all(
        choices.map(async (fact) => ({
          fact,
          text: fact.block === undefined ? undefined : await records.block(fact.block),
        })),
      );
    },
  });
  /** For callers who want nothing kept: their threads live in memory alone. */
  const unrecorded = createShown({ ...common, record: () => undefined, restore: async () => [] });

  return (turn) => {
    const { identity, kind, body, wire, session, outline } = turn;
    if (body === undefined || (identity.role === 'aux' && kind !== 'count'))
      return { generation: library.generation, lessons: [], additions: [] };
    const { client, project, runKind, domain } = identity;
    let read: Conversation | undefined;
    let isRead = false;
    const conversation = (): Conversation | undefined => {
      if (!isRead) read = readConversation(wire.name, body);
      isRead = true;
      return read;
    };
    const part = identity.role === 'side' ? `side ${conversation()?.links[0] ?? ''}` : 'main';
    return (identity.record ? shown : unrecorded).show({
      turn: turn.id,
      session: session.session,
      thread: `${part} ${outline?.model ?? ''}`,
      now: clock.now(),
      query: compact({
        agent: identity.agent ?? client ?? 'unknown',
        project: project?.id,
        runKind,
        domain,
      }),
      conversation,
      peek: kind === 'count',
    });
  };
}
