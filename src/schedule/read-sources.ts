import type { Presence, PresenceSource } from '../core/presence.ts';

const PATIENCE_MS = 5_000;

/** Asks all at once. One that does not keep its word, by throwing or by never answering, says nothing about anyone. */
export async function readSources(
  sources: readonly PresenceSource[],
  now: number,
  signal: AbortSignal,
  later: (ms: number, run: () => void) => () => void,
): Promise<readonly Presence[]> {
  return Promise.all(sources.map((source) => readOne(source, now, signal, later)));
}

async function readOne(
  source: PresenceSource,
  now: number,
  signal: AbortSignal,
  later: (ms: number, run: () => void) => () => void,
): Promise<Presence> {
  const mute = (why: string): Presence => ({ source: source.name, state: 'unknown', why });
  let takeBack = (): void => undefined;
  const patience = new Promise<Presence>((resolve) => {
    takeBack = later(PATIENCE_MS, () => resolve(mute('it did not answer')));
  });
  try {
    return await Promise.race([source.read(now, signal), patience]);
  } catch (error) {
    return mute(`it failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    takeBack();
  }
}
