import { compact, type JsonObject } from '../../core/json.ts';
import type { AsyncReads } from '../../core/store.ts';
import { countWork, readWork, type WorkCounts, type WorkMark } from '../../lessons/explain/count-work.ts';
import { wilsonInterval } from '../../stats/interval.ts';
import { plural } from '../../text/phrases.ts';
import { previewAnswer, previewQuestion } from '../turn-preview.ts';

export interface HomeQuery {
  readonly now: number;
  /** Of the reader's time, in minutes east of UTC. */
  readonly offset: number;
}

const DAY = 86_400_000;
const DAYS = 30;
const WEEK = 7;

/** `{ days, trend, asks }`: corrections and broken rules of the last 30 days, what that means, and bad ratings that say no more. */
export async function readHome({ now, offset }: HomeQuery, reader: AsyncReads): Promise<JsonObject> {
  const east = offset * 60_000;
  const first = Math.floor((now + east) / DAY) - DAYS + 1;
  const startOf = (day: number): number => day * DAY - east;
  // The first day shows the week before it, too.
  const marks = await readWork(reader, startOf(first - WEEK + 1));
  const between = (from: number, to: number): WorkCounts =>
    countWork(marks, { from: startOf(from), to: startOf(to) });
  const days = Array.from({ length: DAYS }, (_, index) => {
    const day = first + index;
    const { sessions, corrections, broken } = between(day, day + 1);
    return compact({
      day: new Date(day * DAY).toISOString().slice(0, 10),
      sessions,
      corrections,
      broken,
      perTen: perTen(between(day - WEEK + 1, day + 1)),
    });
  });
  const recent = first + DAYS - WEEK;
  return {
    days,
    trend: describeTrend(between(first, recent), between(recent, first + DAYS)),
    asks: [...(await readAsks(marks, reader))],
  };
}

/** How much a week of work had for ten sessions: single days of little work are noise. Undefined without a session. */
const perTen = ({ sessions, corrections, broken }: WorkCounts): JsonObject | undefined =>
  sessions === 0
    ? undefined
    : { corrections: (10 * corrections) / sessions, broken: (10 * broken) / sessions };

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
  const numbers = `${now} for ten sessions in the last 7 days`;
  if (high < expected) return { is: 'better', words: `Yes: ${numbers}, ${then} before.`, ...rates };
  if (low > expected) return { is: 'worse', words: `No: ${numbers}, ${then} before.`, ...rates };
  return { is: 'same', words: `No clear change: ${numbers}, ${then} before.`, ...rates };
}

const MOST_ASKS = 2;

/** The newest answers that were rated bad without a word: nothing can be learned from them. */
async function readAsks(marks: readonly WorkMark[], reader: AsyncReads): Promise<readonly JsonObject[]> {
  const mute = marks
    .flatMap(({ turn, isMute, at }) => (turn !== undefined && isMute === true ? [{ turn, at }] : []))
    .toSorted((a, b) => b.at - a.at);
  const asks: JsonObject[] = [];
  for (const { turn: id, at } of mute) {
    const turn = await reader.turn(id);
    if (turn === undefined || (await reader.session(turn.session))?.erased !== false) continue;
    asks.push(
      compact({
        turn: id,
        session: turn.session,
        agent: turn.agent,
        at: new Date(at).toISOString(),
        asked: await previewQuestion(turn, reader, new Map()),
        answered: await previewAnswer(turn, reader),
      }),
    );
    if (asks.length === MOST_ASKS) break;
  }
  return asks;
}
