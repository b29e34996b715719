import type { ChatEvent } from '../core/chat.ts';
import { type FlowAnswer, flowPolicy, type TurnOverlays } from '../core/overlay.ts';
import type { GatewayContext } from './context.ts';
import { answerWith } from './translate.ts';
import type { RunningTurn, Turn, UpstreamAttempt } from './turn.ts';

/**
 * The next call of a flow, for a caller with a key of Instar and its main agent. Nobody checks another credential where no provider is
 * asked, and the constants of a flow are the owner's.
 */
export function flowAnswerFor(
  { flows }: Pick<GatewayContext, 'flows'>,
  turn: Turn,
  overlays: TurnOverlays,
): FlowAnswer | undefined {
  if (overlays.flows.length === 0 || turn.caller === undefined || turn.identity.role !== 'main')
    return undefined;
  return flows?.(turn, overlays.flows);
}

/** How each format's ids begin. */
const REPLY_IDS = { 'openai-chat': 'chatcmpl', 'openai-responses': 'resp', anthropic: 'msg' } as const;
const CALL_IDS = { 'openai-chat': 'call', 'openai-responses': 'call', anthropic: 'toolu' } as const;

/** Answers with that call in the caller's format; no model is asked, and nothing is charged. */
export async function answerFlowStep(
  { newId }: Pick<GatewayContext, 'newId'>,
  turn: RunningTurn,
  { flow, step, of, tool, arguments: given }: FlowAnswer,
  marks: Record<string, string>,
): Promise<UpstreamAttempt> {
  const { wire, outline, disconnect } = turn;
  if (disconnect.isGone) return { kind: 'sent', end: 'client-abort', status: 499 };
  const id = newId(CALL_IDS[wire.name]);
  const events: readonly ChatEvent[] = [
    { type: 'reply-start', id: newId(REPLY_IDS[wire.name]), model: outline?.model ?? 'instar' },
    { type: 'tool-start', id, name: tool },
    { type: 'tool-delta', id, json: JSON.stringify(given) },
    { type: 'reply-end', stop: 'tool-calls', usage: { inputTokens: 0, outputTokens: 0 } },
  ];
  marks['x-instar-policy'] = flowPolicy(flow);
  marks['x-instar-flow'] = `${flow} ${step}/${of}`;
  // No lessons were looked up for it.
  Reflect.deleteProperty(marks, 'x-instar-generation');
  return answerWith(turn, events, marks);
}
