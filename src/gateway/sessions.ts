import type { Clock } from '../core/clock.ts';
import { chainOf } from '../wire/chain.ts';

/** A request's session. */
export interface SessionMatch {
  readonly session: string;
  /** The newest link, when the session is known by its chain alone. */
  readonly link?: string;
}

export interface Sessions {
  /** The client named its session: nothing to find out. */
  byChain(body: Buffer, seed: string): SessionMatch;
  /** What an earlier run of the daemon knew, newest first. */
  restore(chains: readonly { readonly session: string; readonly link: string }[]): void;
}

const MOST_LINKS = 20_000;
/** Within this time the same request again is a client's second try; later it is someone who starts with the same words. */
const SECOND_TRY_MS = 60_000;

interface Known {
  readonly session: string;
  readonly at: number;
}

/**
 * Recognises clients that send no session id: a request whose history extends a known one belongs to it. Keeps the
 * newest links only; a conversation that was dropped begins a new session, nothing worse.
 */
export function createSessions(clock: Clock, newId: (prefix: string) => string): Sessions {
  const known = new Map<string, Known>();
  const remember = (link: string, session: string): void => {
    known.delete(link);
    known.set(link, { session, at: clock.monotonic() });
    if (known.size > MOST_LINKS) {
      const oldest = known.keys().next().value;
      if (oldest !== undefined) known.delete(oldest);
    }
  };

  return {
    byChain: (body, seed) => {
      const links = chainOf(body, seed);
      const link = links.at(-1);
      if (link === undefined) return { session: newId('s') };
      let found: string | undefined;
      for (let i = links.length - 1; i >= 0 && found === undefined; i--) {
        const earlier = known.get(links[i] ?? '');
        const isSame = i === links.length - 1;
        if (earlier && (!isSame || clock.monotonic() - earlier.at < SECOND_TRY_MS)) found = earlier.session;
      }
      const session = found ?? newId('s');
      remember(link, session);
      return { session, link };
    },
    restore: (chains) => {
      for (const { session, link } of [...chains].reverse()) remember(link, session);
    },
  };
}
