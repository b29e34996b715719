import { createLruMap } from '../base/lru-map.ts';
import { ANONYMOUS } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { messageChain } from '../wire/message-chain.ts';
import { toCallerId } from './client-clues.ts';

/** A request's session. */
export interface SessionMatch {
  readonly session: string;
  /** The newest link, if the session was found by its message chain. */
  readonly link?: string;
}

export interface SessionMatcher {
  /** Finds the session whose message chain this body extends, or begins a new one; `prefix`: how its id begins. */
  byChain(body: Buffer, seed: string, prefix?: string): SessionMatch;
  /** The session of an id that a client sent. Callers that nobody knows get no session of a known caller. */
  byId(id: string, isAnonymous: boolean): SessionMatch;
  /** Restores the chains of an earlier run of the daemon, newest first. */
  restore(chains: readonly { readonly session: string; readonly link: string }[]): void;
}

const MOST_LINKS = 20_000;
const MOST_IDS = 20_000;
/** An identical request within this time is a client's retry; later it is a new conversation with the same first words. */
const RETRY_MS = 60_000;

interface ChainEntry {
  readonly session: string;
  readonly at: number;
}

/**
 * Recognises the sessions of clients that send no session id: a request whose history extends a known one belongs to its
 * session. Keeps only the newest links; a conversation whose link was dropped begins a new session.
 */
export function createSessionMatcher(clock: Clock, newId: (prefix: string) => string): SessionMatcher {
  const known = new Map<string, ChainEntry>();
  const remember = (link: string, session: string): void => {
    known.delete(link);
    known.set(link, { session, at: clock.monotonic() });
    if (known.size > MOST_LINKS) {
      const oldest = known.keys().next().value;
      if (oldest !== undefined) known.delete(oldest);
    }
  };

  const ofKnownCallers = createLruMap<string, true>(MOST_IDS);

  return {
    byId: (id, isAnonymous) => {
      if (!isAnonymous) ofKnownCallers.set(id, true);
      const isTaken = isAnonymous && ofKnownCallers.get(id) === true;
      return { session: isTaken ? (toCallerId(`${ANONYMOUS.id}:${id}`) ?? id) : id };
    },
    byChain: (body, seed, prefix = '') => {
      const links = messageChain(body, seed);
      const link = links.at(-1);
      if (link === undefined) return { session: `${prefix}${newId('s')}` };
      let found: string | undefined;
      for (let i = links.length - 1; i >= 0 && found === undefined; i--) {
        const earlier = known.get(links[i] ?? '');
        const isSame = i === links.length - 1;
        if (earlier && (!isSame || clock.monotonic() - earlier.at < RETRY_MS)) found = earlier.session;
      }
      const session = found ?? `${prefix}${newId('s')}`;
      remember(link, session);
      return { session, link };
    },
    restore: (chains) => {
      for (const { session, link } of [...chains].reverse()) remember(link, session);
    },
  };
}
