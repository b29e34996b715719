import { applyJob, findCheckpoint, loadCheckpoint, type ModelState, type Tools } from './apply-job.ts';
import type { Futures } from './futures.ts';
import type { Job } from './job.ts';
import type { Limits } from './limits.ts';
import type { ModelCard } from './model-card.ts';
import { createModelStore, endRecord, type ModelStore, type StoredOutcome } from './model-store.ts';
import { failureOf } from './outcome.ts';
import { Refusal } from './refusal.ts';
import { createRequestBook } from './request-book.ts';
import { restoreModel } from './restore-model.ts';
import { createTurns } from './turns.ts';

/**
 * A model and the requests to it, done one after another in the order of their numbers.
 *
 * Whatever was accepted is on the disk before the client hears of it. The journal starts with a snapshot of the model;
 * after a kill the snapshot is loaded and what follows is done again, in the same order. So every accepted request
 * counts exactly once, and what a client sends again because it heard nothing is recognised by its number.
 */
export interface TrainedModel {
  readonly card: ModelCard;
  readonly state: ModelState | undefined;
  readonly isDamaged: boolean;
  readonly lastUsed: number;
  /** The number that accepted requests wait for, when it has not come. */
  readonly missing: number | undefined;
  /** Resolves when the model exists; rejects when it cannot be made. */
  readonly made: Promise<void>;
  /** Answers with the id of its future. A known number with the same content gets the old one. */
  submit(job: Job, key: string | undefined): Promise<string>;
  /** Resolves when all that was accepted so far is over. */
  drained(): Promise<void>;
  /** Accepts no more. What is being done ends; what waits is left in the journal, or fails when a reason is given. */
  close(reason?: string): Promise<void>;
}

export interface ModelOptions extends Tools {
  readonly folder: string;
  readonly card: ModelCard;
  readonly futures: Futures;
  readonly limits: Limits;
  /** Takes a place in the queue of all models, or refuses. The answer gives it back. */
  readonly admit: () => () => void;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Of a request in the journal that had a key. */
  readonly onKey: (key: string, print: string, requestId: string) => void;
}

/** A request that was being done when the process died, so many times, is not tried again. */
const MAX_ATTEMPTS = 5;
/** Stands for the content of a request that never came. */
const GIVEN_UP = '';

export function createTrainedModel(options: ModelOptions, found: ModelStore | undefined): TrainedModel {
  const { card, engine, limits, log } = options;
  const book = createRequestBook(card.id, options.futures);
  const turns = createTurns(limits.gapMs, (late, missing) => giveUp(late, missing));
  let attempts: ReadonlyMap<number, number> = new Map();
  let steps = 0;
  let isClosing = false;
  let damage: string | undefined;
  let lastUsed = options.now();
  let state: ModelState | undefined;
  let store = found;
  let work: Promise<void> = Promise.resolve();
  const complain = (error: Error): void => log(`model ${card.id}: ${error.message}`);

  const make = async (): Promise<void> => {
    const { from, lora } = card;
    state =
      from === undefined
        ? { adapter: await engine.createAdapter(lora), lora }
        : await loadCheckpoint(findCheckpoint(from.path, options.checkpoints), from.withOptimizer, options);
    store = await createModelStore(options.folder, await engine.save(state.adapter, true), state.lora);
  };

  /** First what clients may ask for, then the work of the engine. */
  const recall = async (from: ModelStore): Promise<void> => {
    const history = await from.read();
    attempts = history.attempts;
    turns.startAfter(history.base);
    book.recall(history);
    for (const seq of history.ended.keys()) turns.pass(seq);
    for (const [seq, { key, job }] of history.asked) {
      if (key !== undefined) options.onKey(key, job.print, book.idOf(seq));
      if (!history.ended.has(seq)) turns.enter(seq);
      // Or one that is killed often would never make a snapshot.
      else if (job.kind === 'optim_step') steps++;
    }
    work = restoreModel(history, card, options).then((restored) => {
      state = restored;
    });
    run();
  };

  /** Writes down how a request ended and, when it is time, the whole model with it. */
  const record = async (seq: number, job: Job, outcome: StoredOutcome): Promise<void> => {
    if (store === undefined || state === undefined) return;
    const isDue =
      job.kind === 'load_weights' || steps >= limits.snapshotSteps || store.size >= limits.journalBytes;
    if (!isDue) return store.end(seq, job.print, outcome);
    const saved = await engine.save(state.adapter, true);
    await store.snapshot(seq, saved, state.lora, () => [
      endRecord(seq, job.print, outcome),
      ...book.carry(seq),
    ]);
    steps = 0;
  };

  /** A failed request leaves no trace in the model: where nobody knows how far it came, the files do. */
  const attempt = async (seq: number, job: Job, from: ModelState, to: ModelStore): Promise<StoredOutcome> => {
    if ((attempts.get(seq) ?? 0) >= MAX_ATTEMPTS) {
      const error = `The engine died ${MAX_ATTEMPTS} times while it did this request; it is not tried again.`;
      return { kind: 'failed', error, category: 'server' };
    }
    await to.begin(seq);
    try {
      const applied = await applyJob(job, seq, card, from, options);
      state = applied.state;
      if (job.kind === 'optim_step') steps++;
      return applied.outcome;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.category === 'user') return failure;
      log(`model ${card.id}: request ${seq} failed: ${failure.error}`);
      state = await restoreModel(await to.read(), card, options);
      await engine.dispose(from.adapter).catch(complain);
      return failure;
    }
  };

  const pump = async (): Promise<void> => {
    for (let seq = turns.current(); seq !== undefined && !isClosing; seq = turns.current()) {
      const asked = book.find(seq);
      if (asked === undefined || state === undefined || store === undefined || damage !== undefined) return;
      const outcome = await attempt(seq, asked.job, state, store);
      // Even if it cannot be written down, the client may know.
      await record(seq, asked.job, outcome).catch(complain);
      turns.pass(seq);
      book.finish(seq, outcome);
    }
  };
  const run = (): void => {
    work = work.then(pump).catch(breakDown);
  };
  const breakDown = (error: Error): void => {
    damage = `This model is out of order: ${error.message}`;
    log(`model ${card.id}: ${damage}`);
    book.failAll({ kind: 'failed', error: damage, category: 'server' });
  };
  /** Neither what never came is waited for any longer, nor what came after it done. */
  const giveUp = (late: readonly number[], missing: number): void => {
    const seconds = Math.round(limits.gapMs / 1000);
    const error = `Request ${missing} did not come within ${seconds} s, so it and those after it were given up.`;
    const outcome = { kind: 'failed', error, category: 'user' } as const;
    const last = Math.max(...late);
    for (let seq = missing; seq <= last; seq++) {
      const print = book.known(seq)?.print ?? GIVEN_UP;
      book.note(seq, print);
      turns.pass(seq);
      const written = store?.end(seq, print, outcome) ?? Promise.resolve();
      void written.catch(complain).then(() => book.finish(seq, outcome));
    }
  };

  const accept = (seq: number, job: Job, key: string | undefined): void => {
    if (damage !== undefined) throw new Refusal(500, damage);
    if (isClosing || store === undefined) throw new Refusal(503, 'The model is being put away.', 1);
    if (seq - turns.next >= limits.gap)
      throw new Refusal(400, `Request ${seq} is too far ahead of ${turns.next}.`);
    if (book.openCount >= limits.perModel)
      throw new Refusal(429, 'Too many requests wait for this model.', 1);
    const leave = options.admit();
    turns.notice(seq);
    const stored = store.ask(seq, { job, key }).then(
      () => {
        turns.enter(seq);
        run();
      },
      (error: Error) => {
        complain(error);
        book.strike(seq);
        // The client counts for itself, and will send this number again; if we counted, nobody will.
        if (job.seqId === undefined) turns.pass(seq);
        throw new Refusal(503, 'The request cannot be written to the disk.', 5);
      },
    );
    stored.catch(() => undefined);
    book.enter(seq, { job, key }, stored, leave);
  };

  const made = found === undefined ? make() : recall(found).catch(breakDown);
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
        throw new Refusal(409, `Request ${seq} of this model was another one.`);
      // One that is over and whose answer is no longer kept has an id, under which nothing is found.
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
