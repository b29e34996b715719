import { mayTeach } from '../core/caller.ts';
import type { GatewayContext } from './context.ts';
import type { Turn } from './turn.ts';

/** Tells that a request came in which may begin some work in a known folder: only of work that may be learned from. */
export function tellBegunWork({ begunWork }: GatewayContext, turn: Turn, caller: string): void {
  const { folder, role, runKind } = turn.identity;
  if (begunWork === undefined || folder === undefined || role !== 'main' || runKind !== undefined) return;
  // A member's folder is on the member's machine.
  if (!mayTeach(caller) || turn.caller?.member !== undefined) return;
  const { session } = turn.session;
  begunWork({ session, turn: turn.id, folder, isAsked: () => isAsked(turn) });
}

const END_BYTES = 512;
const USER = /"role"\s*:\s*"user"/;
const INSTRUCTIONS = /"role"\s*:\s*"(?:system|developer)"/;
const RESULT = /"type"\s*:\s*"(?:tool_result|function_call_output|custom_tool_call_output)"|"tool_use_id"/;

/** Whether the newest message is a user's, and no tool's result; a client may put instructions behind it. */
function isAsked({ body, outline }: Turn): boolean {
  if (body === undefined || outline === undefined) return false;
  let end = body.length;
  for (const start of outline.newest()) {
    const head = body.toString('latin1', start, Math.min(end, start + END_BYTES));
    const tail = body.toString('latin1', Math.max(start, end - END_BYTES), end);
    if (RESULT.test(head) || RESULT.test(tail)) return false;
    if (USER.test(head) || USER.test(tail)) return true;
    if (!INSTRUCTIONS.test(head)) return false;
    end = start;
  }
  return false;
}
