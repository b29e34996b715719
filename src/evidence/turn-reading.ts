import type { ChatMessage, ToolCallPart } from '../core/chat.ts';
import type { ToolOutcome, TurnEvidence } from '../core/evidence.ts';
import type { DecodedTurn } from '../core/store.ts';
import { namesAiderFiles, readAiderConversation } from '../text/aider-frame.ts';
import { type CallView, readCall } from './tools/tool-call.ts';
import { type CallOutcome, readOutcome } from './tools/tool-outcome.ts';

/** A call of the turn with its purpose and its outcome. */
export interface ToolCallReading {
  readonly part: ToolCallPart;
  readonly view: CallView;
  /** Absent while there is no result. */
  readonly outcome?: CallOutcome;
}

/** A turn as all signals read it, computed once. */
export interface TurnReading {
  readonly evidence: TurnEvidence;
  /** The text of the reply, without tool calls and reasoning. */
  readonly said: string;
  readonly calls: readonly ToolCallReading[];
  /** For a reply without calls: the calls before it, since the user's last message. */
  readonly answered: readonly ToolCallReading[];
}

export function readTurn(evidence: TurnEvidence): TurnReading {
  const outcomes = new Map(evidence.next?.tools.map((outcome) => [outcome.callId, outcome]));
  const calls = evidence.reply.flatMap((part): readonly ToolCallReading[] => {
    if (part.type !== 'tool-call') return [];
    const view = readCall(part);
    const outcome = outcomes.get(part.id);
    return [{ part, view, ...(outcome ? { outcome: readOutcome(view, outcome) } : {}) }];
  });
  const written = (evidence.next?.tools ?? []).flatMap((outcome) =>
    outcome.call === undefined ? [] : [readPast(outcome.call, outcome)],
  );
  const answered = (evidence.answered ?? []).map((call) => readPast(call, call.outcome));
  return { evidence, said: textOfReply(evidence.reply), calls: [...calls, ...written], answered };
}

/** What a reply says, without tool calls and reasoning. */
export const textOfReply = (reply: TurnEvidence['reply']): string =>
  reply
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();

function readPast(
  call: { readonly name: string; readonly arguments: string },
  outcome: ToolOutcome,
): ToolCallReading {
  const view = readCall(call);
  const part = { type: 'tool-call' as const, id: outcome.callId, name: call.name, arguments: call.arguments };
  return { part, view, outcome: readOutcome(view, outcome) };
}

/** The call or the code it checked failed. */
export const isFailedCall = ({ outcome }: ToolCallReading): boolean =>
  outcome?.kind === 'fault' || outcome?.kind === 'red';

/**
 * A turn with what was said in its conversation. Most clients send just that; aider puts files, a map of the repository, an example and
 * answers of its own around it, in other places of every request.
 */
export function toSpokenTurn(turn: DecodedTurn): DecodedTurn {
  const { messages } = turn.request;
  if (!messages.some(isAiders)) return turn;
  const read = messages.map((message) => ({ role: message.role, text: textAlone(message) }));
  const spoken = readAiderConversation(read).flatMap(({ index, text }): readonly ChatMessage[] => {
    const message = messages[index];
    if (message === undefined) return [];
    const isCut = message.role === 'user' && text !== undefined && text !== read[index]?.text;
    return [isCut ? { ...message, content: [{ type: 'text', text }] } : message];
  });
  return { ...turn, request: { ...turn.request, messages: spoken } };
}

function isAiders({ role, content }: ChatMessage): boolean {
  const first = role === 'user' ? content[0] : undefined;
  return first?.type === 'text' && namesAiderFiles(first.text);
}

/** The text of a message that contains nothing else. */
function textAlone({ content }: ChatMessage): string | undefined {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length > 0 && texts.length === content.length ? texts.join('\n') : undefined;
}
