import type { Signal } from '../core/evidence.ts';
import { checkArguments } from './check-arguments.ts';
import { hasFailed, type MadeCall, type TurnReading } from './read-turn.ts';

/** A call that does not fit its tool's schema. Ignored when the client accepted it anyway. */
export function findMalformedCall({ evidence, calls }: TurnReading): Signal | undefined {
  for (const call of calls) {
    if (call.outcome !== undefined && !hasFailed(call)) continue;
    const problem = problemOf(call, evidence.tools);
    if (problem === undefined) continue;
    const reason = `${call.part.name}: ${problem}`;
    return { name: 'malformed-call', source: 'signal', score: 0, weight: 1.5, reason };
  }
  return undefined;
}

function problemOf({ part }: MadeCall, tools: TurnReading['evidence']['tools']): string | undefined {
  if (tools.length === 0) return undefined;
  const tool = tools.find(({ name }) => name === part.name);
  return tool === undefined ? 'no such tool was offered' : checkArguments(tool.parameters, part.arguments);
}
