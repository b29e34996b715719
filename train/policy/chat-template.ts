import { hash } from 'node:crypto';
import type { AssistantPart, ChatMessage, ChatRequest, Tool } from '../../src/core/chat.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { type PolicyReply, type PolicyTemplate, TrainingError } from '../../src/core/training.ts';
import { createWrittenCallReader } from '../../src/text/written-calls.ts';
import {
  type ChatJinja,
  createChatJinja,
  renderOrUndefined,
  type TemplateMessage,
  templateMessagesOf,
  templateToolsOf,
} from './chat-jinja.ts';
import { type ChatTokens, createChatTokens } from './chat-tokens.ts';

export interface ChatTemplateOptions {
  /** `tokenizer.json`. */
  readonly tokenizer: JsonObject;
  /** `tokenizer_config.json`: the template and the names of special tokens. */
  readonly tokenizerConfig: JsonObject;
  /** `generation_config.json`: further stop tokens. */
  readonly generation?: JsonObject;
  /** Further template variables, such as `{ enable_thinking: false }`. */
  readonly variables?: JsonObject;
  /** In tokens; the generation config's value by default, else 4,096. */
  readonly longestReply?: number;
  /** For templates that write the date. */
  readonly clock?: Clock;
  /** How many sampled tokens are remembered. */
  readonly memory?: Partial<SampledRepliesLimits>;
}

const LONGEST_REPLY = 4_096;
/** 16 MB of ids. */
const MEMORY: SampledRepliesLimits = { replies: 1_024, tokens: 4_000_000 };
/** Tokens of a prompt's end that are searched for an opened thought. */
const TAIL = 16;

/**
 * A model's own chat template and tokenizer. Sampled replies are never re-tokenized from text: text and ids are not one to
 * one, and the policy would be trained on tokens that it never chose. A conversation that continues a reply read here starts
 * with that reply's prompt and its sampled ids; a conversation with a changed history is rendered as it stands.
 *
 * Two replies to one prompt with the same text in different tokens cannot be distinguished by what the client sends back:
 * the last one read is used.
 *
 * Throws a TrainingError when there is no template or no stop token; `render` throws one when the template cannot render the
 * conversation.
 */
export function createChatTemplate(options: ChatTemplateOptions): PolicyTemplate {
  const {
    tokenizer,
    tokenizerConfig: config,
    generation = {},
    variables = {},
    clock = systemClock,
  } = options;
  const tokens = createChatTokens(tokenizer, config);
  const jinja = createChatJinja({ config, variables, clock, guard: tokens.withoutMarks });
  const { stop, takesTools } = detectTemplateTraits({ tokens, jinja, config, generation });
  const stops = new Set(stop);
  const silent = new Set([...tokens.marks].flatMap(([text, id]) => (SPEAKING_MARKS.has(text) ? [] : [id])));
  const restAfter = createTokensAfterReply({ tokens, jinja, stop });
  const memory = createSampledReplies({ ...MEMORY, ...options.memory });
  const prompts = new WeakMap<ChatRequest, readonly number[]>();

  const promptOf = (request: ChatRequest): readonly number[] => {
    const tools = templateToolsOf(request);
    if (tools.length > 0 && !takesTools) throw new TrainingError('user', NO_TOOLS);
    const messages = templateMessagesOf(request);
    const leading = messages.length - request.messages.length;
    const keys = conversationKeys(request);
    for (let at = request.messages.length - 1; at >= 0; at--) {
      if (request.messages[at]?.role !== 'assistant') continue;
      const known = memory.find(keys[at + 1] ?? '');
      const rest = known && restAfter(leading + at, messages, tools);
      if (known === undefined || rest === undefined) continue;
      const isEnded = stops.has(known.at(-1) ?? -1);
      return [...known, ...(isEnded ? rest.slice(1) : rest)];
    }
    return tokens.encode(jinja({ messages, tools, isAsking: true }));
  };

  return {
    stop,
    longestReply: options.longestReply ?? asNumber(generation.max_new_tokens) ?? LONGEST_REPLY,
    render: (request) => {
      const prompt = promptOf(request);
      prompts.set(request, prompt);
      return { is: 'prompt', tokens: prompt };
    },
    write: (text) => [...tokens.encode(tokens.withoutMarks(text)), ...stop.slice(0, 1)],
    read: (ids, request) => {
      const prompt = prompts.get(request);
      const end = ids.findIndex((id) => stops.has(id));
      const spoken = (end < 0 ? ids : ids.slice(0, end)).filter((id) => !silent.has(id));
      const reply = readChatReply({
        text: tokens.decode(spoken),
        isThinking: /<think>\s*$/.test(tokens.decode(prompt?.slice(-TAIL) ?? [])),
        tools: offeredIn(request),
      });
      if (prompt !== undefined) {
        const key = keyAfter(conversationKeys(request).at(-1) ?? '', {
          role: 'assistant',
          content: partsOf(reply),
        });
        memory.keep(key, [...prompt, ...ids]);
      }
      return reply;
    },
  };
}

const NO_TOOLS =
  "The model's chat template does not support tools, so the model would not see them. Use a model that was tuned for tools, " +
  'or put a template with tools beside tokenizer.json as chat_template.jinja.';

const offeredIn = ({ tools, toolChoice }: ChatRequest): readonly Tool[] =>
  toolChoice === 'none' ? [] : tools;

const partsOf = ({ text, calls }: PolicyReply): readonly AssistantPart[] => [
  { type: 'text', text },
  ...calls.map((call): AssistantPart => ({ type: 'tool-call', id: '', ...call })),
];

interface TraitSources {
  readonly tokens: ChatTokens;
  readonly jinja: ChatJinja;
  readonly config: JsonObject;
  readonly generation: JsonObject;
}

interface TemplateTraits {
  /** From the generation config, the tokenizer, and the token that the template puts after a reply. */
  readonly stop: readonly number[];
  readonly takesTools: boolean;
}

const WORD = 'qwxzreply';
const HELLO: TemplateMessage = { role: 'user', content: 'Hello' };
const REPLY: TemplateMessage = { role: 'assistant', content: WORD };
const TOOL = {
  type: 'function',
  function: { name: WORD, description: WORD, parameters: { type: 'object', properties: {} } },
};
const NO_STOP =
  'No stop token is known: set "eos_token" in tokenizer_config.json or "eos_token_id" in generation_config.json.';

/** Properties of a template, detected by rendering with it. */
function detectTemplateTraits({ tokens, jinja, config, generation }: TraitSources): TemplateTraits {
  const { eos_token_id: given } = generation;
  const named = asString(config.eos_token) ?? asString(asObject(config.eos_token).content);
  const [, behind = ''] =
    renderOrUndefined(jinja, { messages: [HELLO, REPLY], tools: [], isAsking: false })?.split(WORD) ?? [];
  const [, ending] = [...tokens.marks].find(([mark]) => behind.trimStart().startsWith(mark)) ?? [];
  const ids = [...asArray(given), given, named === undefined ? undefined : tokens.idOf(named), ending];
  const stop = [...new Set(ids.map(asNumber).filter((id) => id !== undefined))];
  if (stop.length === 0) throw new TrainingError('user', NO_STOP);
  const withTool = renderOrUndefined(jinja, { messages: [HELLO], tools: [TOOL], isAsking: false });
  // A template that refuses this short conversation is tested by the first real one.
  return { stop, takesTools: withTool?.includes(WORD) ?? true };
}

interface RestParts {
  readonly tokens: ChatTokens;
  readonly jinja: ChatJinja;
  readonly stop: readonly number[];
}

/** The tokens from the one that ends the reply at an index to the end of the prompt. Undefined when it is not found. */
type TokensAfterReply = (
  at: number,
  messages: readonly TemplateMessage[],
  tools: readonly JsonObject[],
) => readonly number[] | undefined;

/**
 * Renders what follows a reply: the reply is replaced by a unique word, and the text is cut at the first end-of-turn token
 * behind it. So it does not matter how the template renders a reply, or that it drops parts (thoughts) of earlier replies.
 */
function createTokensAfterReply({ tokens, jinja, stop }: RestParts): TokensAfterReply {
  const ends = stop.map((id) => tokens.decode([id])).filter((text) => text !== '');
  return (at, messages, tools) => {
    const word = wordNotIn(JSON.stringify([messages, tools]));
    const marked = messages.map((message, index) => (index === at ? endingIn(word, message) : message));
    const text = renderOrUndefined(jinja, { messages: marked, tools, isAsking: true }) ?? '';
    const from = text.indexOf(word);
    const found = ends.map((end) => text.indexOf(end, from)).filter((end) => end >= 0);
    if (from < 0 || found.length === 0) return undefined;
    // Encoded together with that token: some tokenizers add a space at the start of a text.
    const ids = tokens.encode(text.slice(Math.min(...found)));
    return stop.includes(ids[0] ?? -1) ? ids : undefined;
  };
}

/** Puts the word into the last call if there is one: calls come after the text. Some templates take only one call. */
function endingIn(word: string, { tool_calls: calls = [], ...message }: TemplateMessage): TemplateMessage {
  const last = calls.at(-1);
  if (last === undefined) return { ...message, content: word };
  const marked = { ...last, function: { ...last.function, arguments: { [word]: word } } };
  return { ...message, tool_calls: [marked] };
}

function wordNotIn(text: string): string {
  let word = 'qwxzanchor';
  while (text.includes(word)) word += 'q';
  return word;
}

/**
 * The ids of conversations up to and including a sampled reply. A bounded LRU cache: a conversation that was evicted is
 * tokenized again from its text.
 */
interface SampledReplies {
  keep(key: string, ids: readonly number[]): void;
  find(key: string): Int32Array | undefined;
  readonly size: number;
}

interface SampledRepliesLimits {
  readonly replies: number;
  /** In total. */
  readonly tokens: number;
}

const isInt32 = (id: number): boolean => Number.isInteger(id) && id >= 0 && id < 2 ** 31;

function createSampledReplies({ replies, tokens }: SampledRepliesLimits): SampledReplies {
  const kept = new Map<string, Int32Array>();
  let held = 0;
  const drop = (key: string): void => {
    held -= kept.get(key)?.length ?? 0;
    kept.delete(key);
  };
  return {
    get size() {
      return kept.size;
    },
    keep: (key, ids) => {
      drop(key);
      if (ids.length > tokens || !ids.every(isInt32)) return;
      kept.set(key, Int32Array.from(ids));
      held += ids.length;
      for (const oldest of kept.keys()) {
        if (kept.size <= replies && held <= tokens) break;
        drop(oldest);
      }
    },
    find: (key) => {
      const ids = kept.get(key);
      if (ids === undefined) return undefined;
      kept.delete(key);
      kept.set(key, ids);
      return ids;
    },
  };
}

/** Keys of a conversation's prefixes: the nth covers its first n messages, number 0 system prompt and tools alone. */
function conversationKeys({ system, tools, toolChoice, messages }: ChatRequest): readonly string[] {
  const said = system.map(({ text }) => text);
  const keys = [sha(JSON.stringify([said, toolChoice === 'none' ? [] : tools]))];
  for (const message of messages) keys.push(keyAfter(keys.at(-1) ?? '', message));
  return keys;
}

const keyAfter = (key: string, message: ChatMessage): string => sha(key + JSON.stringify(coreOf(message)));

/** The identity of a message. Call ids are left out, because clients assign their own; arguments may return with other whitespace. */
function coreOf({ role, content }: ChatMessage): readonly unknown[] {
  const texts = new Map<string, string>();
  const others: unknown[] = [];
  for (const part of content) {
    if (part.type === 'text' || part.type === 'reasoning')
      texts.set(part.type, (texts.get(part.type) ?? '') + part.text);
    else if (part.type === 'tool-call') others.push([part.name, parseJson(part.arguments) ?? part.arguments]);
    else others.push([part.type, part.url]);
  }
  return [role, texts.get('text') ?? '', texts.get('reasoning') ?? '', others];
}

const sha = (text: string): string => hash('sha256', text, 'base64');

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';
/** Special tokens that are part of the reply; other special tokens are skipped. */
const SPEAKING_MARKS: ReadonlySet<string> = new Set([
  THINK_OPEN,
  THINK_CLOSE,
  '<tool_call>',
  '</tool_call>',
  '<|python_tag|>',
  '[TOOL_CALLS]',
]);

interface ReplyText {
  readonly text: string;
  /** The prompt ended inside a thought: templates open one for models that always think. */
  readonly isThinking: boolean;
  readonly tools: readonly Tool[];
}

/** A reply without the model's thoughts, split into text and calls. */
export function readChatReply({ text, isThinking, tools }: ReplyText): PolicyReply {
  const said = splitCalls(withoutThoughts(isThinking ? THINK_OPEN + text : text), tools);
  return { text: said.text.replaceAll('<|python_tag|>', '').trim(), calls: said.calls };
}

function withoutThoughts(text: string): string {
  const [open, close] = [text.indexOf(THINK_OPEN), text.indexOf(THINK_CLOSE)];
  // The thought was opened in the prompt.
  let rest = close >= 0 && (open < 0 || close < open) ? text.slice(close + THINK_CLOSE.length) : text;
  let said = '';
  for (let at = rest.indexOf(THINK_OPEN); at >= 0; at = rest.indexOf(THINK_OPEN)) {
    said += rest.slice(0, at);
    const end = rest.indexOf(THINK_CLOSE, at);
    rest = end < 0 ? '' : rest.slice(end + THINK_CLOSE.length);
  }
  return said + rest;
}

/** The tool calls in a reply, and the text around them. */
function splitCalls(reply: string, tools: readonly Tool[]): PolicyReply {
  if (tools.length === 0) return { text: reply, calls: [] };
  const reader = createWrittenCallReader(tools);
  const parts = [...reader.push(reply), ...reader.end()];
  return {
    text: parts.map((part) => ('text' in part ? part.text : '')).join(''),
    calls: parts.flatMap((part) => ('call' in part ? [part.call] : [])),
  };
}
