import type { AssistantPart, ChatRequest, Tool } from '../core/chat.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { asNumber, type JsonObject } from '../core/json.ts';
import type { PolicyReply, Template } from '../core/policy.ts';
import { TrainingError } from '../core/training.ts';
import { createChatJinja } from './chat-jinja.ts';
import { createChatMemory, keyAfter, keysOf, type MemoryLimits } from './chat-memory.ts';
import { templateMessagesOf, templateToolsOf } from './chat-messages.ts';
import { readChatReply, SPEAKING_MARKS } from './chat-reply.ts';
import { createRestAfter } from './chat-rest.ts';
import { createChatTokens } from './chat-tokens.ts';
import { findTraits } from './chat-traits.ts';

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
  readonly memory?: Partial<MemoryLimits>;
}

const LONGEST_REPLY = 4_096;
/** 16 MB of ids. */
const MEMORY: MemoryLimits = { replies: 1_024, tokens: 4_000_000 };
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
export function createChatTemplate(options: ChatTemplateOptions): Template {
  const {
    tokenizer,
    tokenizerConfig: config,
    generation = {},
    variables = {},
    clock = systemClock,
  } = options;
  const tokens = createChatTokens(tokenizer, config);
  const jinja = createChatJinja({ config, variables, clock, guard: tokens.withoutMarks });
  const { stop, takesTools } = findTraits({ tokens, jinja, config, generation });
  const stops = new Set(stop);
  const silent = new Set([...tokens.marks].flatMap(([text, id]) => (SPEAKING_MARKS.has(text) ? [] : [id])));
  const restAfter = createRestAfter({ tokens, jinja, stop });
  const memory = createChatMemory({ ...MEMORY, ...options.memory });
  const prompts = new WeakMap<ChatRequest, readonly number[]>();

  const write = (request: ChatRequest): readonly number[] => {
    const tools = templateToolsOf(request);
    if (tools.length > 0 && !takesTools) throw new TrainingError('user', NO_TOOLS);
    const messages = templateMessagesOf(request);
    const leading = messages.length - request.messages.length;
    const keys = keysOf(request);
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
      const prompt = write(request);
      prompts.set(request, prompt);
      return { is: 'prompt', tokens: prompt };
    },
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
        const key = keyAfter(keysOf(request).at(-1) ?? '', { role: 'assistant', content: partsOf(reply) });
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
