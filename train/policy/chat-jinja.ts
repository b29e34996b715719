import { Template as Jinja } from '@huggingface/jinja';
import type { AssistantPart, ChatMessage, ChatRequest, UserPart } from '../../src/core/chat.ts';
import type { Clock } from '../../src/core/clock.ts';
import { asObject, asString, isObject, type Json, type JsonObject, parseJson } from '../../src/core/json.ts';
import { TrainingError } from '../../src/core/training.ts';
import { MONTH_NAMES, WEEKDAY_NAMES } from '../../src/text/calendar-names.ts';

interface JinjaInput {
  readonly messages: readonly TemplateMessage[];
  readonly tools: readonly JsonObject[];
  /** Whether the text ends with the generation prompt. */
  readonly isAsking: boolean;
}

/**
 * Renders a conversation with the model's template. A conversation that the template refuses is tried in equivalent forms.
 * Throws a TrainingError when all are refused.
 */
export type ChatJinja = (input: JinjaInput) => string;

interface ChatJinjaOptions {
  readonly config: JsonObject;
  /** Further template variables, such as `enable_thinking`. */
  readonly variables: JsonObject;
  readonly clock: Clock;
  /** Applied to all text that does not come from the template itself. */
  readonly guard: (text: string) => string;
}

const NO_TEMPLATE =
  'There is no chat template: neither "chat_template" in tokenizer_config.json nor a chat_template.jinja. ' +
  'Models tuned for chat have one: use such a model, or put its template beside tokenizer.json.';

export function createChatJinja({ config, variables, clock, guard }: ChatJinjaOptions): ChatJinja {
  const { plain, withTools } = compileTemplates(config);
  const now = (format: unknown): string => formatDate(String(format), clock.now());
  const write = (messages: readonly TemplateMessage[], { tools, isAsking }: JinjaInput): string => {
    const guarded = asObject(JSON.parse(guard(JSON.stringify({ messages, tools }))));
    return (tools.length > 0 ? withTools : plain).render({
      ...specialTokensOf(config),
      ...variables,
      documents: null,
      messages: guarded.messages,
      tools: tools.length > 0 ? guarded.tools : null,
      add_generation_prompt: isAsking,
      [NOW]: now,
    });
  };
  return (input) => {
    const { messages } = input;
    const separate = separateCalls(messages);
    let refusal: unknown;
    for (const form of [messages, separate, foldSystem(separate)])
      try {
        return write(form, input);
      } catch (error) {
        // The error for the conversation as it came is the one its sender understands.
        refusal ??= error;
      }
    throw refused(refusal instanceof Error ? refusal.message : String(refusal));
  };
}

const refused = (reason: string): TrainingError =>
  new TrainingError('user', `The model's chat template refuses this conversation: ${reason}`);

/** The renderer has its own clock under the usual name, which cannot be replaced. */
const NOW = 'instar_now';
const compile = (text: string): Jinja => {
  try {
    return new Jinja(text.replace(/\bstrftime_now\b/g, NOW));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TrainingError('user', `The model's chat template cannot be read: ${reason}`);
  }
};

/** One template, or several by name, of which `tool_use` is for conversations with tools. */
function compileTemplates({ chat_template: given }: JsonObject): Record<'plain' | 'withTools', Jinja> {
  const named = new Map(
    (Array.isArray(given) ? given : [{ name: 'default', template: given ?? null }]).flatMap((one) => {
      const { name, template } = asObject(one);
      const text = asString(template);
      return text === undefined ? [] : [[asString(name), text] as const];
    }),
  );
  const usual = named.get('default') ?? named.get('tool_use');
  if (usual === undefined) throw new TrainingError('user', NO_TEMPLATE);
  const plain = compile(usual);
  const forTools = named.get('tool_use');
  return { plain, withTools: forTools === undefined ? plain : compile(forTools) };
}

/** `bos_token` and similar; each is a text, or an object with one. */
function specialTokensOf(config: JsonObject): JsonObject {
  const tokens = Object.entries(config).flatMap(([name, value]): [string, string][] => {
    const text = asString(value) ?? asString(asObject(value).content);
    return name.endsWith('_token') && text !== undefined ? [[name, text]] : [];
  });
  return Object.fromEntries(tokens);
}

/** Undefined when the template refuses the conversation. */
export function renderOrUndefined(jinja: ChatJinja, input: JinjaInput): string | undefined {
  try {
    return jinja(input);
  } catch {
    return undefined;
  }
}

/** A message in the form that chat templates read. */
export interface TemplateMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly TemplateCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

interface TemplateCall {
  readonly id: string;
  readonly type: 'function';
  /** Arguments that are not a JSON object stay text. */
  readonly function: { readonly name: string; readonly arguments: Json };
}

/** Throws a TrainingError when a message has a part that is not text. */
export function templateMessagesOf({ system, messages }: ChatRequest): readonly TemplateMessage[] {
  const names = new Map<string, string>();
  const leading = textOf(system);
  return [
    ...(leading === '' ? [] : [{ role: 'system', content: leading } as const]),
    ...messages.map((message) => templateMessageOf(message, names)),
  ];
}

export const templateToolsOf = ({ tools, toolChoice }: ChatRequest): readonly JsonObject[] =>
  toolChoice === 'none'
    ? []
    : tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, ...(description === undefined ? {} : { description }), parameters },
      }));

function templateMessageOf(message: ChatMessage, names: Map<string, string>): TemplateMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: textOf(message.content) };
    case 'assistant':
      return assistantOf(message.content, names);
    case 'tool': {
      const name = names.get(message.callId);
      const content = textOf(message.content);
      return {
        role: 'tool',
        content,
        tool_call_id: message.callId,
        ...(name === undefined ? {} : { name }),
      };
    }
  }
}

function assistantOf(parts: readonly AssistantPart[], names: Map<string, string>): TemplateMessage {
  const joined = (type: 'text' | 'reasoning'): string =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  const calls = parts.flatMap((part): TemplateCall[] => {
    if (part.type !== 'tool-call') return [];
    names.set(part.id, part.name);
    const given = parseJson(part.arguments);
    const value = isObject(given) ? given : part.arguments;
    return [{ id: part.id, type: 'function', function: { name: part.name, arguments: value } }];
  });
  const reasoning = joined('reasoning');
  return {
    role: 'assistant',
    content: joined('text'),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    // Templates test whether the member exists, not whether it is empty.
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function textOf(parts: readonly UserPart[]): string {
  const other = parts.find(({ type }) => type !== 'text');
  if (other !== undefined)
    throw new TrainingError(
      'user',
      `The policy reads only text, but a message has a part of type ${other.type}. Use another model for it.`,
    );
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

/** For templates without system messages, or with only one: system text is put before the user's next message. */
function foldSystem(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const folded: TemplateMessage[] = [];
  for (const message of messages) {
    const before = folded.at(-1);
    const asUser: TemplateMessage = message.role === 'system' ? { ...message, role: 'user' } : message;
    if (asUser.role === 'user' && before?.role === 'user')
      folded[folded.length - 1] = { ...before, content: `${before.content}\n\n${asUser.content}` };
    else folded.push(asUser);
  }
  return folded;
}

/** For templates with one call per message: each call is made and answered before the next. */
function separateCalls(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const answered = new Set<TemplateMessage>();
  return messages.flatMap((message, at): readonly TemplateMessage[] => {
    const { tool_calls: calls = [] } = message;
    if (calls.length < 2) return answered.has(message) ? [] : [message];
    return calls.flatMap((call, index) => {
      const answer = messages.find((one, later) => later > at && one.tool_call_id === call.id);
      if (answer !== undefined) answered.add(answer);
      const alone = { ...message, content: index === 0 ? message.content : '', tool_calls: [call] };
      return answer === undefined ? [alone] : [alone, answer];
    });
  });
}

/** `strftime_now` for templates, in UTC, so that a prompt does not depend on the machine's time zone. */
function formatDate(format: string, ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = WEEKDAY_NAMES[date.getUTCDay()] ?? '';
  const month = MONTH_NAMES[date.getUTCMonth()] ?? '';
  const parts: Readonly<Record<string, string>> = {
    Y: String(date.getUTCFullYear()),
    y: two(date.getUTCFullYear() % 100),
    m: two(date.getUTCMonth() + 1),
    d: two(date.getUTCDate()),
    H: two(date.getUTCHours()),
    M: two(date.getUTCMinutes()),
    S: two(date.getUTCSeconds()),
    B: month,
    b: month.slice(0, 3),
    A: day,
    a: day.slice(0, 3),
    '%': '%',
  };
  return format.replace(/%(.)/g, (whole, letter: string) => parts[letter] ?? whole);
}
