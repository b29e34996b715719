import type { FlowCall } from '../../base/flow-calls.ts';
import { isObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { isSuccess } from '../../evidence/tools/tool-outcome.ts';
import { readTurn } from '../../evidence/turn-reading.ts';

/** A session that has ended, as the calls that followed each other in it. */
export interface SessionRuns {
  readonly session: string;
  readonly at: number;
  /**
   * Each a sequence of calls that all succeeded, with nothing between them: no message of the user, no other call, and no turn that is
   * not learned from, such as one that a flow answered. What the calls returned is not in it.
   */
  readonly runs: readonly (readonly FlowCall[])[];
}

const MOST_CALLS = 200;

export function readRuns(turns: readonly Pick<AppraisedTurn, 'evidence'>[]): SessionRuns['runs'] {
  const runs: FlowCall[][] = [];
  let run: FlowCall[] = [];
  let total = 0;
  /** How many calls the next request has, if nothing else was called meanwhile. */
  let expected: number | undefined;
  let task: string | undefined;
  const cut = (): void => {
    if (run.length > 0) runs.push(run);
    run = [];
  };
  for (const { evidence } of turns) {
    if (expected !== evidence.earlier.length || task !== evidence.task) cut();
    const { calls } = readTurn(evidence);
    for (const { part, outcome } of calls) {
      const given = evidence.reply.includes(part) ? readArguments(part.arguments) : undefined;
      const isRead = given !== undefined && outcome !== undefined && isSuccess(outcome.kind);
      if (isRead && total++ < MOST_CALLS) run.push({ tool: part.name, arguments: given });
      else cut();
    }
    if (evidence.next?.user !== undefined) cut();
    expected = evidence.earlier.length + calls.length;
    task = evidence.task;
  }
  cut();
  return runs;
}

function readArguments(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
