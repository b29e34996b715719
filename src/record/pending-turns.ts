import { copyOutOfRing, ringBytesOf, type WriterJob, type WriterMessage } from './writer-messages.ts';

/** The limits of what waits while the store fails; beyond them turns are lost, and counted. */
const MOST_WAITING = 10_000;
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

/** Starts and ends of turns that are not written yet, in order. Reports the outcome of each once. */
export interface PendingTurns {
  /** Those that wait, without those that were taken. */
  readonly jobs: readonly WriterJob[];
  /** The size of their bodies and replies. */
  readonly bytes: number;
  add(job: WriterJob): void;
  /** All that wait, to be written now. */
  take(): { readonly jobs: readonly WriterJob[]; readonly bytes: number };
  /** What was taken is written. */
  settle(taken: readonly WriterJob[], unreadable: number): void;
  /** What was taken is in the spool, but for the turns that are lost: it is recorded later. */
  settleSpooled(taken: readonly WriterJob[], lost: number, unreadable: number): void;
  /** What was taken could not be written: it waits again, before what came since. */
  putBack(taken: readonly WriterJob[]): void;
  /** They have to wait: copies them out of the ring and drops the oldest beyond the limits. */
  putOff(): void;
  /** Writes each by itself, up to the first that has to wait: the order stays. Returns how many of them still wait. */
  settleEach(write: (job: WriterJob) => Promise<'written' | 'lost' | 'waits'>): Promise<number>;
}

export function createPendingTurns(say: (word: WriterMessage) => void): PendingTurns {
  let jobs: WriterJob[] = [];
  let size = 0;

  const report = (over: readonly WriterJob[], outcome: Outcome): void => say(countDone(over, outcome));
  const letGoOfRing = (): void => {
    const released = jobs.reduce((sum, job) => sum + ringBytesOf(job), 0);
    if (released === 0) return;
    jobs = jobs.map(copyOutOfRing);
    say({ ...NOTHING_DONE, released });
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
    size -= sizeOfAll(dropped);
    report(dropped, { lost: dropped.filter((job) => job.type === 'end').length, isRecorded: false });
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
    take: () => {
      const taken = { jobs, bytes: size };
      jobs = [];
      size = 0;
      return taken;
    },
    settle: (taken, unreadable) => {
      if (taken.length > 0) report(taken, { unreadable });
    },
    settleSpooled: (taken, lost, unreadable) => {
      if (taken.length > 0) report(taken, { lost, unreadable, isRecorded: false });
    },
    putBack: (taken) => {
      jobs = [...taken, ...jobs];
      size += sizeOfAll(taken);
    },
    putOff: () => {
      letGoOfRing();
      dropBeyondBound();
    },
    settleEach: async (write) => {
      letGoOfRing();
      const all = jobs;
      const left: WriterJob[] = [];
      jobs = [];
      size = 0;
      for (const job of all) {
        const result = left.length > 0 ? 'waits' : await write(job);
        if (result === 'waits') left.push(job);
        else report([job], { lost: result === 'lost' && job.type === 'end' ? 1 : 0 });
      }
      jobs = [...left, ...jobs];
      size += sizeOfAll(left);
      return left.length;
    },
  };
}

interface Outcome {
  readonly lost?: number;
  readonly unreadable?: number;
  /** Undefined: unless turns were lost. */
  readonly isRecorded?: boolean;
}

/** The message that these turns wait no longer. */
function countDone(
  over: readonly WriterJob[],
  { lost = 0, unreadable = 0, isRecorded = lost === 0 }: Outcome,
): WriterMessage {
  const bytes = sizeOfAll(over);
  const recorded = isRecorded ? over.filter((job) => job.type === 'end').length : 0;
  const released = over.reduce((sum, job) => sum + ringBytesOf(job), 0);
  return { ...NOTHING_DONE, jobs: over.length, bytes, released, recorded, lost, unreadable };
}

/** A message that changes no count. */
export const NOTHING_DONE = {
  type: 'done',
  jobs: 0,
  bytes: 0,
  released: 0,
  recorded: 0,
  lost: 0,
  unreadable: 0,
} as const;

const sizeOfAll = (jobs: readonly WriterJob[]): number => jobs.reduce((sum, job) => sum + sizeOf(job), 0);

const sizeOf = (job: WriterJob): number =>
  (job.type === 'start' ? job.body?.byteLength : job.type === 'end' ? job.reply?.byteLength : 0) ?? 0;
