import { detach, heldBy, type Job, type Word } from './jobs.ts';

/** The limits of what waits while the store fails; beyond them turns are lost, and counted. */
const MOST_WAITING = 10_000;
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

/** Starts and ends of turns that are not written yet, in order. Reports the outcome of each once. */
export interface WaitingTurns {
  readonly jobs: readonly Job[];
  /** The size of their bodies and replies. */
  readonly bytes: number;
  add(job: Job): void;
  /** All are written. */
  settle(): void;
  /** They have to wait: copies them out of the ring and drops the oldest beyond the limits. */
  putOff(): void;
  /** Writes each by itself. */
  settleEach(write: (job: Job) => 'written' | 'lost' | 'waits'): void;
}

export function createWaitingTurns(say: (word: Word) => void): WaitingTurns {
  let jobs: Job[] = [];
  let size = 0;

  const done = (over: readonly Job[], lost: number): void => {
    const bytes = over.reduce((sum, job) => sum + sizeOf(job), 0);
    size -= bytes;
    const ended = over.filter((job) => job.type === 'end').length;
    const released = over.reduce((sum, job) => sum + heldBy(job), 0);
    say({ type: 'done', jobs: over.length, bytes, released, recorded: lost > 0 ? 0 : ended, lost });
  };
  const letGoOfRing = (): void => {
    const released = jobs.reduce((sum, job) => sum + heldBy(job), 0);
    if (released === 0) return;
    jobs = jobs.map(detach);
    say({ type: 'done', jobs: 0, bytes: 0, released, recorded: 0, lost: 0 });
  };
  const dropBeyondBound = (): void => {
    let drop = 0;
    let bytes = size;
    while (jobs.length - drop > MOST_WAITING || bytes > MOST_WAITING_BYTES) {
      const job = jobs[drop++];
      if (job === undefined) break;
      bytes -= sizeOf(job);
    }
    if (drop === 0) return;
    const dropped = jobs.slice(0, drop);
    jobs = jobs.slice(drop);
    done(dropped, dropped.filter((job) => job.type === 'end').length);
  };

  return {
    get jobs() {
      return jobs;
    },
    get bytes() {
      return size;
    },
    add: (job) => {
      jobs.push(job);
      size += sizeOf(job);
    },
    settle: () => {
      const over = jobs;
      jobs = [];
      if (over.length > 0) done(over, 0);
    },
    putOff: () => {
      letGoOfRing();
      dropBeyondBound();
    },
    settleEach: (write) => {
      letGoOfRing();
      const all = jobs;
      jobs = [];
      for (const job of all) {
        const result = write(job);
        if (result === 'waits') jobs.push(job);
        else done([job], result === 'lost' && job.type === 'end' ? 1 : 0);
      }
    },
  };
}

const sizeOf = (job: Job): number =>
  (job.type === 'start' ? job.body?.byteLength : job.type === 'end' ? job.reply?.byteLength : 0) ?? 0;
