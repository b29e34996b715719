import { isRecord, textOf } from './connection.ts';
import type { InstarClient } from './instar-client.ts';

/** A lesson that this client's key may hear of. */
interface KnownLesson {
  readonly id: string;
  readonly revision: number;
  readonly title: string;
  readonly isInUse: boolean;
}

/** Undefined when Instar does not say. */
export async function readLearned(
  client: Pick<InstarClient, 'ask'>,
): Promise<readonly KnownLesson[] | undefined> {
  const { status, body } = await client.ask('GET', '/api/lessons');
  if (status !== 200 || !Array.isArray(body)) return undefined;
  return body.filter(isRecord).flatMap((one) => {
    const [id, title, revision] = [textOf(one.id), textOf(one.title), Number(one.revision)];
    if (id === undefined || title === undefined) return [];
    return [{ id, title, revision, isInUse: one.state === 'live' || one.state === 'trial' }];
  });
}

const MOST_NAMED = 3;

/**
 * A line about what is new since `before`, which is what an earlier call answered as `seen`. The first time nothing is new: what was
 * learned before this client was connected is no news.
 */
export function tellLearned(
  lessons: readonly KnownLesson[] | undefined,
  before: string | undefined,
): { readonly line: string | undefined; readonly seen: string } {
  if (lessons === undefined) return { line: undefined, seen: before ?? '' };
  const inUse = lessons.filter(({ isInUse }) => isInUse);
  const mark = ({ id, revision }: KnownLesson): string => `${id}@${revision}`;
  const seen = ['known', ...inUse.map(mark)].join('\n');
  if (before === undefined || before === '') return { line: undefined, seen };
  const known = new Set(before.split('\n'));
  const news = inUse.filter((lesson) => !known.has(mark(lesson)));
  if (news.length === 0) return { line: undefined, seen };
  const named = news.slice(0, MOST_NAMED).map(({ title }) => title);
  const more = news.length > MOST_NAMED ? ` and ${news.length - MOST_NAMED} more` : '';
  return { line: `Learned: ${named.join('; ')}${more}. Undo: instar undo`, seen };
}

/** What is new since the last question, for a plugin that lives as long as its client. The first question asks what is known already. */
export interface LearnedNews {
  /** A line for the person; undefined when nothing is new, or Instar does not say. */
  ask(): Promise<string | undefined>;
}

export function createLearnedNews(client: Pick<InstarClient, 'ask'>): LearnedNews {
  let before: string | undefined;
  return {
    ask: async () => {
      const { line, seen } = tellLearned(await readLearned(client), before);
      before = seen;
      return line;
    },
  };
}
