import { TrainingError } from '../../src/core/training.ts';
import { roundUp } from './batch-layout.ts';

/**
 * Sampling requests in waves, for a server that samples one batch at a time and compiles a program for each number of
 * sequences. Requests that come while a wave is out wait for its end and go together; the last one of a wave asks for as
 * many more samples as make the number a multiple. A wave of a single sample goes as it is: someone waits for that reply.
 */
export interface SampleWaves {
  /** `send` is called with the number of samples to ask for, which is `count` or more. */
  join<T>(count: number, send: (count: number) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface WaitingRequest {
  readonly count: number;
  readonly start: (count: number) => Promise<void>;
}

/** The server looks for work every 100 ms: what comes within this time is found together. */
const GATHER_MS = 20;

export function createSampleWaves(multiple: number): SampleWaves {
  const waiting: WaitingRequest[] = [];
  let isOut = false;

  const run = async (): Promise<void> => {
    isOut = true;
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    while (waiting.length > 0) {
      const wave = waiting.splice(0);
      const total = wave.reduce((sum, { count }) => sum + count, 0);
      const missing = total === 1 ? 0 : roundUp(total, multiple) - total;
      await Promise.all(
        wave.map(({ count, start }, at) => start(count + (at === wave.length - 1 ? missing : 0))),
      );
    }
    isOut = false;
  };

  return {
    join: (count, send, signal) =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          const place = waiting.indexOf(entry);
          if (place !== -1) waiting.splice(place, 1);
          reject(new TrainingError('unknown', 'asample: aborted'));
        };
        const entry: WaitingRequest = {
          count,
          // Never rejects: the others of its wave go on.
          start: async (wanted) => {
            signal.removeEventListener('abort', leave);
            await send(wanted).then(resolve, reject);
          },
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(entry);
        if (!isOut) void run();
      }),
  };
}
