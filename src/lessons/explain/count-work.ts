import type { StoredFact } from '../../core/fact.ts';
import type { JsonObject } from '../../core/json.ts';
import { isAttemptId } from '../../core/principal.ts';
import type { AsyncReads, SessionView } from '../../core/store.ts';
import { wilsonInterval } from '../../stats/interval.ts';
import { plural } from '../../text/phrases.ts';
import { isNewOutcome } from '../adherence/adherence.ts';
import { readSince, seqBefore } from './cycle-costs.ts';

/**
 * What is counted of people's work: the one definition for command line, page and programs. Attempts of practice are none of it.
 * A session counts on the day it began; what is said about a turn counts on the day the turn began, whenever it is said.
 */
export interface WorkCounts {
  readonly sessions: number;
  /** Turns whose newest verdict says so. */
  readonly successes: number;
  readonly failures: number;
  /** Turns with an answer that a person objected to, and did not take it back. */
  readonly corrections: number;
  /** Words of a person about a turn or a session, for Instar. */
  readonly ratings: number;
  /** Sessions with a score, whatever it is. */
  readonly scored: number;
  /** How answers kept to rules: each rule that an answer kept or broke, and each that a person had to say again. */
  readonly kept: number;
  readonly broken: number;
  readonly toldAgain: number;
}

/** One thing that counts, and when that was. `turn`: whose answer a person objected to; `isMute`: without saying why. */
export interface WorkMark {
  readonly is: keyof WorkCounts;
  readonly at: number;
  readonly turn?: string;
  readonly isMute?: boolean;
}

interface WorkSpan {
  readonly from: number;
  /** The first moment after it. */
  readonly to: number;
}

const NOTHING: WorkCounts = {
  sessions: 0,
  successes: 0,
  failures: 0,
  corrections: 0,
  ratings: 0,
  scored: 0,
  kept: 0,
  broken: 0,
  toldAgain: 0,
};

export function countWork(marks: readonly WorkMark[], { from, to }: WorkSpan): WorkCounts {
  const counts: Record<keyof WorkCounts, number> = { ...NOTHING };
  for (const { is, at } of marks) if (at >= from && at < to) counts[is]++;
  return counts;
}

type WorkReads = Pick<AsyncReads, 'sessions' | 'turn' | 'session' | 'facts' | 'factsOf' | 'totals'>;

const MOST_SESSIONS = 100_000;

/** Everything that counts since a time. */
export async function readWorkMarks(records: WorkReads, since: number): Promise<readonly WorkMark[]> {
  const before = await seqBefore(since, records);
  const active = await records.sessions({ limit: MOST_SESSIONS, from: since, withoutPractice: true });
  const places = createPlaces(records, active);
  const [appraised, rewards, scored, observed] = await Promise.all([
    readSince('turn-appraised', before, since, records),
    readSince('reward-given', before, since, records),
    readSince('session-scored', before, since, records),
    readSince('rules-observed', before, since, records),
  ]);
  const marks: WorkMark[] = active.map(({ startedAt }) => ({ is: 'sessions', at: startedAt }));
  const newest = foldTurns([...appraised, ...rewards]);
  for (const [turn, { verdict, objection }] of newest) {
    if (verdict !== 'success' && verdict !== 'failure' && objection === undefined) continue;
    const at = await places.ofTurn(turn);
    if (at === undefined) continue;
    if (verdict === 'success' || verdict === 'failure')
      marks.push({ is: verdict === 'success' ? 'successes' : 'failures', at });
    if (objection !== undefined) marks.push({ is: 'corrections', at, turn, isMute: objection.isMute });
  }
  for (const { fact } of rewards) {
    if (fact.type !== 'reward-given' || fact.source !== 'person') continue;
    const { turn, session } = fact;
    const at = turn === undefined ? await places.ofSession(session ?? '') : await places.ofTurn(turn);
    if (at !== undefined) marks.push({ is: 'ratings', at });
  }
  const sessions = new Set(
    scored.flatMap(({ fact }) =>
      fact.type === 'session-scored' && fact.score !== undefined ? [fact.session] : [],
    ),
  );
  for (const session of sessions) {
    const at = await places.ofSession(session);
    if (at !== undefined) marks.push({ is: 'scored', at });
  }
  for (const { fact } of observed) {
    if (fact.type !== 'rules-observed' || fact.results.length === 0) continue;
    const at = await places.ofTurn(fact.turn);
    if (at === undefined) continue;
    for (const { outcome } of fact.results.filter(isNewOutcome))
      if (outcome === 'kept' || outcome === 'broken') marks.push({ is: outcome, at });
      else if (outcome === 'told-again') marks.push({ is: 'toldAgain', at });
  }
  return marks;
}

interface TurnState {
  readonly seq: number;
  readonly verdict?: string;
  readonly objection?: { readonly isMute: boolean };
}

/** The newest word about each turn decides. An appraisal knows the words that were given before it. */
function foldTurns(facts: readonly StoredFact[]): ReadonlyMap<string, TurnState> {
  const turns = new Map<string, TurnState>();
  for (const { seq, fact } of facts.toSorted((a, b) => a.seq - b.seq)) {
    if (fact.type === 'turn-appraised') {
      if (isAttemptId(fact.session)) continue;
      const { turn, verdict, signals } = fact;
      const known = turns.get(turn)?.objection;
      const objection = signals.some(isObjection)
        ? // The note of a rating is no part of the appraisal that counts it.
          { isMute: (known?.isMute ?? false) && !signals.some(({ name }) => name === 'user-corrected') }
        : undefined;
      turns.set(turn, { seq, verdict, ...(objection === undefined ? {} : { objection }) });
    } else if (fact.type === 'reward-given' && fact.turn !== undefined && isOfPerson(fact.source)) {
      const { verdict } = turns.get(fact.turn) ?? {};
      const known = turns.get(fact.turn)?.objection;
      const said = { isMute: fact.note === undefined && (known?.isMute ?? true) };
      turns.set(fact.turn, {
        seq,
        ...(verdict === undefined ? {} : { verdict }),
        ...(fact.score < 0 ? { objection: said } : {}),
      });
    }
  }
  return turns;
}

const isOfPerson = (source: string): boolean => source === 'person' || source === 'chat';

/** Something that a person said against an answer: a rating, words in the chat, a call that was rejected. */
const isObjection = ({
  name,
  source,
  score,
}: {
  readonly name: string;
  readonly source: string;
  readonly score: number;
}): boolean => score < 0.5 && (isOfPerson(source) || name === 'user-corrected');

/** When turns and sessions of people began; undefined for others, and for what is not known any more. */
function createPlaces(records: Pick<AsyncReads, 'turn' | 'session'>, active: readonly SessionView[]) {
  const sessions = new Map<string, number | undefined>(active.map(({ id, startedAt }) => [id, startedAt]));
  const turns = new Map<string, number | undefined>();
  return {
    ofSession: async (id: string): Promise<number | undefined> => {
      if (!sessions.has(id))
        sessions.set(id, isAttemptId(id) ? undefined : (await records.session(id))?.startedAt);
      return sessions.get(id);
    },
    ofTurn: async (id: string): Promise<number | undefined> => {
      if (!turns.has(id)) {
        const turn = await records.turn(id);
        turns.set(id, turn === undefined || isAttemptId(turn.session) ? undefined : turn.startedAt);
      }
      return turns.get(id);
    },
  };
}

/** Fewer sessions on a side tell nothing. */
const FEWEST = 10;

/** Whether the last week had fewer corrections and broken rules than the time before it: `{ is, words, before?, after? }`. */
export function describeTrend(before: WorkCounts, after: WorkCounts): JsonObject {
  const all = before.sessions + after.sessions;
  if (all === 0) return { is: 'none', words: 'Nothing to compare yet.' };
  const [was, is] = [before, after].map(({ corrections, broken }) => corrections + broken) as [
    number,
    number,
  ];
  if (before.sessions < FEWEST || after.sessions < FEWEST)
    return {
      is: 'early',
      words: `Too early to tell: ${plural(all, 'session')} so far.`,
    };
  const rates = {
    before: (10 * was) / before.sessions,
    after: (10 * is) / after.sessions,
  };
  const [then, now] = [rates.before.toFixed(1), rates.after.toFixed(1)];
  if (was + is === 0)
    return { is: 'same', words: `No correction and no broken rule in ${plural(all, 'session')}.`, ...rates };
  // Given how many there were, as many would fall into the last week as it has sessions.
  const expected = after.sessions / all;
  const { low, high } = wilsonInterval(is, was + is);
  const numbers = `${now} corrections and broken rules for ten sessions in the last 7 days`;
  if (high < expected) return { is: 'better', words: `Yes: ${numbers}, ${then} before.`, ...rates };
  if (low > expected) return { is: 'worse', words: `No: ${numbers}, ${then} before.`, ...rates };
  return { is: 'same', words: `No clear change: ${numbers}, ${then} before.`, ...rates };
}
