import { compact, type JsonObject } from '../../core/json.ts';
import type { AsyncReads } from '../../core/store.ts';
import {
  countWork,
  describeTrend,
  readWorkMarks,
  type WorkCounts,
  type WorkMark,
} from '../../lessons/explain/count-work.ts';
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
  const marks = await readWorkMarks(reader, startOf(first - WEEK + 1));
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
