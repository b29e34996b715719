import type { ToolOutcome } from '../core/evidence.ts';
import { readCall } from './read-call.ts';
import { readOutcome } from './read-outcome.ts';

/** Whether a tool call failed, according to its result. */
export const hasFailed = (
  call: { readonly name: string; readonly arguments: string },
  outcome: ToolOutcome,
): boolean => {
  const { kind } = readOutcome(readCall(call), outcome);
  return kind === 'fault' || kind === 'red';
};
