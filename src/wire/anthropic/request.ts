import type { ChatRequest, Effort, ReplyFormat, TextPart } from '../../core/chat.ts';
import { asNumber, asString, compact, type Json, type JsonObject } from '../../core/json.ts';
import {
  optionalField,
  requireArray,
  requireBoolean,
  requireCount,
  requireNumber,
  requireObject,
  requireString,
} from '../fields.ts';
import {
  type AnthropicTurn,
  decodeAnthropicMessages,
  decodeTextBlocks,
  encodeAnthropicMessages,
  encodeTextBlock,
} from './messages.ts';
import {
  decodeAnthropicToolChoice,
  decodeAnthropicTools,
  encodeAnthropicToolChoice,
  encodeAnthropicTools,
} from './tools.ts';

/** Anthropic requires a limit; this one is within the models' maximum and leaves room for thinking. */
const DEFAULT_MAX_TOKENS = 32_000;

export function decodeAnthropicRequest(body: JsonObject): ChatRequest {
  const all = decodeAnthropicMessages(body.messages);
  const first = all.findIndex(({ role }) => role !== 'system');
  const split = first < 0 ? all.length : first;
  const leading = all.slice(0, split).flatMap(({ content }) => content as readonly TextPart[]);
  const tools = decodeAnthropicTools(body.tools);
  return compact({
    model: requireString(body.model, 'model'),
    system: [...(optionalField(body.system, 'system', decodeTextBlocks) ?? []), ...leading],
    messages: all.slice(split),
    tools,
    ...decodeAnthropicToolChoice(body.tool_choice, tools),
    maxTokens: optionalField(body.max_tokens, 'max_tokens', requireCount),
    temperature: optionalField(body.temperature, 'temperature', requireNumber),
    topP: optionalField(body.top_p, 'top_p', requireNumber),
    stop: optionalField(body.stop_sequences, 'stop_sequences', decodeStop),
    effort: decodeEffort(body),
    format: decodeFormat(body),
    user: decodeUserId(body.metadata),
    stream: optionalField(body.stream, 'stream', requireBoolean) ?? false,
  });
}

function decodeStop(value: Json | undefined, path: string): readonly string[] | undefined {
  const stop = requireArray(value, path).map((item, index) => requireString(item, `${path}[${index}]`));
  return stop.length > 0 ? stop : undefined;
}

function decodeUserId(value: Json | undefined): string | undefined {
  return optionalField(
    optionalField(value, 'metadata', requireObject)?.user_id,
    'metadata.user_id',
    requireString,
  );
}

/** The wire has neither a name nor a `strict` flag for the format. */
function decodeFormat(body: JsonObject): ReplyFormat | undefined {
  const config = optionalField(body.output_config, 'output_config', requireObject);
  const path = config?.format ? 'output_config.format' : 'output_format';
  const format = optionalField(config?.format ?? body.output_format, path, requireObject);
  if (format?.type !== 'json_schema') return undefined;
  return { type: 'json-schema', name: 'reply', schema: requireObject(format.schema, `${path}.schema`) };
}

export function encodeAnthropicRequest(request: ChatRequest): JsonObject {
  const { model, system, tools, stop, format, user, stream } = request;
  const turns = encodeAnthropicMessages(request.messages);
  const plan = planThinking(request, turns, request.maxTokens ?? DEFAULT_MAX_TOKENS);
  const texts = system.filter(({ text }) => text !== '').map(encodeTextBlock);
  // Anthropic refuses a stop sequence that is only white space.
  const stops = stop?.filter((sequence) => sequence.trim() !== '') ?? [];
  const schema = format?.type === 'json-schema' ? { type: 'json_schema', schema: format.schema } : undefined;
  const output = compact({ effort: plan.effort, format: schema });
  return compact({
    model,
    max_tokens: plan.maxTokens,
    system: texts.length > 0 ? texts : undefined,
    messages: turns.map(({ role, content }) => ({ role, content })),
    tools: tools.length > 0 ? encodeAnthropicTools(tools) : undefined,
    tool_choice: tools.length > 0 ? encodeAnthropicToolChoice(request) : undefined,
    ...encodeSampling(request, plan.isOn),
    stop_sequences: stops.length > 0 ? stops : undefined,
    thinking: plan.thinking,
    output_config: Object.keys(output).length > 0 ? output : undefined,
    metadata: user !== undefined && isOpaque(user) ? { user_id: user } : undefined,
    stream,
  });
}

/** While thinking, models accept almost no sampling parameters; the newest ones accept none at all. */
function encodeSampling({ model, temperature, topP }: ChatRequest, isThinking: boolean): JsonObject {
  const { sampling } = modelFamilyOf(model);
  if (sampling === 'none') return {};
  if (isThinking) return topP !== undefined && topP >= 0.95 ? { top_p: topP } : {};
  const isAlone = sampling === 'both' || temperature === undefined;
  return compact({
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: isAlone ? topP : undefined,
  });
}

/** The maximum length of an email address. */
const LONGEST_ADDRESS = 320;

/** Anthropic refuses a request whose user id looks like an email address or a telephone number. */
const isOpaque = (user: string): boolean =>
  user.length > LONGEST_ADDRESS ||
  (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(user) && !/^\+?[\d\s()-]{7,}$/.test(user));

/** Thinking budgets in tokens. Anthropic's minimum is 1024; its models write at most 64,000 tokens in all. */
const BUDGETS: Record<Exclude<Effort, 'none'>, number> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 60_000,
};
const ANSWER_TOKENS = 4000;

const EFFORTS = Object.keys(BUDGETS) as Exclude<Effort, 'none'>[];

/** Undefined when the request leaves it to the model. */
function decodeEffort(body: JsonObject): Effort | undefined {
  const thinking = optionalField(body.thinking, 'thinking', requireObject);
  const asked = asString(optionalField(body.output_config, 'output_config', requireObject)?.effort);
  if (thinking?.type === 'disabled') return 'none';
  const effort = EFFORTS.find((name) => name === asked);
  if (effort !== undefined || thinking?.type !== 'enabled') return effort;
  const budget = asNumber(thinking.budget_tokens);
  if (budget === undefined) return undefined;
  const distance = (name: Exclude<Effort, 'none'>) => Math.abs(BUDGETS[name] - budget);
  return EFFORTS.reduce((best, name) => (distance(name) < distance(best) ? name : best));
}

interface ThinkingPlan {
  readonly thinking?: JsonObject;
  /** For `output_config`. */
  readonly effort?: string;
  readonly maxTokens: number;
  readonly isOn: boolean;
}

/** The parameters for the request's effort, as far as history and tool choice allow thinking. */
function planThinking(
  request: ChatRequest,
  turns: readonly AnthropicTurn[],
  maxTokens: number,
): ThinkingPlan {
  const { effort, model, tools, toolChoice } = request;
  const family = modelFamilyOf(model);
  const off: ThinkingPlan = { maxTokens, isOn: family.alwaysThinks };
  if (effort === undefined) return off;
  if (effort === 'none') {
    return family.alwaysThinks ? { ...off, effort: 'low' } : { ...off, thinking: { type: 'disabled' } };
  }
  const isForced =
    tools.length > 0 && toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none';
  if (family.thinking === 'adaptive') {
    // The newer models hide their thinking unless a summary is requested.
    const thinking = isForced ? undefined : { type: 'adaptive', display: 'summarized' };
    const level = effort === 'minimal' ? 'low' : effort;
    return compact({ maxTokens, thinking, effort: level, isOn: !isForced || family.alwaysThinks });
  }
  if (isForced || !startsWithThinking(turns)) return off;
  const budget = BUDGETS[effort];
  return {
    thinking: { type: 'enabled', budget_tokens: budget },
    maxTokens: maxTokens > budget ? maxTokens : budget + Math.min(maxTokens, ANSWER_TOKENS),
    isOn: true,
  };
}

/**
 * With a budget, a turn with tool calls must begin with its signed thinking, and the last turn must not be the
 * assistant's. A client of another wire may have lost the signatures.
 */
function startsWithThinking(turns: readonly AnthropicTurn[]): boolean {
  if (turns.at(-1)?.role === 'assistant') return false;
  return turns.every(
    ({ role, content }) =>
      role === 'user' ||
      !content.some(({ type }) => type === 'tool_use') ||
      content[0]?.type === 'thinking' ||
      content[0]?.type === 'redacted_thinking',
  );
}

/** What a model refuses with a 400 although the format allows it. */
interface ModelFamily {
  /** Newer models accept an effort and refuse a token budget; older ones know only the budget. */
  readonly thinking: 'budget' | 'adaptive';
  /** It refuses `thinking: disabled`. */
  readonly alwaysThinks: boolean;
  /** Whether it accepts temperature and top_p together, one of them, or none. */
  readonly sampling: 'both' | 'one' | 'none';
}

/** `claude-sonnet-4-20250514` is version 4.0: eight digits are a date, not a minor version. */
const VERSION = /claude[-_]?(?:[a-z]+[-_])?(\d{1,2})(?:[-._](\d{1,2}))?(?!\d)/i;
/** Limits the work that an untrusted name can cause. */
const LONGEST_NAME = 200;
const ALWAYS_THINKS = /claude[-_](?:fable|mythos)/i;

/**
 * Anthropic's API gives no capabilities, so models are distinguished by name. An unknown name, such as another vendor's
 * model behind this format, gets everything that the format has.
 */
function modelFamilyOf(name: string): ModelFamily {
  const model = name.slice(0, LONGEST_NAME);
  if (ALWAYS_THINKS.test(model)) return { thinking: 'adaptive', alwaysThinks: true, sampling: 'none' };
  const [, major, minor = '0'] = VERSION.exec(model) ?? [];
  const version = Number(major ?? 0) * 100 + Number(minor);
  if (version >= 407) return { thinking: 'adaptive', alwaysThinks: false, sampling: 'none' };
  return { thinking: 'budget', alwaysThinks: false, sampling: version >= 401 ? 'one' : 'both' };
}
