import { createLruMap } from '../base/lru-map.ts';
import type { Patience } from '../base/patience.ts';
import { sleep } from '../base/sleep.ts';
import { within } from '../base/within.ts';
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
  /**
   * Finds the session whose message chain this body extends, or begins a new one; `prefix`: how its id begins.
   */
  byChain(body: Buffer, seed: string, prefix?: string): Promise<SessionMatch>;
  /** The session of an id that a client sent. Callers that nobody knows get no session of a known caller. */
  byId(id: string, isAnonymous: boolean): SessionMatch;
  /** Restores the chains of an earlier run of the daemon, newest first. */
  restore(chains: readonly { readonly session: string; readonly link: string }[]): void;
}

/** A session that another gateway has recorded. */
export interface RecordedChain {
  readonly session: string;
  readonly link: string;
  readonly lastAt: number;
}

/** The chains of other gateways. */
export interface SharedChains {
  /** Those whose newest link is one of these. Rejects when the record cannot be read. */
  find(links: readonly string[]): Promise<readonly RecordedChain[]>;
  readonly patience: Patience;
  /** A conversation with a history is not in the record: it begins a new session. */
  onUnknown(session: string): void;
}

/** A turn is in the record within about 50 ms of its last byte: the client may be here earlier. */
const PAUSE_MS = 25;
const MOST_READS = 60;
/** A request waits for the record for this long at most. */
const PATIENCE_MS = 2_000;
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
export function createSessionMatcher(
  clock: Clock,
  newId: (prefix: string) => string,
  shared?: SharedChains,
): SessionMatcher {
  const known = new Map<string, ChainEntry>();
  const remember = (link: string, session: string): void => {
    known.delete(link);
    known.set(link, { session, at: clock.monotonic() });
    if (known.size > MOST_LINKS) {
      const oldest = known.keys().next().value;
      if (oldest !== undefined) known.delete(oldest);
    }
  };

  /** By their newest link: the same request twice at once is one conversation. */
  const looking = new Map<string, Promise<SessionMatch>>();

  const ofKnownCallers = createLruMap<string, true>(MOST_IDS);

  return {
    byId: (id, isAnonymous) => {
      if (!isAnonymous) ofKnownCallers.set(id, true);
      const isTaken = isAnonymous && ofKnownCallers.get(id) === true;
      return { session: isTaken ? (toCallerId(`${ANONYMOUS.id}:${id}`) ?? id) : id };
    },
    byChain: async (body, seed, prefix = '') => {
      const links = messageChain(body, seed);
      const link = links.at(-1);
      if (link === undefined) return { session: `${prefix}${newId('s')}` };
      let found: string | undefined;
      for (let i = links.length - 1; i >= 0 && found === undefined; i--) {
        const earlier = known.get(links[i] ?? '');
        const isSame = i === links.length - 1;
        if (earlier && (!isSame || clock.monotonic() - earlier.at < RETRY_MS)) found = earlier.session;
      }
      if (found === undefined && shared !== undefined) {
        const match =
          looking.get(link) ??
          findRecordedChain(shared, { links, seed, clock }).then((recorded) => {
            const session = recorded.session ?? `${prefix}${newId('s')}`;
            if (recorded.session === undefined && recorded.isExpected) shared.onUnknown(session);
            looking.delete(link);
            remember(link, session);
            return { session, link };
          });
        looking.set(link, match);
        return match;
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

interface ChainQuery {
  readonly links: readonly string[];
  readonly seed: string;
  readonly clock: Clock;
}

/** The session in the record of all gateways that a conversation continues; `isExpected`: there should be one. Never rejects. */
async function findRecordedChain(
  { find, patience }: SharedChains,
  { links, seed, clock }: ChainQuery,
): Promise<{ readonly session: string | undefined; readonly isExpected: boolean }> {
  const newest = links.at(-1) ?? '';
  const isOne = ({ link, lastAt }: RecordedChain): boolean =>
    link !== newest || clock.now() - lastAt < RETRY_MS;
  const isPatient = links.length > 1 && patience.isWorthIt(seed);
  let match: RecordedChain | undefined;
  const over = new AbortController();
  const read = async (): Promise<void> => {
    for (let nth = 1; !over.signal.aborted; nth++) {
      const chains = (await find(links)).filter(isOne);
      match = chains.toSorted((a, b) => links.indexOf(b.link) - links.indexOf(a.link))[0];
      if (match !== undefined || nth >= (isPatient ? MOST_READS : 1)) return;
      await sleep(PAUSE_MS, over.signal);
    }
  };
  // What cannot be read is a new session.
  await within(
    read().catch(() => undefined),
    PATIENCE_MS,
  );
  over.abort();
  if (isPatient) patience.note(seed, match !== undefined);
  return { session: match?.session, isExpected: isPatient };
}
