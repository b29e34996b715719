import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { terminateWorker } from '../base/sqlite-gate.ts';
import { workerModule } from '../base/worker-thread.ts';
import type { TurnIntent, TurnRecord, TurnRecorder } from '../core/recorder.ts';
import {
  type AppendResult,
  type Block,
  type Erasure,
  type NewFact,
  type RecordingState,
  type SpoolState,
  StoreError,
} from '../core/store.ts';
import {
  createRingBuffer,
  type ExpireRequest,
  packJobs,
  type RingSpan,
  type SentBytes,
  type WriterJob,
  type WriterMessage,
  type WriterSettings,
} from './writer-messages.ts';

export interface Recorder extends TurnRecorder {
  append(
    facts: readonly NewFact[],
    blocks?: readonly Block[],
    isPatient?: boolean,
  ): Promise<readonly AppendResult[]>;
  /** Erases sessions by their age; the number of sessions erased. */
  expire(request: ExpireRequest): Promise<number>;
  erase(session: string, reason: string): Promise<Erasure>;
  setKeys(keys: readonly string[]): void;
  state(): RecordingState;
  /** The message chains of sessions without ids from earlier runs; empty when the store cannot be opened. */
  readonly chains: Promise<SessionChains>;
  /**
   * Calls `restore` with `chains`, and again when a store opens that could not be opened at first. Resolves after the
   * first call.
   */
  restoreChains(restore: (chains: SessionChains) => void): Promise<void>;
  close(): Promise<void>;
}

/** Bytes and jobs in flight to the writer; beyond this turns are served, not recorded, and counted as lost. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_JOBS = 20_000;
const LONGEST_REPLY = 8 * 1024 * 1024;
const RING_BYTES = 8 * 1024 * 1024;
/** The limit of bytes in flight that back-pressure aims at: it fits into the ring, and is written soon. */
const ENOUGH_BYTES = 6 * 1024 * 1024;
const PATIENCE_MS = 500;

type SessionChains = readonly { readonly session: string; readonly link: string }[];

interface Asker {
  resolve(value: never): void;
  reject(error: Error): void;
}

/** Jobs on their way to the writer thread: those of one tick are one message. */
function createOutbox(worker: Worker): (job: WriterJob, sent?: SentBytes) => void {
  let jobs: WriterJob[] = [];
  let bytes: SentBytes[] = [];
  let transfer: ArrayBuffer[] = [];
  const post = (): void => {
    const packed = packJobs(jobs, bytes);
    const list = transfer;
    jobs = [];
    bytes = [];
    transfer = [];
    worker.postMessage(packed, list);
  };
  return (job, sent) => {
    if (jobs.length === 0) setImmediate(post);
    jobs.push(job);
    bytes.push(sent);
    if (sent instanceof Uint8Array) transfer.push(sent.buffer as ArrayBuffer);
  };
}

/** Chains of earlier runs: of the spool, and of the store when it opens. */
function collectChains() {
  const collected: SessionChains[] = [];
  let receive = (one: SessionChains): void => void collected.push(one);
  let settle: (chains: SessionChains) => void = () => undefined;
  const first = new Promise<SessionChains>((resolve) => {
    settle = resolve;
  });
  return {
    first,
    add: (one: SessionChains): void => {
      receive(one);
      settle(one);
    },
    /** Nothing could be opened: whoever waits goes on without chains. */
    giveUp: () => settle([]),
    restore: async (restore: (chains: SessionChains) => void): Promise<void> => {
      await first;
      for (const one of collected) restore(one);
      receive = restore;
    },
  };
}

/**
 * The gateway's side of recording: copies bytes and posts them to the writer thread, without waiting. `onRecorded` is called
 * with the number of turns that have ended and are durable.
 */
export function createRecorder(
  settings: Omit<WriterSettings, 'ring' | 'now'>,
  now: () => number,
  onRecorded: (turns: number) => void = () => undefined,
): Recorder {
  const memory = new SharedArrayBuffer(RING_BYTES);
  const ring = createRingBuffer(memory);
  const counts = { jobs: 0, bytes: 0, recorded: 0, lost: 0, unreadable: 0 };
  const room = createBackPressure({ used: () => counts.bytes, most: ENOUGH_BYTES, patienceMs: PATIENCE_MS });
  const chains = collectChains();
  let spool: SpoolState | undefined;
  const thread = openWriterThread({ ...settings, ring: memory, now: now() }, (message) => {
    if (message.type === 'open') chains.add(message.chains);
    else if (message.type === 'done') {
      counts.jobs -= message.jobs;
      counts.bytes -= message.bytes;
      ring.release(message.released);
      counts.recorded += message.recorded;
      counts.lost += message.lost;
      counts.unreadable += message.unreadable;
      room.look();
      if (message.recorded > 0) onRecorded(message.recorded);
    } else {
      if (message.type === 'state') spool = message.spool;
      if (message.degraded ?? spool) chains.giveUp();
      if (message.degraded !== undefined) room.open();
    }
  });
  let keys = settings.keys;
  const hasRoom = (bytes: number): boolean =>
    !thread.isDead() && counts.jobs < MOST_JOBS && counts.bytes + bytes <= MOST_BYTES;
  /** Into the ring, or into a copy that is transferred when the ring is full. */
  const carry = (pieces: readonly Uint8Array[], size: number): RingSpan | Uint8Array =>
    ring.put(pieces, size) ?? join(pieces, size);
  const start = (intent: TurnIntent): TurnRecord => {
    const { body } = intent;
    if (!hasRoom(body?.length ?? 0)) {
      counts.lost++;
      return { chunk: () => undefined, head: () => undefined, end: () => undefined };
    }
    counts.jobs += 2;
    counts.bytes += body?.length ?? 0;
    // JSON omits undefined members.
    const bodiless = { ...intent, body: undefined };
    const job: WriterJob = { type: 'start', at: now(), intent: bodiless, body: undefined };
    thread.send(job, body && carry([body], body.length));
    return createRecord(intent, now, (end, chunks, size) => {
      counts.bytes += chunks === undefined ? 0 : size;
      thread.send(end, chunks && carry(chunks, size));
    });
  };
  const { ask, degraded } = thread;

  return {
    room: (bytes) => (degraded() === undefined ? room.enter(bytes) : undefined),
    start,
    isRecording: () => degraded() === undefined,
    spooled: () => spool,
    append: (facts, blocks = [], isPatient = false) =>
      ask((id) => ({ type: 'append', id, facts, blocks, isPatient })),
    erase: (session, reason) => ask((id) => ({ type: 'erase', id, at: now(), session, reason })),
    expire: (request) => ask((id) => ({ type: 'expire', id, ...request })),
    setKeys: (fresh) => {
      if (isDeepStrictEqual(fresh, keys)) return;
      keys = fresh;
      thread.send({ type: 'keys', keys });
    },
    state: () => ({
      degraded: degraded(),
      lost: counts.lost,
      recorded: counts.recorded,
      unreadable: counts.unreadable,
      pending: counts.jobs + thread.waiting(),
      spool,
    }),
    chains: chains.first,
    restoreChains: chains.restore,
    close: thread.close,
  };
}

/** What the writer thread reports beside answers; `ended`: it will not report anything more. */
type ThreadReport =
  | (WriterMessage & { readonly type: 'open' | 'done' | 'state' })
  | { readonly type: 'ended'; readonly degraded: string };

/** The thread that owns the store. Questions to one that has ended are refused with `closed`. */
function openWriterThread(workerData: WriterSettings, report: (message: ThreadReport) => void) {
  const worker = new Worker(workerModule('./writer-thread.ts', import.meta.url), { workerData });
  const send = createOutbox(worker);
  const askers = new Map<number, Asker>();
  let degraded: string | undefined;
  let isDead = false;
  let nextId = 1;

  worker.on('message', (message: WriterMessage) => {
    if (message.type === 'answer' || message.type === 'refusal') {
      const asker = askers.get(message.id);
      askers.delete(message.id);
      if (message.type === 'answer') asker?.resolve(message.value as never);
      else asker?.reject(new StoreError(message.code as StoreError['code'], message.message));
      return;
    }
    if (message.type === 'state') degraded = message.degraded;
    report(message);
  });
  const end = (reason: string): void => {
    isDead = true;
    degraded = reason;
    report({ type: 'ended', degraded });
    for (const { reject } of askers.values()) reject(new StoreError('closed', reason));
    askers.clear();
  };
  worker.on('error', (error) => end(`The recording thread failed: ${error.message}`));
  worker.on('exit', () => end('The recording thread has ended.'));

  const ask = <T>(make: (id: number) => WriterJob): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (isDead) return reject(new StoreError('closed', degraded ?? 'Recording has ended.'));
      const id = nextId++;
      askers.set(id, { resolve: resolve as Asker['resolve'], reject });
      send(make(id));
    });
  return {
    send,
    ask,
    waiting: () => askers.size,
    isDead: () => isDead,
    degraded: () => degraded,
    close: async (): Promise<void> => {
      if (!isDead) await ask((id) => ({ type: 'close', id })).catch(() => undefined);
      await terminateWorker(worker);
    },
  };
}

type EndJob = WriterJob & { readonly type: 'end' };

function createRecord(
  { turn, session, wire, policy: asked }: TurnIntent,
  now: () => number,
  finish: (job: EndJob, chunks: readonly Buffer[] | undefined, size: number) => void,
): TurnRecord {
  let chunks: Buffer[] = [];
  let size = 0;
  let contentType = '';
  let contentEncoding: string | undefined;
  const startedAt = performance.now();
  let firstByteMs: number | undefined;
  return {
    head: (type, encoding) => {
      firstByteMs = performance.now() - startedAt;
      contentType = type;
      contentEncoding = encoding;
    },
    chunk: (bytes) => {
      size += bytes.length;
      if (size <= LONGEST_REPLY) chunks.push(bytes);
      else chunks = [];
    },
    end: (outcome) => {
      const reply = size > LONGEST_REPLY ? undefined : chunks;
      chunks = [];
      const job: EndJob = {
        type: 'end',
        at: now(),
        turn,
        session,
        wire,
        asked,
        outcome,
        firstByteMs,
        contentType,
        contentEncoding,
        replyBytes: size,
        reply: undefined,
      };
      finish(job, reply, size);
    },
  };
}

/** A copy with memory of its own, which can be transferred. */
function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Back-pressure: turns wait, in order and for a limited time, while too many bytes are in flight. */
export interface BackPressure {
  /** Undefined when there is room for this many bytes now. Else resolves when there is, or after `patienceMs`. */
  enter(bytes: number): Promise<void> | undefined;
  /** Bytes were freed: admits the waiting turns that fit now. */
  look(): void;
  /** Admits all waiting turns. */
  open(): void;
}

export interface BackPressureOptions {
  /** Bytes in flight. */
  readonly used: () => number;
  readonly most: number;
  readonly patienceMs: number;
}

interface Waiter {
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
  resolve(): void;
}

export function createBackPressure({ used, most, patienceMs }: BackPressureOptions): BackPressure {
  const waiting = new Set<Waiter>();
  /** A turn larger than the limit is admitted when nothing else is in flight. */
  const fits = (bytes: number, taken: number): boolean => taken === 0 || taken + bytes <= most;
  const admit = (waiter: Waiter): void => {
    waiting.delete(waiter);
    clearTimeout(waiter.timer);
    waiter.resolve();
  };
  return {
    enter: (bytes) => {
      if (waiting.size === 0 && fits(bytes, used())) return undefined;
      return new Promise((resolve) => {
        const timer = setTimeout(() => admit(waiter), patienceMs);
        const waiter: Waiter = { bytes, timer, resolve };
        waiting.add(waiter);
      });
    },
    look: () => {
      // Admitted turns are in flight a moment later: their bytes count already.
      let taken = used();
      for (const waiter of waiting) {
        if (!fits(waiter.bytes, taken)) return;
        taken += waiter.bytes;
        admit(waiter);
      }
    },
    open: () => {
      for (const waiter of waiting) admit(waiter);
    },
  };
}
