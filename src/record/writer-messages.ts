import type { GatewayProcess } from '../core/gateway-process.ts';
import type { TurnIntent, TurnOutcome } from '../core/recorder.ts';
import type { AppendResult, Block, Erasure, NewFact, SpoolState } from '../core/store.ts';

/** A message to the writer thread. Bytes travel separately: in the ring, or transferred. */
export type WriterJob =
  | {
      readonly type: 'start';
      readonly at: number;
      readonly intent: Omit<TurnIntent, 'body'>;
      readonly body: Uint8Array | undefined;
      /** Ring space that the body occupies until the job is done. */
      readonly held?: number;
    }
  | {
      readonly type: 'end';
      readonly at: number;
      readonly turn: string;
      readonly session: string;
      readonly wire: TurnIntent['wire'];
      readonly asked: string;
      readonly outcome: TurnOutcome;
      readonly firstByteMs: number | undefined;
      readonly contentType: string;
      readonly contentEncoding: string | undefined;
      readonly replyBytes: number;
      /** Undefined when the reply was too long to record. */
      readonly reply: Uint8Array | undefined;
      readonly held?: number;
    }
  | {
      readonly type: 'append';
      readonly id: number;
      /** It may wait for a group commit, as turns do. */
      readonly isPatient: boolean;
      readonly facts: readonly NewFact[];
      readonly blocks: readonly Block[];
    }
  | {
      readonly type: 'erase';
      readonly id: number;
      readonly at: number;
      readonly session: string;
      readonly reason: string;
    }
  | ({ readonly type: 'expire'; readonly id: number } & ExpireRequest)
  | { readonly type: 'keys'; readonly keys: readonly string[] }
  | { readonly type: 'close'; readonly id: number };

/** Whether it is written only while this process has a right. */
export const isFenced = ({ facts }: WriterJob & { readonly type: 'append' }): boolean =>
  facts.some(({ fence }) => fence !== undefined);

/** Which sessions to erase because of their age. */
export interface ExpireRequest {
  /** Those whose last turn is older than this. */
  readonly before: number;
  readonly at: number;
  readonly limit: number;
  /** Only those that a copy holds: with no fact of a turn after this number. Absent: whether a copy holds them or not. */
  readonly upTo?: number;
}

/** A message from the writer thread. */
export type WriterMessage =
  | { readonly type: 'open'; readonly chains: readonly { readonly session: string; readonly link: string }[] }
  /** Counts of finished jobs and freed bytes, whether or not they could be recorded. */
  | {
      readonly type: 'done';
      readonly jobs: number;
      readonly bytes: number;
      readonly released: number;
      readonly recorded: number;
      readonly lost: number;
      /** Requests and replies among them that could not be read. */
      readonly unreadable: number;
    }
  | {
      readonly type: 'state';
      readonly degraded: string | undefined;
      readonly spool?: SpoolState | undefined;
    }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly value: readonly AppendResult[] | Erasure | number | undefined;
    }
  | { readonly type: 'refusal'; readonly id: number; readonly code: string; readonly message: string };

export interface WriterSettings {
  /** A file, or the URL of a PostgreSQL. */
  readonly place: string;
  /** For what happens while a database is away; absent: it waits in memory. */
  readonly spool?: { readonly file: string; readonly mostBytes: number } | undefined;
  /** Carries bodies and replies. */
  readonly ring: SharedArrayBuffer;
  /** Secrets of this installation, to be redacted. */
  readonly keys: readonly string[];
  /** The HMAC key of redaction marks. */
  readonly salt: string;
  /** The time, for the ends of turns that a dead process left open. */
  readonly now: number;
  /** This run of the gateway, where several share a record. */
  readonly gateway?: GatewayProcess | undefined;
}

/** Bytes of a job: in memory of their own that is transferred, or in the ring. */
export type SentBytes = Uint8Array | RingSpan | undefined;

/** Jobs as sent between threads: bytes separately, the rest as JSON, which costs a fraction of cloning objects. */
export interface PackedJobs {
  readonly text: string;
  readonly bytes: readonly SentBytes[];
}

export const packJobs = (jobs: readonly WriterJob[], bytes: readonly SentBytes[]): PackedJobs => ({
  text: JSON.stringify(jobs),
  bytes,
});

export function unpackJobs({ text, bytes }: PackedJobs, ring: SharedArrayBuffer): readonly WriterJob[] {
  const jobs = JSON.parse(text) as WriterJob[];
  for (const [index, sent] of bytes.entries()) {
    const job = jobs[index];
    if (sent === undefined || (job?.type !== 'start' && job?.type !== 'end')) continue;
    const isOwn = sent instanceof Uint8Array;
    const found = isOwn ? sent : new Uint8Array(ring, sent.at, sent.length);
    // The job was just parsed, so that it may be modified.
    Object.assign(
      job,
      job.type === 'start' ? { body: found } : { reply: found },
      isOwn ? {} : { held: sent.taken },
    );
  }
  return jobs;
}

/** The same job with its bytes copied out of the ring: a job that waits must not occupy the ring. */
export function copyOutOfRing(job: WriterJob): WriterJob {
  if ((job.type !== 'start' && job.type !== 'end') || job.held === undefined) return job;
  const { held: _, ...rest } = job;
  return rest.type === 'start'
    ? { ...rest, body: rest.body?.slice() }
    : { ...rest, reply: rest.reply?.slice() };
}

export const ringBytesOf = (job: WriterJob): number => ('held' in job ? (job.held ?? 0) : 0);

/** The location of bytes in the ring. `taken` is the space they occupy, including what was skipped at the end of the ring. */
export interface RingSpan {
  readonly at: number;
  readonly length: number;
  readonly taken: number;
}

export interface RingBuffer {
  /** Copies bytes into the ring; undefined when there is no space for them now. */
  put(pieces: readonly Uint8Array[], length: number): RingSpan | undefined;
  /** Frees space, in the order in which it was taken. */
  release(taken: number): void;
}

/**
 * A ring buffer in memory shared by two threads, filled by one and read by the other: bytes cross without an allocation,
 * and so without garbage collection. They stay until they are released.
 */
export function createRingBuffer(memory: SharedArrayBuffer): RingBuffer {
  const bytes = new Uint8Array(memory);
  const size = bytes.length;
  let head = 0;
  let used = 0;
  return {
    put: (pieces, length) => {
      const isWrapped = head + length > size;
      const taken = (isWrapped ? size - head : 0) + length;
      if (length > size / 4 || used + taken > size) return undefined;
      const at = isWrapped ? 0 : head;
      let to = at;
      for (const piece of pieces) {
        bytes.set(piece, to);
        to += piece.length;
      }
      head = at + length;
      used += taken;
      return { at, length, taken };
    },
    release: (taken) => {
      used -= taken;
      // Restart at the beginning: under low load only little of the memory is ever touched.
      if (used === 0) head = 0;
    },
  };
}
