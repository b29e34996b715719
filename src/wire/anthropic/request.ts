import type { ChatRequest, ReplyFormat, TextPart } from '../../core/chat.ts';
import { compact, type Json, type JsonObject } from '../../core/json.ts';
import { arrayAt, booleanAt, countAt, numberAt, objectAt, optional, stringAt } from '../fields.ts';
import { decodeTexts, encodeText } from './content.ts';
import { decodeMessages, encodeMessages } from './messages.ts';
import { familyOf } from './model-family.ts';
import { decodeEffort, planThinking } from './thinking.ts';
import { decodeToolChoice, decodeTools, encodeToolChoice, encodeTools } from './tools.ts';

/** Anthropic requires a limit; this one is within the models' maximum and leaves room for thinking. */
const DEFAULT_MAX_TOKENS = 32_000;

export function decodeRequest(body: JsonObject): ChatRequest {
  const all = decodeMessages(body.messages);
  const first = all.findIndex(({ role }) => role !== 'system');
  const split = first < 0 ? all.length : first;
  const leading = all.slice(0, split).flatMap(({ content }) => content as readonly TextPart[]);
  const tools = decodeTools(body.tools);
  return compact({
    model: stringAt(body.model, 'model'),
    system: [...(optional(body.system, 'system', decodeTexts) ?? []), ...leading],
    messages: all.slice(split),
    tools,
    ...decodeToolChoice(body.tool_choice, tools),
    maxTokens: optional(body.max_tokens, 'max_tokens', countAt),
    temperature: optional(body.temperature, 'temperature', numberAt),
    topP: optional(body.top_p, 'top_p', numberAt),
    stop: optional(body.stop_sequences, 'stop_sequences', decodeStop),
    effort: decodeEffort(body),
    format: decodeFormat(body),
    user: decodeUserId(body.metadata),
    stream: optional(body.stream, 'stream', booleanAt) ?? false,
  });
}

function decodeStop(value: Json | undefined, path: string): readonly string[] | undefined {
  const stop = arrayAt(value, path).map((item, index) => stringAt(item, `${path}[${index}]`));
  return stop.length > 0 ? stop : undefined;
}

function decodeUserId(value: Json | undefined): string | undefined {
  return optional(optional(value, 'metadata', objectAt)?.user_id, 'metadata.user_id', stringAt);
}

/** The wire has neither a name nor a `strict` flag for the format. */
function decodeFormat(body: JsonObject): ReplyFormat | undefined {
  const config = optional(body.output_config, 'output_config', objectAt);
  const path = config?.format ? 'output_config.format' : 'output_format';
  const format = optional(config?.format ?? body.output_format, path, objectAt);
  if (format?.type !== 'json_schema') return undefined;
  return { type: 'json-schema', name: 'reply', schema: objectAt(format.schema, `${path}.schema`) };
}

export function encodeRequest(request: ChatRequest): JsonObject {
  const { model, system, tools, stop, format, user, stream } = request;
  const turns = encodeMessages(request.messages);
  const plan = planThinking(request, turns, request.maxTokens ?? DEFAULT_MAX_TOKENS);
  const texts = system.filter(({ text }) => text !== '').map(encodeText);
  // Anthropic refuses a stop sequence that is only white space.
  const stops = stop?.filter((sequence) => sequence.trim() !== '') ?? [];
  const schema = format?.type === 'json-schema' ? { type: 'json_schema', schema: format.schema } : undefined;
  const output = compact({ effort: plan.effort, format: schema });
  return compact({
    model,
    max_tokens: plan.maxTokens,
    system: texts.length > 0 ? texts : undefined,
    messages: turns.map(({ role, content }) => ({ role, content })),
    tools: tools.length > 0 ? encodeTools(tools) : undefined,
    tool_choice: tools.length > 0 ? encodeToolChoice(request) : undefined,
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
  const { sampling } = familyOf(model);
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
