import type { Patience } from '../../base/patience.ts';
import { sleep } from '../../base/sleep.ts';
import { within } from '../../base/within.ts';
import type { PromptState } from '../../core/gateway-process.ts';
import type { Records } from '../../core/store.ts';
import type { ShowRequest } from './block-update.ts';
import { type PromptThread, withGeneration } from './prompt-thread.ts';

/** What other gateways leave of sessions that come here, too. */
export interface SharedSessions {
  /** The newest turns of a session, oldest first. Rejects when the record cannot be read. */
  turnsOf(session: string): Promise<readonly LeftTurn[]>;
  readonly patience: Patience;
  /** Its lots are drawn from the record again. */
  forgetLots(session: string): void;
  /** The record does not have the turn before this one: the session goes on with what there is, and its prompt may change once. */
  onBehind(session: string): void;
}

/** A turn, and what it left in the memory of its gateway. */
export interface LeftTurn {
  readonly prompt: PromptState;
  readonly at: number;
}

/** How many of the newest turns are read: parallel turns and calls for titles may come after the one before. */
const MOST_TURNS = 12;

export const createReadLeftTurns =
  (records: Pick<Records, 'turns'>): SharedSessions['turnsOf'] =>
  async (session) =>
    (await records.turns(session, { limit: MOST_TURNS, fromEnd: true })).flatMap(
      ({ gateway, startedAt: at }) => (gateway?.prompt === undefined ? [] : [{ prompt: gateway.prompt, at }]),
    );

/** A turn is in the record within about 50 ms of its last byte: the client may be here earlier. */
const PAUSE_MS = 25;
const MOST_READS = 60;

/**
 * The turns that a session has left so far. When the turn before this request is not among them, somebody has not written it
 * yet: the record is read again, for a moment. Never rejects.
 */
export async function readLeftTurns(
  { turnsOf, patience, onBehind }: SharedSessions,
  { session, query, conversation }: ShowRequest,
  patienceMs: number,
): Promise<readonly LeftTurn[]> {
  const view = conversation();
  const [before, newest] = [view?.previousLink, view?.links.at(-1)];
  // The first request of a conversation: there is no turn before it.
  if (before === undefined) return [];
  const isThere = (turns: readonly LeftTurn[]): boolean =>
    turns.some(({ prompt: { link } }) => link === before || link === newest);
  let turns: readonly LeftTurn[] = [];
  const over = new AbortController();
  const isPatient = patience.isWorthIt(query.agent);
  const read = async (): Promise<void> => {
    for (let nth = 1; !over.signal.aborted; nth++) {
      turns = await turnsOf(session);
      if (isThere(turns) || nth >= (isPatient ? MOST_READS : 1)) return;
      await sleep(PAUSE_MS, over.signal);
    }
  };
  // What cannot be read counts as missing.
  await within(
    read().catch(() => undefined),
    patienceMs,
  );
  over.abort();
  const isFound = isThere(turns);
  if (isPatient || isFound) patience.note(query.agent, isFound);
  if (isPatient && !isFound) onBehind(session);
  return turns;
}

/**
 * Whether another gateway has served the session since: more than one answer came after the last message that was seen here.
 * `newest`: the last message of that request; undefined for a thread that is new here.
 */
export function isServedElsewhere(newest: string | undefined, { conversation }: ShowRequest): boolean {
  const view = conversation();
  if (view === undefined) return false;
  return newest === undefined ? view.hasReply === true : (view.answersAfter?.(newest) ?? 0) > 1;
}

/** The thread as the gateway that served it had it. */
export const withLeftState = (
  thread: PromptThread,
  { asked, link, generation }: PromptState,
): PromptThread => ({
  ...withGeneration(thread, generation),
  asked: asked ?? link,
});

/** What a turn leaves; undefined when its messages cannot be read. */
export function promptStateOf(
  { asked, generation }: PromptThread,
  { thread, conversation }: ShowRequest,
): PromptState | undefined {
  const link = conversation()?.links.at(-1);
  if (link === undefined) return undefined;
  return { thread, link, generation, ...(asked === undefined || asked === link ? {} : { asked }) };
}
