import type { AssistantPart, ChatMessage } from '../core/chat.ts';
import type { CheckedWork } from '../core/check.ts';
import type { TurnEvidence } from '../core/evidence.ts';
import { separateTypedText } from '../text/typed-text.ts';
import type { AppraisedTurn } from './evidence-reader.ts';
import { heldFiles } from './tools/held-files.ts';
import { commandIn, writtenFiles } from './tools/tool-call.ts';

/** All that an agent did in answer to one message of a person: the turns of a tool loop are one piece of work. */
export interface AnsweredRequest {
  readonly work: CheckedWork;
  readonly turns: readonly AppraisedTurn[];
  /** The agent has answered: what follows is another message, or it stopped without a call. */
  readonly isDone: boolean;
}

/** The turns of a session as pieces of work, oldest first. */
export function answeredRequests(turns: readonly AppraisedTurn[]): readonly AnsweredRequest[] {
  const groups: AppraisedTurn[][] = [];
  for (const turn of turns) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group === undefined || last === undefined || isOver(last.evidence, turn.evidence))
      groups.push([turn]);
    else group.push(turn);
  }
  return groups.map((group, index) => {
    const last = group.at(-1)?.evidence;
    const isStopped = last?.reply.every(({ type }) => type !== 'tool-call') ?? true;
    return { work: workOfTurns(group), turns: group, isDone: isStopped || index < groups.length - 1 };
  });
}

const isOver = (before: TurnEvidence, after: TurnEvidence): boolean =>
  before.next?.user !== undefined || before.task !== after.task;

/** The reply is the last text: what an agent says between its calls is no answer yet. */
function workOfTurns(turns: readonly AppraisedTurn[]): CheckedWork {
  const replies = turns.map(({ evidence }) => textOf(evidence.reply));
  return {
    request: turns[0]?.evidence.task ?? '',
    reply: replies.findLast((text) => text.trim() !== '') ?? '',
    ...doneBy(turns.flatMap(({ evidence }) => evidence.reply)),
  };
}

/**
 * The work of an answer, from its last turn alone: its request has the calls that led there. A session may be long, and each of its answers is
 * looked at when it is given.
 */
export function workUpTo({ evidence, conversation }: AppraisedTurn): CheckedWork {
  const before = conversation?.messages.slice(0, conversation.reply - conversation.from) ?? [];
  return workInConversation(evidence.task, before, evidence.reply);
}

/** The same of any conversation: `before` is what led to the reply. */
export function workInConversation(
  request: string,
  before: readonly ChatMessage[],
  reply: readonly AssistantPart[],
): CheckedWork {
  const messages: readonly ChatMessage[] = [...before, { role: 'assistant', content: reply }];
  const since = before.findLastIndex(isTyped) + 1;
  const parts = messages
    .slice(since)
    .flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const held = heldFiles(messages, since);
  return { request, reply: textOf(reply), ...doneBy(parts), ...(held === undefined ? {} : { held }) };
}

const isTyped = ({ role, content }: ChatMessage): boolean =>
  role === 'user' &&
  content.some((part) => part.type === 'text' && separateTypedText(part.text).typed !== '');

const textOf = (reply: readonly AssistantPart[]): string =>
  reply.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

function doneBy(parts: readonly AssistantPart[]): Pick<CheckedWork, 'files' | 'commands'> {
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  return { files: calls.flatMap(writtenFiles), commands: calls.flatMap((call) => commandIn(call) ?? []) };
}
