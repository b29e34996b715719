import type { Signal } from '../core/evidence.ts';
import { parseJson } from '../core/json.ts';
import { isChange } from './command-role.ts';
import { readCall } from './read-call.ts';
import { hasFailed, type MadeCall, type TurnReading } from './read-turn.ts';

/** Tries that failed before a further one with no answer yet counts as going in circles. */
const PATIENCE = 2;
/** Words a model makes up anew for the same call. */
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

/** The same call that failed before, made again though nothing was changed in between. A try that works is no fault. */
export function findRetry({ evidence, calls }: TurnReading): Signal | undefined {
  for (const call of calls) {
    const failures = failuresBefore(call, evidence.earlier);
    const isCircle = call.outcome === undefined ? failures >= PATIENCE : failures > 0 && hasFailed(call);
    if (isCircle) {
      const reason = `${call.part.name}: tried ${failures + 1} times without a change`;
      return { name: 'retried', source: 'signal', score: 0.1, weight: 1, reason };
    }
  }
  return undefined;
}

/** How often this call failed since something was last changed. */
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

/** A call without white space, comments and ids, which differ between two tries at the same thing. */
function essence(name: string, text: string): string {
  const given = parseJson(text);
  const words =
    given === undefined
      ? text
      : JSON.stringify(given, (key, value) => (COMMENTARY.has(key) ? undefined : value));
  return `${name} ${words.replace(/\\[nrt]|\s/g, '')}`;
}
