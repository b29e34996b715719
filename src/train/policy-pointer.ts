import { hash } from 'node:crypto';

/** A version of the policy and the checkpoint that samples it; undefined: the base model without an adapter. */
export interface Served {
  readonly version: number;
  readonly sampler: string | undefined;
}

/**
 * Which weights serve. A turn reads the pointer once, at its start, and keeps that version until its last token: a stream
 * ends on the weights it began with, and the pointer may move at any time. Weights that the pointer no longer names may be
 * unloaded only after the turns that use them have ended.
 */
export interface PolicyPointer {
  readonly live: Served;
  readonly canary?: { readonly served: Served; readonly share: number };
}

/** The version for all turns of a session, as long as the pointer does not move. */
export function servedBy({ live, canary }: PolicyPointer, session: string): Served {
  if (canary === undefined || !isInCanary(session, canary.served.version, canary.share)) return live;
  return canary.served;
}

/** By a hash of session and version: no session is always in the canary. */
export function isInCanary(session: string, version: number, share: number): boolean {
  const bytes = hash('sha256', JSON.stringify([session, version]), 'buffer');
  return bytes.readUIntBE(0, 6) / 2 ** 48 < share;
}
