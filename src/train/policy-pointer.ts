import { hash } from 'node:crypto';

/** A version of the policy, and where its weights are; undefined: the bare model. */
export interface Served {
  readonly version: number;
  readonly sampler: string | undefined;
}

/**
 * Which weights serve. Whoever serves a turn reads it once, at the turn's start, and keeps to what it read until the last
 * token: a stream ends on the weights on which it began, and the pointer may move at any time. Weights that are named
 * here no longer may be unloaded only when the turns that read them have ended.
 */
export interface PolicyPointer {
  readonly live: Served;
  readonly canary?: { readonly served: Served; readonly share: number };
}

/** The weights for a turn of this session: the same for all of them, as long as the pointer stays. */
export function servedBy({ live, canary }: PolicyPointer, session: string): Served {
  if (canary === undefined || !isInCanary(session, canary.served.version, canary.share)) return live;
  return canary.served;
}

/** By hash, anew for each version: no session is a canary every time. */
export function isInCanary(session: string, version: number, share: number): boolean {
  const bytes = hash('sha256', JSON.stringify([session, version]), 'buffer');
  return bytes.readUIntBE(0, 6) / 2 ** 48 < share;
}
