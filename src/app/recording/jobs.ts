import type { TurnIntent, TurnOutcome } from '../../core/recorder.ts';
import type { Appended, Block, NewFact } from '../../core/store.ts';

/** What the recording side asks of the writer's thread. Bytes are handed over, not shared. */
export type Job =
  | {
      readonly type: 'start';
      readonly at: number;
      readonly intent: Omit<TurnIntent, 'body'>;
      readonly body: Uint8Array | undefined;
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
    }
  | {
      readonly type: 'append';
      readonly id: number;
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
      readonly recorded: number;
      readonly lost: number;
    }
  | { readonly type: 'state'; readonly degraded: string | undefined }
  | { readonly type: 'answer'; readonly id: number; readonly value: readonly Appended[] | number | undefined }
  | { readonly type: 'refusal'; readonly id: number; readonly code: string; readonly message: string };

export interface WriterSettings {
  readonly file: string;
  /** Secrets we hold, to be found in what is recorded. */
  readonly keys: readonly string[];
  /** Makes the marks of secrets unguessable. */
  readonly salt: string;
  /** Sessions older than this are erased; 0 keeps them. */
  readonly keepDays: number;
}

/** Jobs as they go between threads: bytes apart, the rest as text, which costs a fraction of copying objects. */
export interface PackedJobs {
  readonly text: string;
  readonly bytes: readonly (Uint8Array | undefined)[];
}

const bytesOf = (job: Job): Uint8Array | undefined =>
  job.type === 'start' ? job.body : job.type === 'end' ? job.reply : undefined;

const withoutBytes = (job: Job): Job => {
  if (job.type === 'start') return { ...job, body: undefined };
  return job.type === 'end' ? { ...job, reply: undefined } : job;
};

export const packJobs = (jobs: readonly Job[]): PackedJobs => ({
  text: JSON.stringify(jobs.map(withoutBytes)),
  bytes: jobs.map(bytesOf),
});

export function unpackJobs({ text, bytes }: PackedJobs): readonly Job[] {
  const jobs = JSON.parse(text) as Job[];
  return jobs.map((job, index) => {
    if (job.type === 'start') return { ...job, body: bytes[index] };
    return job.type === 'end' ? { ...job, reply: bytes[index] } : job;
  });
}
