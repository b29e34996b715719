import { openWorkerCalls, workerModule } from '../base/worker-thread.ts';
import {
  type AppendResult,
  type AsyncStore,
  type NewFact,
  type Records,
  type Store,
  StoreError,
} from '../core/store.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { Redactor } from '../redact/redact.ts';
import { createFactCleaner } from './clean-fact.ts';
import type { StoreCall } from './reader-thread.ts';
import type { Recorder } from './recorder.ts';
import { toAsyncStore } from './store/async-store.ts';

interface OpenRecords extends Records {
  close(): Promise<void>;
}

/**
 * Reads through a worker with its own connection, started by the first read; writes through the recorder. While the database
 * is known to be away a read is refused at once: nobody waits for it to time out.
 */
export function openRecords(
  place: string,
  recorder: Pick<Recorder, 'append' | 'erase'> & Partial<Pick<Recorder, 'state'>>,
): OpenRecords {
  const reader = openWorkerCalls<StoreCall>({
    module: workerModule('./reader-thread.ts', import.meta.url),
    workerData: { place },
    toError: (code, message) => new StoreError(code as StoreError['code'], message),
    endMessage: 'The reading thread has ended.',
  });
  const ask =
    <T>(method: StoreCall['method']) =>
    async (...args: readonly unknown[]): Promise<T> => {
      const waits = recorder.state?.().spool;
      if (waits?.isAway) throw new StoreError('away', waits.reason ?? 'the database is away');
      return reader.call<T>({ method, args });
    };

  return {
    facts: ask('facts'),
    factsOf: ask('factsOf'),
    newestOf: ask('newestOf'),
    recalls: ask('recalls'),
    sampled: ask('sampled'),
    events: ask('events'),
    sessions: ask('sessions'),
    session: ask('session'),
    ids: ask('ids'),
    turns: ask('turns'),
    turn: ask('turn'),
    openTurns: ask('openTurns'),
    rewards: ask('rewards'),
    judgements: ask('judgements'),
    block: ask('block'),
    chains: ask('chains'),
    totals: ask('totals'),
    check: ask('check'),
    snapshot: ask('snapshot'),
    append: (...args) => recorder.append(...args),
    erase: (session, reason) => recorder.erase(session, reason),
    close: () => reader.close(),
  };
}

/** `Records` over a store in the same thread. */
export const toRecords = (store: Store, now: () => number, redactor?: Redactor): Records =>
  recordsOf(Promise.resolve(toAsyncStore(store)), now, redactor);

/** `Records` over a store that is being opened, for commands that run without a daemon. What is appended is redacted, as by the writer. */
export function recordsOf(
  opened: Promise<AsyncStore>,
  now: () => number,
  redactor: Redactor = openRedactor(),
): Records {
  const clean = createFactCleaner(redactor);
  // Each call says so.
  opened.catch(() => undefined);
  const run = async <T>(work: (store: AsyncStore) => Promise<T>): Promise<T> => {
    try {
      return await work(await opened);
    } catch (error) {
      throw error instanceof StoreError ? error : new StoreError('io', String(error), { cause: error });
    }
  };
  const records: Records = {
    facts: (...args) => run((store) => store.facts(...args)),
    factsOf: (...args) => run((store) => store.factsOf(...args)),
    newestOf: (...args) => run((store) => store.newestOf(...args)),
    events: (...args) => run((store) => store.events(...args)),
    recalls: (...args) => run((store) => store.recalls(...args)),
    sampled: (...args) => run((store) => store.sampled(...args)),
    sessions: (...args) => run((store) => store.sessions(...args)),
    session: (...args) => run((store) => store.session(...args)),
    ids: (...args) => run((store) => store.ids(...args)),
    turns: (...args) => run((store) => store.turns(...args)),
    turn: (...args) => run((store) => store.turn(...args)),
    openTurns: () => run((store) => store.openTurns()),
    rewards: (...args) => run((store) => store.rewards(...args)),
    judgements: (...args) => run((store) => store.judgements(...args)),
    block: (...args) => run((store) => store.block(...args)),
    chains: (...args) => run((store) => store.chains(...args)),
    totals: () => run((store) => store.totals()),
    check: () => run((store) => store.check()),
    append: (facts, blocks = []) =>
      run((store) => store.append({ facts: facts.map(clean.fact), blocks: blocks.map(clean.block) })),
    erase: (session, reason) => run((store) => store.erase(session, now(), reason)),
    snapshot: (file) => run((store) => store.snapshot(file)),
  };
  return withCleanIds(records, redactor);
}

/**
 * The same records, asked with the ids that callers use: an id that contains a secret is stored as its mark, and is found
 * under it.
 */
export const withCleanIds = (records: Records, { redactName }: Pick<Redactor, 'redactName'>): Records => ({
  ...records,
  session: (id) => records.session(redactName(id)),
  sessions: ({ agent, ...query }) =>
    records.sessions(agent === undefined ? query : { ...query, agent: redactName(agent) }),
  turns: (session, page) => records.turns(redactName(session), page),
  events: (session) => records.events(redactName(session)),
  recalls: (session) => records.recalls(redactName(session)),
  sampled: (session) => records.sampled(redactName(session)),
  rewards: (of) =>
    records.rewards(
      'session' in of
        ? { session: redactName(of.session) }
        : 'turnsOf' in of
          ? { turnsOf: redactName(of.turnsOf) }
          : of,
    ),
  judgements: (session, type) => records.judgements(redactName(session), type),
  erase: (session, reason) => records.erase(redactName(session), reason),
});

/** The same records, with a listener that is called after each durable append. */
export const withAppendListener = (
  records: Records,
  tell: (facts: readonly NewFact[], appended: readonly AppendResult[]) => void,
): Records => ({
  ...records,
  append: async (...args) => {
    const appended = await records.append(...args);
    tell(args[0], appended);
    return appended;
  },
});
