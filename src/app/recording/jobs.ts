import type { TurnIntent, TurnOutcome } from '../../core/recorder.ts';
import type { Appended, Block, NewFact } from '../../core/store.ts';
import type { RingSpan } from './byte-ring.ts';

/** What the recording side asks of the writer's thread. Bytes come apart: in the ring, or handed over. */
export type Job =
  | {
      readonly type: 'start';
      readonly at: number;
      readonly intent: Omit<TurnIntent, 'body'>;
      readonly body: Uint8Array | undefined;
      /** Room in the ring that the body holds until the job is done. */
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
      /** Undefined when the reply was too long to keep. */
      readonly reply: Uint8Array | undefined;
      readonly held?: number;
    }
  | {
      readonly type: 'append';
      readonly id: number;
      /** Nobody waits for it: it may wait for company, as turns do. */
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
  | { readonly type: 'keys'; readonly keys: readonly string[] }
  | { readonly type: 'close'; readonly id: number };

/** What the writer's thread says back. */
export type Word =
  | { readonly type: 'open'; readonly chains: readonly { readonly session: string; readonly link: string }[] }
  /** So many jobs are done with and so many bytes given back, whether or not they could be kept. */
  | {
      readonly type: 'done';
      readonly jobs: number;
      readonly bytes: number;
      readonly released: number;
      readonly recorded: number;
      readonly lost: number;
    }
  | { readonly type: 'state'; readonly degraded: string | undefined }
  | { readonly type: 'answer'; readonly id: number; readonly value: readonly Appended[] | number | undefined }
  | { readonly type: 'refusal'; readonly id: number; readonly code: string; readonly message: string };

export interface WriterSettings {
  readonly file: string;
  /** What bodies and replies come through. */
  readonly ring: SharedArrayBuffer;
  /** Secrets we hold, to be found in what is recorded. */
  readonly keys: readonly string[];
  /** Makes the marks of secrets unguessable. */
  readonly salt: string;
  /** Sessions older than this are erased; 0 keeps them. */
  readonly keepDays: number;
}

/** Bytes on their way: in memory of their own that is handed over, or in the ring. */
export type SentBytes = Uint8Array | RingSpan | undefined;

/** Jobs as they go between threads: bytes apart, the rest as text, which costs a fraction of copying objects. */
export interface PackedJobs {
  readonly text: string;
  readonly bytes: readonly SentBytes[];
}

export const packJobs = (jobs: readonly Job[], bytes: readonly SentBytes[]): PackedJobs => ({
  text: JSON.stringify(jobs),
  bytes,
});

export function unpackJobs({ text, bytes }: PackedJobs, ring: SharedArrayBuffer): readonly Job[] {
  const jobs = JSON.parse(text) as Job[];
  for (const [index, sent] of bytes.entries()) {
    const job = jobs[index];
    if (sent === undefined || (job?.type !== 'start' && job?.type !== 'end')) continue;
    const isOwn = sent instanceof Uint8Array;
    const found = isOwn ? sent : new Uint8Array(ring, sent.at, sent.length);
    // Made by the line above and nobody else's yet.
    Object.assign(
      job,
      job.type === 'start' ? { body: found } : { reply: found },
      isOwn ? {} : { held: sent.taken },
    );
  }
  return jobs;
}

/** The same job with bytes of its own: one that waits must not hold the ring. */
export function detach(job: Job): Job {
  if ((job.type !== 'start' && job.type !== 'end') || job.held === undefined) return job;
  const { held: _, ...rest } = job;
  return rest.type === 'start'
    ? { ...rest, body: rest.body?.slice() }
    : { ...rest, reply: rest.reply?.slice() };
}

export const heldBy = (job: Job): number => ('held' in job ? (job.held ?? 0) : 0);
