import { createRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { TrainDatum } from '../../../src/core/training.ts';
import { type ConnectTinkerOptions, connectTinker } from '../../../train/tinker/connect-tinker.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import type { TinkerEngine } from '../../../train/tinker/tinker-engine.ts';
import { type Script, type ScriptedServer, startScripted } from './scripted-server.ts';

/** Pauses of milliseconds instead of seconds; limits stay generous, so that a busy machine does not decide a verdict. */
export const FAST = {
  heartbeatMs: 60_000,
  requestMs: 20_000,
  pollMs: 20_000,
  lookMs: 1,
  backoffMs: 1,
  longestMs: 4,
  submitForMs: 30_000,
  adviceForMs: 20,
  lostAfterMs: 30_000,
  unpaidMs: 1,
  unpaidForMs: 30_000,
  restMs: 1,
} as const;

/** For tests in which a request is left unanswered. */
export const HANGING = { ...FAST, requestMs: 1_000, pollMs: 1_000 } as const;

export const datum: TrainDatum = {
  tokens: [1, 2, 3],
  targets: [2, 3, 4],
  weights: [0, 1, 1],
  advantages: [0, 1, -1],
  logprobs: [0, -1, -1],
};

export interface Connected {
  readonly server: ScriptedServer;
  readonly engine: TinkerEngine;
  readonly lines: readonly string[];
}

/** Runs `use` with a client that is connected to a scripted server, and takes both down again. */
export async function withScripted<T>(
  script: Script,
  use: (connected: Connected) => Promise<T>,
  options: Partial<ConnectTinkerOptions> = {},
): Promise<T> {
  const server = await startScripted(script);
  const lines: string[] = [];
  try {
    const engine = await connectTinker({
      url: server.url,
      baseModel: 'any',
      profile: { ...PROFILES.generic, wire: 'json', knowsRepeats: true },
      selfTest: false,
      fetch,
      clock: systemClock,
      random: createRandom('scripted'),
      log: (line) => lines.push(line),
      pace: FAST,
      ...options,
    });
    try {
      return await use({ server, engine, lines });
    } finally {
      await engine.close();
    }
  } finally {
    await server.close();
  }
}
