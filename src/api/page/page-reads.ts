import { openWorkerCalls, workerModule } from '../../base/worker-thread.ts';
import type { Fact } from '../../core/fact.ts';
import type { JsonObject } from '../../core/json.ts';
import { StoreError } from '../../core/store.ts';
import type { SessionGroups } from '../../record/store/page-reader.ts';
import type { FeedEvent } from './feed-events.ts';
import type { SessionSearch } from './list-sessions.ts';
import type { HomeQuery } from './read-home.ts';
import type { ThreadQuery } from './read-thread.ts';

type MovedFact = Extract<Fact, { readonly type: 'policy-moved' }>;

/** What the page reads of the record. Rejects with `StoreError`. */
export interface PageCalls {
  sessions(search: SessionSearch): Promise<JsonObject>;
  thread(query: ThreadQuery): Promise<JsonObject | undefined>;
  facets(): Promise<SessionGroups>;
  home(query: HomeQuery): Promise<JsonObject>;
  /** What of the laboratory this home has used. */
  used(): Promise<{ readonly practice: boolean; readonly adaptation: boolean }>;
  /** `{ turn, session }` of those that are recorded. */
  sessionsOf(turns: readonly string[]): Promise<readonly JsonObject[]>;
  /** How weights of a policy moved, oldest first; by its subject in the record. */
  moves(policy: string): Promise<readonly { readonly at: number; readonly fact: MovedFact }[]>;
  /** What happened after a fact. `passed`: how many facts there were. */
  feed(
    after: number,
  ): Promise<{ readonly last: number; readonly passed: number; readonly events: readonly FeedEvent[] }>;
  lastSeq(): Promise<number>;
  /** Events and candidates; of the lessons, those that candidates became, encoded. */
  adaptation(lessons: readonly JsonObject[]): Promise<JsonObject>;
}

export interface PageThreadCall {
  readonly method: keyof PageCalls;
  readonly args: readonly unknown[];
}

export interface PageReads extends PageCalls {
  close(): Promise<void>;
}

/** After this time without a page the thread ends; the next page starts another. */
const IDLE_MS = 10 * 60_000;

/** The thread is started by the first page: without one it costs nothing. */
export function openPageReads(place: string): PageReads {
  const thread = openWorkerCalls<PageThreadCall>({
    module: workerModule('./page-thread.ts', import.meta.url),
    workerData: { place },
    toError: (code, message) => new StoreError(code as StoreError['code'], message),
    endMessage: 'The thread that reads for the page has ended.',
  });
  let idle: NodeJS.Timeout | undefined;
  let calls = 0;
  const rest = (): void => {
    clearTimeout(idle);
    if (calls > 0) return;
    idle = setTimeout(() => void thread.close(), IDLE_MS);
    idle.unref();
  };
  const ask =
    <T>(method: PageThreadCall['method']) =>
    async (...args: readonly unknown[]): Promise<T> => {
      clearTimeout(idle);
      calls++;
      try {
        return await thread.call<T>({ method, args });
      } finally {
        calls--;
        rest();
      }
    };
  return {
    sessions: ask('sessions'),
    thread: ask('thread'),
    facets: ask('facets'),
    home: ask('home'),
    used: ask('used'),
    sessionsOf: ask('sessionsOf'),
    moves: ask('moves'),
    feed: ask('feed'),
    lastSeq: ask('lastSeq'),
    adaptation: ask('adaptation'),
    close: async () => {
      clearTimeout(idle);
      await thread.close();
    },
  };
}
