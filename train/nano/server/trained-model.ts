import { findCheckpoint, loadCheckpoint, type ModelCard, type ModelState } from './checkpoints.ts';
import { type Futures, failureOf } from './futures.ts';
import { HttpRefusal } from './http.ts';
import { applyModelRequest, type ModelContext, type ModelRequest } from './model-request.ts';
import {
  type AcceptedRequest,
  createModelStore,
  type ModelHistory,
  type ModelStore,
  outcomeRecord,
  type StoredOutcome,
} from './model-store.ts';
import {
  createRequestRegistry,
  createRequestSequencer,
  type RequestRegistry,
  type RequestSequencer,
} from './request-sequence.ts';
import type { TinkerServerLimits } from './server-limits.ts';

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

interface ModelOptions extends ModelContext {
  readonly folder: string;
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

/** `stored` has the files of a model that existed before. */
export function createTrainedModel(options: ModelOptions, stored: ModelStore | undefined): TrainedModel {
  const { card } = options;
  const model: ServedModel = {
    options,
    requests: createRequestRegistry(card.id, options.futures),
    sequence: createRequestSequencer(options.limits.gapMs, (late, missing) =>
      failMissing(model, late, missing),
    ),
    attempts: new Map(),
    steps: 0,
    isClosing: false,
    damage: undefined,
    state: undefined,
    store: stored,
    work: Promise.resolve(),
  };
  const { requests, sequence } = model;
  let lastUsed = options.now();
  const made =
    stored === undefined
      ? makeModel(model)
      : recallModel(model, stored).catch((error: Error) => markDamaged(model, error));
  made.catch(() => undefined);

  return {
    card,
    made,
    get state() {
      return model.state;
    },
    get isDamaged() {
      return model.damage !== undefined;
    },
    get lastUsed() {
      return lastUsed;
    },
    get missing() {
      return sequence.missing;
    },
    submit: async (job, key) => {
      await made;
      lastUsed = options.now();
      const seq = job.seqId ?? sequence.highest + 1;
      const before = requests.used(seq);
      if (before !== undefined && before.print !== job.print && before.print !== GIVEN_UP)
        throw new HttpRefusal(409, `Request ${seq} of this model had other content.`);
      // A request that has ended and whose result is no longer kept still has an id.
      if (before === undefined && seq >= sequence.next) accept(model, seq, { job, key });
      await requests.used(seq)?.stored;
      return requests.idOf(seq);
    },
    drained: async () => {
      for (let last: Promise<void> | undefined; last !== model.work; ) {
        last = model.work;
        await last;
      }
    },
    close: async (reason) => {
      model.isClosing = true;
      sequence.stop();
      await made.catch(() => undefined);
      await model.work;
      await model.store?.close();
      if (reason !== undefined) requests.failAll({ kind: 'failed', error: reason, category: 'user' });
    },
  };
}

interface ServedModel {
  readonly options: ModelOptions;
  readonly requests: RequestRegistry;
  readonly sequence: RequestSequencer;
  /** How often the process died during a request, by its number. */
  attempts: ReadonlyMap<number, number>;
  /** Optimizer steps since the last snapshot. */
  steps: number;
  isClosing: boolean;
  /** Why the model cannot be used. */
  damage: string | undefined;
  /** Undefined until it was created or restored. */
  state: ModelState | undefined;
  store: ModelStore | undefined;
  /** Resolves when the requests that run or are next have ended. */
  work: Promise<void>;
}

async function makeModel(model: ServedModel): Promise<void> {
  const { options } = model;
  const { engine, checkpoints, folder } = options;
  const { from, lora } = options.card;
  const state =
    from === undefined
      ? { adapter: await engine.createAdapter(lora), lora }
      : await loadCheckpoint(findCheckpoint(from.path, checkpoints), from.withOptimizer, options);
  model.state = state;
  model.store = await createModelStore(folder, await engine.save(state.adapter, true), state.lora);
}

/** Restores what clients may ask for first, then the model. */
async function recallModel(model: ServedModel, store: ModelStore): Promise<void> {
  const { options, requests, sequence } = model;
  const history = await store.read();
  model.attempts = history.attempts;
  sequence.startAfter(history.base);
  requests.recall(history);
  for (const seq of history.ended.keys()) sequence.pass(seq);
  for (const [seq, { key, job }] of history.asked) {
    if (key !== undefined) options.onKey(key, job.print, requests.idOf(seq));
    if (!history.ended.has(seq)) sequence.enter(seq);
    // Counted, or a model that is killed often would never write a snapshot.
    else if (job.kind === 'optim_step') model.steps++;
  }
  model.work = restoreModel(history, options).then((state) => {
    model.state = state;
  });
  run(model);
}

/** Restores a model from its files: loads the snapshot, then repeats the requests since that changed the model. */
async function restoreModel(history: ModelHistory, context: ModelContext): Promise<ModelState> {
  const { base, lora, saved, asked, ended } = history;
  let state: ModelState = { adapter: await context.engine.load(saved, true), lora };
  for (const seq of [...ended.keys()].sort((a, b) => a - b)) {
    const job = asked.get(seq)?.job;
    if (seq <= base || job === undefined || ended.get(seq)?.outcome.kind === 'failed') continue;
    const changesModel =
      job.kind === 'optim_step' || job.kind === 'load_weights' || job.train?.forwardOnly === false;
    if (changesModel) state = (await applyModelRequest(job, seq, state, context)).state;
  }
  return state;
}

/** Stores a request, then lets it run in its turn. Throws a Refusal when it cannot be accepted. */
function accept(model: ServedModel, seq: number, asked: AcceptedRequest): void {
  const { options, requests, sequence, store } = model;
  const { limits } = options;
  if (model.damage !== undefined) throw new HttpRefusal(500, model.damage);
  if (model.isClosing || store === undefined) throw new HttpRefusal(503, 'The model is closing.', 1);
  if (seq - sequence.next >= limits.gap)
    throw new HttpRefusal(400, `Request ${seq} is too far ahead of ${sequence.next}.`);
  if (requests.openCount >= limits.perModel)
    throw new HttpRefusal(429, 'Too many requests are queued for this model.', 1);
  const leave = options.admit();
  sequence.notice(seq);
  const stored = store.ask(seq, asked).then(
    () => {
      sequence.enter(seq);
      run(model);
    },
    (error: Error) => {
      logError(model, error);
      requests.strike(seq);
      // A client that numbers its requests sends this number again. A number that we assigned must be skipped.
      if (asked.job.seqId === undefined) sequence.pass(seq);
      throw new HttpRefusal(503, 'The request could not be written to the disk.', 5);
    },
  );
  stored.catch(() => undefined);
  requests.enter(seq, asked, stored, leave);
}

/** Carries out all requests that can run, behind those that run already. */
function run(model: ServedModel): void {
  model.work = model.work.then(() => pump(model)).catch((error: Error) => markDamaged(model, error));
}

async function pump(model: ServedModel): Promise<void> {
  const { requests, sequence } = model;
  for (let seq = sequence.current(); seq !== undefined && !model.isClosing; seq = sequence.current()) {
    const asked = requests.find(seq);
    const { state, store, damage } = model;
    if (asked === undefined || state === undefined || store === undefined || damage !== undefined) return;
    const outcome = await attempt(model, { seq, job: asked.job }, state, store);
    // The client gets the outcome even if it cannot be stored.
    await record(model, { seq, job: asked.job }, outcome, store).catch((error: Error) =>
      logError(model, error),
    );
    sequence.pass(seq);
    requests.finish(seq, outcome);
  }
}

interface NumberedRequest {
  readonly seq: number;
  readonly job: ModelRequest;
}

/** A failed request does not change the model: after a failure of the server it is restored from its files. */
async function attempt(
  model: ServedModel,
  { seq, job }: NumberedRequest,
  from: ModelState,
  store: ModelStore,
): Promise<StoredOutcome> {
  const { options } = model;
  if ((model.attempts.get(seq) ?? 0) >= MAX_ATTEMPTS) {
    const error = `The engine died ${MAX_ATTEMPTS} times during this request; it is not tried again.`;
    return { kind: 'failed', error, category: 'server' };
  }
  await store.begin(seq);
  try {
    const applied = await applyModelRequest(job, seq, from, options);
    model.state = applied.state;
    if (job.kind === 'optim_step') model.steps++;
    return applied.outcome;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.category === 'user') return failure;
    options.log(`model ${options.card.id}: request ${seq} failed: ${failure.error}`);
    model.state = await restoreModel(await store.read(), options);
    await options.engine.dispose(from.adapter).catch((fault: Error) => logError(model, fault));
    return failure;
  }
}

/** Stores the outcome of a request and, when it is due, a snapshot of the model. */
async function record(
  model: ServedModel,
  { seq, job }: NumberedRequest,
  outcome: StoredOutcome,
  store: ModelStore,
): Promise<void> {
  const { engine, limits } = model.options;
  if (model.state === undefined) return;
  const isDue =
    job.kind === 'load_weights' || model.steps >= limits.snapshotSteps || store.size >= limits.journalBytes;
  if (!isDue) return store.end(seq, job.print, outcome);
  const { adapter, lora } = model.state;
  await store.snapshot(seq, await engine.save(adapter, true), lora, () => [
    outcomeRecord(seq, job.print, outcome),
    ...model.requests.carry(seq),
  ]);
  model.steps = 0;
}

/** Fails the missing request and the requests that waited for it. */
function failMissing(model: ServedModel, late: readonly number[], missing: number): void {
  const { requests, sequence, store } = model;
  const seconds = Math.round(model.options.limits.gapMs / 1000);
  const error = `Request ${missing} did not arrive within ${seconds} s; it and the requests after it have failed.`;
  const outcome = { kind: 'failed', error, category: 'user' } as const;
  const last = Math.max(...late);
  for (let seq = missing; seq <= last; seq++) {
    const print = requests.used(seq)?.print ?? GIVEN_UP;
    requests.note(seq, print);
    sequence.pass(seq);
    const written = store?.end(seq, print, outcome) ?? Promise.resolve();
    void written.catch((fault: Error) => logError(model, fault)).then(() => requests.finish(seq, outcome));
  }
}

function markDamaged(model: ServedModel, error: Error): void {
  const { options, requests } = model;
  model.damage = `This model cannot be used: ${error.message}`;
  options.log(`model ${options.card.id}: ${model.damage}`);
  requests.failAll({ kind: 'failed', error: model.damage, category: 'server' });
}

const logError = ({ options }: ServedModel, error: Error): void =>
  options.log(`model ${options.card.id}: ${error.message}`);
