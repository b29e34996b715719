import { findCheckpoint, loadCheckpoint, type ModelCard, type ModelState } from './checkpoints.ts';
import { type Futures, failureOf } from './futures.ts';
import { HttpRefusal } from './http.ts';
import { applyModelRequest, type ModelRequest, type RequestContext } from './model-request.ts';
import {
  createModelStore,
  type ModelHistory,
  type ModelStore,
  outcomeRecord,
  type StoredOutcome,
} from './model-store.ts';
import { createRequestRegistry, createRequestSequencer } from './request-sequence.ts';
import type { TinkerServerLimits } from './server-limits.ts';

/** Restores a model from its files: loads the snapshot, then repeats the requests since that changed the model. */
async function restoreModel(
  history: ModelHistory,
  card: ModelCard,
  tools: RequestContext,
): Promise<ModelState> {
  const { base, lora, saved, asked, ended } = history;
  let state: ModelState = { adapter: await tools.engine.load(saved, true), lora };
  for (const seq of [...ended.keys()].sort((a, b) => a - b)) {
    const job = asked.get(seq)?.job;
    if (seq <= base || job === undefined || ended.get(seq)?.outcome.kind === 'failed') continue;
    const changesModel =
      job.kind === 'optim_step' || job.kind === 'load_weights' || job.train?.forwardOnly === false;
    if (changesModel) state = (await applyModelRequest(job, seq, card, state, tools)).state;
  }
  return state;
}

/**
 * A model and its requests, carried out one at a time in the order of their sequence numbers.
 *
 * An accepted request is on the disk before the client gets the reply. The journal starts with a snapshot of the model;
 * after a kill the snapshot is loaded and the requests behind it are repeated in the same order. So every accepted request
 * takes effect exactly once, and a retry is recognised by its number.
 */
export interface TrainedModel {
  readonly card: ModelCard;
  readonly state: ModelState | undefined;
  readonly isDamaged: boolean;
  readonly lastUsed: number;
  /** The sequence number that accepted requests wait for, if it has not arrived. */
  readonly missing: number | undefined;
  /** Resolves when the model exists; rejects when it cannot be created. */
  readonly made: Promise<void>;
  /** Resolves with the id of the future. A repeated number with the same content gets the same id. */
  submit(job: ModelRequest, key: string | undefined): Promise<string>;
  /** Resolves when all requests accepted so far have ended. */
  drained(): Promise<void>;
  /** Accepts no more requests and finishes the running one. Queued ones stay in the journal, or fail when a reason is given. */
  close(reason?: string): Promise<void>;
}

interface ModelOptions extends RequestContext {
  readonly folder: string;
  readonly card: ModelCard;
  readonly futures: Futures;
  readonly limits: TinkerServerLimits;
  /** Takes a place in the queue of all models, or throws a Refusal. The result releases the place. */
  readonly admit: () => () => void;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Called for each request in the journal that had an idempotency key. */
  readonly onKey: (key: string, print: string, requestId: string) => void;
}

/** A request during which the process died this many times is not tried again. */
const MAX_ATTEMPTS = 5;
/** The fingerprint of a request that never arrived. */
const GIVEN_UP = '';

export function createTrainedModel(options: ModelOptions, found: ModelStore | undefined): TrainedModel {
  const { card, engine, limits, log } = options;
  const book = createRequestRegistry(card.id, options.futures);
  const turns = createRequestSequencer(limits.gapMs, (late, missing) => failMissing(late, missing));
  let attempts: ReadonlyMap<number, number> = new Map();
  let steps = 0;
  let isClosing = false;
  let damage: string | undefined;
  let lastUsed = options.now();
  let state: ModelState | undefined;
  let store = found;
  let work: Promise<void> = Promise.resolve();
  const logError = (error: Error): void => log(`model ${card.id}: ${error.message}`);

  const make = async (): Promise<void> => {
    const { from, lora } = card;
    state =
      from === undefined
        ? { adapter: await engine.createAdapter(lora), lora }
        : await loadCheckpoint(findCheckpoint(from.path, options.checkpoints), from.withOptimizer, options);
    store = await createModelStore(options.folder, await engine.save(state.adapter, true), state.lora);
  };

  /** Restores what clients may ask for first, then the model. */
  const recall = async (from: ModelStore): Promise<void> => {
    const history = await from.read();
    attempts = history.attempts;
    turns.startAfter(history.base);
    book.recall(history);
    for (const seq of history.ended.keys()) turns.pass(seq);
    for (const [seq, { key, job }] of history.asked) {
      if (key !== undefined) options.onKey(key, job.print, book.idOf(seq));
      if (!history.ended.has(seq)) turns.enter(seq);
      // Counted, or a model that is killed often would never write a snapshot.
      else if (job.kind === 'optim_step') steps++;
    }
    work = restoreModel(history, card, options).then((restored) => {
      state = restored;
    });
    run();
  };

  /** Stores the outcome of a request and, when it is due, a snapshot of the model. */
  const record = async (seq: number, job: ModelRequest, outcome: StoredOutcome): Promise<void> => {
    if (store === undefined || state === undefined) return;
    const isDue =
      job.kind === 'load_weights' || steps >= limits.snapshotSteps || store.size >= limits.journalBytes;
    if (!isDue) return store.end(seq, job.print, outcome);
    const saved = await engine.save(state.adapter, true);
    await store.snapshot(seq, saved, state.lora, () => [
      outcomeRecord(seq, job.print, outcome),
      ...book.carry(seq),
    ]);
    steps = 0;
  };

  /** A failed request does not change the model: after a failure of the server it is restored from its files. */
  const attempt = async (
    seq: number,
    job: ModelRequest,
    from: ModelState,
    to: ModelStore,
  ): Promise<StoredOutcome> => {
    if ((attempts.get(seq) ?? 0) >= MAX_ATTEMPTS) {
      const error = `The engine died ${MAX_ATTEMPTS} times during this request; it is not tried again.`;
      return { kind: 'failed', error, category: 'server' };
    }
    await to.begin(seq);
    try {
      const applied = await applyModelRequest(job, seq, card, from, options);
      state = applied.state;
      if (job.kind === 'optim_step') steps++;
      return applied.outcome;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.category === 'user') return failure;
      log(`model ${card.id}: request ${seq} failed: ${failure.error}`);
      state = await restoreModel(await to.read(), card, options);
      await engine.dispose(from.adapter).catch(logError);
      return failure;
    }
  };

  const pump = async (): Promise<void> => {
    for (let seq = turns.current(); seq !== undefined && !isClosing; seq = turns.current()) {
      const asked = book.find(seq);
      if (asked === undefined || state === undefined || store === undefined || damage !== undefined) return;
      const outcome = await attempt(seq, asked.job, state, store);
      // The client gets the outcome even if it cannot be stored.
      await record(seq, asked.job, outcome).catch(logError);
      turns.pass(seq);
      book.finish(seq, outcome);
    }
  };
  const run = (): void => {
    work = work.then(pump).catch(markDamaged);
  };
  const markDamaged = (error: Error): void => {
    damage = `This model cannot be used: ${error.message}`;
    log(`model ${card.id}: ${damage}`);
    book.failAll({ kind: 'failed', error: damage, category: 'server' });
  };
  /** Fails the missing request and the requests that waited for it. */
  const failMissing = (late: readonly number[], missing: number): void => {
    const seconds = Math.round(limits.gapMs / 1000);
    const error = `Request ${missing} did not arrive within ${seconds} s; it and the requests after it have failed.`;
    const outcome = { kind: 'failed', error, category: 'user' } as const;
    const last = Math.max(...late);
    for (let seq = missing; seq <= last; seq++) {
      const print = book.known(seq)?.print ?? GIVEN_UP;
      book.note(seq, print);
      turns.pass(seq);
      const written = store?.end(seq, print, outcome) ?? Promise.resolve();
      void written.catch(logError).then(() => book.finish(seq, outcome));
    }
  };

  const accept = (seq: number, job: ModelRequest, key: string | undefined): void => {
    if (damage !== undefined) throw new HttpRefusal(500, damage);
    if (isClosing || store === undefined) throw new HttpRefusal(503, 'The model is closing.', 1);
    if (seq - turns.next >= limits.gap)
      throw new HttpRefusal(400, `Request ${seq} is too far ahead of ${turns.next}.`);
    if (book.openCount >= limits.perModel)
      throw new HttpRefusal(429, 'Too many requests are queued for this model.', 1);
    const leave = options.admit();
    turns.notice(seq);
    const stored = store.ask(seq, { job, key }).then(
      () => {
        turns.enter(seq);
        run();
      },
      (error: Error) => {
        logError(error);
        book.strike(seq);
        // A client that numbers its requests sends this number again. A number that we assigned must be skipped.
        if (job.seqId === undefined) turns.pass(seq);
        throw new HttpRefusal(503, 'The request could not be written to the disk.', 5);
      },
    );
    stored.catch(() => undefined);
    book.enter(seq, { job, key }, stored, leave);
  };

  const made = found === undefined ? make() : recall(found).catch(markDamaged);
  made.catch(() => undefined);

  return {
    card,
    made,
    get state() {
      return state;
    },
    get isDamaged() {
      return damage !== undefined;
    },
    get lastUsed() {
      return lastUsed;
    },
    get missing() {
      return turns.missing;
    },
    submit: async (job, key) => {
      await made;
      lastUsed = options.now();
      const seq = job.seqId ?? turns.highest + 1;
      const known = book.known(seq);
      if (known !== undefined && known.print !== job.print && known.print !== GIVEN_UP)
        throw new HttpRefusal(409, `Request ${seq} of this model had other content.`);
      // A request that has ended and whose result is no longer kept still has an id.
      if (known === undefined && seq >= turns.next) accept(seq, job, key);
      await book.known(seq)?.stored;
      return book.idOf(seq);
    },
    drained: async () => {
      for (let last: Promise<void> | undefined; last !== work; ) {
        last = work;
        await last;
      }
    },
    close: async (reason) => {
      isClosing = true;
      turns.stop();
      await made.catch(() => undefined);
      await work;
      await store?.close();
      if (reason !== undefined) book.failAll({ kind: 'failed', error: reason, category: 'user' });
    },
  };
}
