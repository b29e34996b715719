import { sleep } from '../base/sleep.ts';
import type { NamedLease, NamedLeases } from '../core/jobs.ts';

interface SlotsOptions {
  readonly leases: NamedLeases;
  /** How many calls of learning a provider may have at the same time; undefined: as many as there are. */
  readonly limitOf: (provider: string) => number | undefined;
  readonly leaseMs?: number;
  readonly waitMs?: number;
  readonly random?: () => number;
}

/** Makes calls of learning and practice wait for their turn at a provider, over all processes that share the leases. */
type WithinSlots = <T>(provider: string, call: () => Promise<T>, signal: AbortSignal) => Promise<T>;

const LEASE_MS = 15_000;
const WAIT_MS = 250;

/**
 * A slot is a lease, which is renewed while its call lasts; those of a dead process end by themselves. Only learning waits here: what
 * people ask is served without asking the database. Rejects when the signal aborts or no slot can be asked for.
 */
export function createProviderSlots(options: SlotsOptions): WithinSlots {
  const { leases, limitOf, leaseMs = LEASE_MS, waitMs = WAIT_MS, random = Math.random } = options;
  const enter = async (names: readonly string[], signal: AbortSignal): Promise<NamedLease> => {
    for (;;) {
      signal.throwIfAborted();
      const slot = await leases.take(names, leaseMs);
      if (slot !== undefined) return slot;
      await sleep(waitMs * (0.5 + random()), signal);
    }
  };
  return async (provider, call, signal) => {
    const limit = limitOf(provider);
    if (limit === undefined) return call();
    const names = Array.from({ length: limit }, (_, index) => `slot/${provider}/${index + 1}`);
    const slot = await enter(names, signal);
    // A call that lasts longer than its slot could be renewed is not cut off: the limit is passed by one then.
    const beat = setInterval(() => void slot.renew().catch(() => undefined), leaseMs / 3);
    beat.unref();
    try {
      return await call();
    } finally {
      clearInterval(beat);
      // Without an answer it ends by itself.
      await slot.release().catch(() => undefined);
    }
  };
}
