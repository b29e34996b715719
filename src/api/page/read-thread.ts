import { blockHash } from '../../base/block-hash.ts';
import { asArray, asObject, asString, compact, type JsonObject } from '../../core/json.ts';
import type { AsyncReads, SessionView, TurnView } from '../../core/store.ts';
import { costOf, createPrices, type PriceRules } from '../../cost/prices.ts';
import type { PageReader } from '../../record/store/page-reader.ts';
import { describeTurns, previewSession } from '../sessions-api.ts';

export interface ThreadQuery {
  readonly id: string;
  readonly from?: number | undefined;
  /** The id of a turn: the part of the conversation that has it. */
  readonly turn?: string | undefined;
  readonly limit: number;
  /** With auxiliary calls. */
  readonly aux: boolean;
  readonly prices: PriceRules;
}

/** A conversation to read: each turn with its texts, its cost and its times, and the sums of all. */
export async function readThread(
  { id, from, turn, limit, aux, prices: rules }: ThreadQuery,
  reader: PageReader,
  records: AsyncReads,
): Promise<JsonObject | undefined> {
  const part = compact({ from, turn, limit, hidesAux: !aux, full: true });
  const described = await describeTurns(id, records, part);
  const session = await reader.session(id);
  if (described === undefined || session === undefined) return undefined;
  const all = await reader.turns(id);
  const prices = createPrices(rules);
  const usdOf = (turn: TurnView): number | undefined => {
    if (turn.usage === undefined) return undefined;
    const { usd, unpriced } = costOf(turn.usage, prices(turn.policy));
    return unpriced > 0 ? undefined : usd;
  };
  const byId = new Map(all.map((turn) => [turn.id, turn]));
  const { asked, score, outcome } = await previewSession(session, reader);
  return compact({
    ...described,
    turns: asArray(described.turns)
      .map(asObject)
      .map((turn) => {
        const view = byId.get(asString(turn.id) ?? '');
        return compact({ ...turn, usd: view && usdOf(view) });
      }),
    hash: hashOfSession(session),
    asked,
    score,
    outcome,
    marked: (await reader.marksOf(id)).at(-1),
    totals: {
      inputTokens: sumOf(all, ({ usage }) => usage?.inputTokens),
      outputTokens: sumOf(all, ({ usage }) => usage?.outputTokens),
      cacheReadTokens: sumOf(all, ({ usage }) => usage?.cacheReadTokens),
      usd: sumOf(all, usdOf),
      isPriced: all.every((turn) => turn.usage === undefined || usdOf(turn) !== undefined),
      ms: sumOf(all, ({ totalMs }) => totalMs),
    },
  });
}

const sumOf = (turns: readonly TurnView[], value: (turn: TurnView) => number | undefined): number =>
  turns.reduce((sum, turn) => sum + (value(turn) ?? 0), 0);

/** Changes with every turn: what a person decides about a session is for this state of it. */
export const hashOfSession = ({ id, turns, lastAt, erased }: SessionView): string =>
  blockHash(JSON.stringify([id, turns, lastAt, erased]));
