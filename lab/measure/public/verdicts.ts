import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  asArray,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../../../src/core/json.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { readConversationEvidence } from '../signals/conversation-evidence.ts';
import type { Measured } from './customers.ts';

/** A verdict is right when the conversation's true reward says the same. */
const GOAL = 0.6;

/**
 * Whole conversations of customers with an agent that acts by tools, each with its true reward: what the last reply is judged, and whether
 * "success" is right where it is said. The agent was offered the tools that occur in the set.
 */
export function measureVerdicts(data: string): Measured {
  const file = path.join(data, 'tau-bench-trajectories', 'gpt-4o-airline.json');
  if (!existsSync(file)) return { ok: false, why: `The set "tau-verdicts" is absent: there is no ${file}.` };
  const rows = asArray(parseJson(readFileSync(file, 'utf8')) as Json).map(asObject);
  if (rows.length === 0) return { ok: false, why: `${file} has no conversations.` };
  const tools = offeredTools(rows);
  const counts: Record<string, { won: number; lost: number }> = {};
  for (const [nth, row] of rows.entries()) {
    const messages = asArray(row.traj).filter((message) => asObject(message).role !== 'system');
    const { verdict } = appraise(readConversationEvidence({ id: `tau-${nth}`, messages, tools }));
    const count = counts[verdict] ?? { won: 0, lost: 0 };
    count[Number(row.reward) === 1 ? 'won' : 'lost']++;
    counts[verdict] = count;
  }
  const { won, lost } = counts.success ?? { won: 0, lost: 0 };
  const lines = Object.entries(counts).map(
    ([verdict, one]) => `${verdict}: ${one.won + one.lost} conversations, ${one.won} of them a true success`,
  );
  return {
    ok: true,
    result: { set: 'tau-verdicts', conversations: rows.length, counts },
    text: lines.join('\n'),
    isMet: won >= GOAL * (won + lost),
  };
}

function offeredTools(rows: readonly JsonObject[]): readonly JsonObject[] {
  const calls = rows.flatMap((row) =>
    asArray(row.traj).flatMap((message) => asArray(asObject(message).tool_calls).map(asObject)),
  );
  const names = new Set(calls.flatMap((call) => asString(asObject(call.function).name) ?? []));
  return [...names].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }));
}
