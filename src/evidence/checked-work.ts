import type { AssistantPart, ChatMessage } from '../core/chat.ts';
import type { CheckedWork } from '../core/check.ts';
import { asObject, asString, parseJson } from '../core/json.ts';
import { separateTypedText } from '../text/typed-text.ts';
import type { AppraisedTurn } from './evidence-reader.ts';
import { readCall } from './tools/tool-call.ts';

type Call = { readonly name: string; readonly arguments: string };

/** What the agent did in answer to the person's last message, up to the turn: the whole tool loop is one piece of work. */
export function readCheckedWork({ evidence, conversation }: AppraisedTurn): CheckedWork {
  const before = conversation?.messages.slice(0, conversation.reply - conversation.from) ?? [];
  return workOf(evidence.task, before, evidence.reply);
}

/** The same of a request that was recorded or attempted: `before` are its messages, `reply` is the answer to them. */
export function workOf(
  task: string,
  before: readonly ChatMessage[],
  reply: readonly AssistantPart[],
): CheckedWork {
  const calls: readonly Call[] = [...callsSinceTask(before), ...callsIn(reply)];
  return {
    request: separateTypedText(task).typed || task,
    reply: reply.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
    files: calls.flatMap(writtenFiles),
    commands: calls.flatMap(shellCommand),
  };
}

const callsIn = (parts: readonly AssistantPart[]): readonly Call[] =>
  parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));

function callsSinceTask(messages: readonly ChatMessage[]): readonly Call[] {
  const from = messages.findLastIndex(
    (message) =>
      message.role === 'user' &&
      message.content.some((part) => part.type === 'text' && separateTypedText(part.text).typed !== ''),
  );
  return messages
    .slice(from + 1)
    .flatMap((message) => (message.role === 'assistant' ? callsIn(message.content) : []));
}

function writtenFiles(call: Call): CheckedWork['files'] {
  const [path] = readCall(call).paths;
  if (path === undefined) return [];
  const given = asObject(parseJson(call.arguments));
  const text =
    asString(given.content) ??
    asString(given.new_string) ??
    asString(given.file_text) ??
    asString(given.input);
  return text === undefined ? [] : [{ path, text }];
}

function shellCommand(call: Call): readonly string[] {
  if (readCall(call).kind !== 'shell') return [];
  const { command, cmd } = asObject(parseJson(call.arguments));
  const line = asString(command) ?? asString(cmd);
  return line === undefined ? [] : [line];
}
