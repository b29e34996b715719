import type { Signal } from '../core/evidence.ts';
import { parseJson } from '../core/json.ts';
import { isChange } from './command-role.ts';
import { readCall } from './read-call.ts';
import { hasFailed, type MadeCall, type TurnReading } from './read-turn.ts';

/** Failed attempts after which one more, still without a result, counts as a loop. */
const PATIENCE = 2;
/** Arguments that a model words anew for the same call. */
const COMMENTARY = new Set([
  'description',
  'explanation',
  'justification',
  'reason',
  'thought',
  'id',
  'call_id',
  'request_id',
]);

/** The same failed call again, with no change in between. A retry that succeeds does not count. */
export function findRetry({ evidence, calls }: TurnReading): Signal | undefined {
  for (const call of calls) {
    const failures = failuresBefore(call, evidence.earlier);
    const isLoop = call.outcome === undefined ? failures >= PATIENCE : failures > 0 && hasFailed(call);
    if (isLoop) {
      const reason = `${call.part.name}: tried ${failures + 1} times without a change`;
      return { name: 'retried', source: 'signal', score: 0.1, weight: 1, reason };
    }
  }
  return undefined;
}

/** How often this call failed since the last change. */
function failuresBefore({ part }: MadeCall, earlier: TurnReading['evidence']['earlier']): number {
  const wanted = essence(part.name, part.arguments);
  let failures = 0;
  for (const before of earlier.toReversed()) {
    if (essence(before.name, before.arguments) === wanted) failures += before.failed ? 1 : 0;
    else if (!before.failed && changes(before)) break;
  }
  return failures;
}

function changes(call: { readonly name: string; readonly arguments: string }): boolean {
  const view = readCall(call);
  return view.kind === 'edit' || view.programs.some(isChange);
}

/** A call without white space, commentary and ids, which differ between retries. */
function essence(name: string, text: string): string {
  const given = parseJson(text);
  const words =
    given === undefined
      ? text
      : JSON.stringify(given, (key, value) => (COMMENTARY.has(key) ? undefined : value));
  return `${name} ${words.replace(/\\[nrt]|\s/g, '')}`;
}
