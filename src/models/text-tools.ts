import { randomBytes } from 'node:crypto';
import type {
  AssistantPart,
  ChatEvent,
  ChatMessage,
  ChatModel,
  ChatRequest,
  TextPart,
  Tool,
  UserPart,
} from '../core/chat.ts';
import { isObject, parseJson } from '../core/json.ts';
import { createWrittenCallReader, type WrittenPart } from '../text/written-calls.ts';

/**
 * A model that has no tool calls of its own and writes them as text. Tools, calls and results go into its prompt as text, in the
 * tags that chat templates of small models use; calls that it writes become calls of the reply. `isOne` decides by the model's name.
 */
export const withTextTools =
  (model: ChatModel, isOne: (name: string) => boolean): ChatModel =>
  (request, options) => {
    if (!isOne(request.model)) return model(request, options);
    const offered = request.toolChoice === 'none' ? [] : request.tools;
    const events = model(writeTools(request, offered), options);
    return offered.length === 0 ? events : readCalls(events, offered);
  };

const text = (said: string): TextPart => ({ type: 'text', text: said });

/** The same request without tools, calls and results that are not text. */
function writeTools(request: ChatRequest, offered: readonly Tool[]): ChatRequest {
  const { toolChoice, parallelTools, ...rest } = request;
  const system =
    offered.length === 0
      ? request.system
      : [...request.system, text(toolText(offered, toolChoice, parallelTools))];
  return { ...rest, system, tools: [], messages: writeMessages(request.messages) };
}

/** A model of 1.5 billion parameters follows this wording; it defines tools of its own where the text is longer. */
function toolText(
  offered: readonly Tool[],
  choice: ChatRequest['toolChoice'],
  isParallel: boolean | undefined,
): string {
  const tools = offered.map(({ name, description, parameters }) =>
    JSON.stringify({
      type: 'function',
      function: { name, ...(description === undefined ? {} : { description }), parameters },
    }),
  );
  const wishes = [
    ...(typeof choice === 'object' ? [`Call the function ${choice.name} now.`] : []),
    ...(choice === 'required' ? ['Call a function now.'] : []),
    ...(isParallel === false ? ['Write one call at most.'] : []),
  ];
  return [
    '# Tools',
    `These functions are available to you, and no others. Each line within the <tools></tools> tags is the signature of one function:\n<tools>\n${tools.join('\n')}\n</tools>`,
    'To call a function, answer with a JSON object within <tool_call></tool_call> tags, with the name of the function and its arguments:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
    'The result of a call comes within <tool_response></tool_response> tags. Then answer the user from it.',
    ...(wishes.length === 0 ? [] : [wishes.join(' ')]),
  ].join('\n\n');
}

/** Results become messages of the user, those of one reply together with what the user says next: many templates want turns. */
function writeMessages(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const written: ChatMessage[] = [];
  let isResult = false;
  for (const message of messages) {
    if (message.role === 'assistant')
      written.push({ role: 'assistant', content: writeCalls(message.content) });
    else if (message.role === 'system') written.push(message);
    else {
      const content = message.role === 'tool' ? writeResult(message) : message.content;
      const last = written.at(-1);
      if (isResult && last?.role === 'user')
        written[written.length - 1] = { role: 'user', content: [...last.content, ...content] };
      else written.push({ role: 'user', content });
    }
    isResult = message.role === 'tool';
  }
  return written.map(joinTexts);
}

/** One text where the parts are all texts: some servers take no others. */
function joinTexts(message: ChatMessage): ChatMessage {
  if (message.role !== 'user' || message.content.length < 2) return message;
  const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length < message.content.length
    ? message
    : { role: 'user', content: [text(texts.join('\n'))] };
}

function writeCalls(content: readonly AssistantPart[]): readonly AssistantPart[] {
  const said = content.flatMap((part) => {
    if (part.type === 'text') return part.text === '' ? [] : [part.text];
    if (part.type !== 'tool-call') return [];
    const given = parseJson(part.arguments);
    const call = `{"name": ${JSON.stringify(part.name)}, "arguments": ${isObject(given) ? part.arguments : JSON.stringify(part.arguments)}}`;
    return [`<tool_call>\n${call}\n</tool_call>`];
  });
  return [text(said.join('\n'))];
}

const RESULT_END = /<\/tool_response>/gi;

function writeResult({ content, isError }: ChatMessage & { readonly role: 'tool' }): readonly UserPart[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const others = content.filter(({ type }) => type !== 'text');
  // A result cannot end its own tags.
  const said = texts.join('\n').replace(RESULT_END, '</tool_response >');
  return [
    text(`<tool_response>\n${isError === true ? 'The call failed: ' : ''}${said}\n</tool_response>`),
    ...others,
  ];
}

async function* readCalls(
  events: AsyncIterable<ChatEvent>,
  tools: readonly Tool[],
): AsyncGenerator<ChatEvent, undefined> {
  const reader = createWrittenCallReader(tools);
  let calls = 0;
  const tell = (parts: readonly WrittenPart[]): readonly ChatEvent[] =>
    parts.flatMap((part): readonly ChatEvent[] => {
      if ('text' in part) return [{ type: 'text-delta', text: part.text }];
      const id = `call_${randomBytes(12).toString('hex')}`;
      const { name, arguments: json } = part.call;
      calls++;
      return [
        { type: 'tool-start', id, name },
        { type: 'tool-delta', id, json },
      ];
    });
  for await (const event of events) {
    if (event.type === 'text-delta') yield* tell(reader.push(event.text));
    else if (event.type === 'reply-end') {
      yield* tell(reader.end());
      const isCalling = calls > 0 && (event.stop === 'end' || event.stop === 'stop-sequence');
      yield isCalling ? { ...event, stop: 'tool-calls' } : event;
    } else {
      if (event.type === 'failure') yield* tell(reader.end());
      yield event;
    }
  }
}
