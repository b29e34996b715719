import { createHash } from 'node:crypto';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../../../src/core/json.ts';

/*
 * What a provider's prompt cache makes of a request, by the providers' published rules. Anthropic: tools, system and messages up to a
 * `cache_control` mark are kept; a mark finds what was kept up to twenty blocks before it; from 1,024 tokens on. OpenAI: the longest
 * beginning that an earlier request had, in steps of 128 tokens from 1,024 on. A token is four characters here, in both arms.
 */

/** Tokens of one request's prompt, by what they cost. */
export interface PromptUse {
  readonly input: number;
  readonly read: number;
  readonly write: number;
  /** Of `write`, those kept for an hour: twice the price of input, not 1.25 times. */
  readonly longWrite: number;
}

export type CountPrompt = (body: JsonObject) => PromptUse;

const SHORTEST = 1024;
const CHARACTERS = 4;
const LOOK_BACK = 20;
const STEP = 128;

interface Block {
  readonly text: string;
  /** Absent: no mark. */
  readonly mark?: 'short' | 'long';
}

const bare = ({ cache_control: _, ...rest }: JsonObject): string => JSON.stringify(rest);

const blockOf = (place: string, value: Json): Block => {
  const given = isObject(value) ? value : { text: value };
  const mark = asObject(given.cache_control);
  const text = `${place}\n${bare(given)}`;
  if (mark.type === undefined) return { text };
  return { text, mark: asString(mark.ttl) === '1h' ? 'long' : 'short' };
};

const listOf = (value: Json | undefined): readonly Json[] =>
  value === undefined ? [] : Array.isArray(value) ? asArray(value) : [value];

/** In the order in which the provider reads them. */
const anthropicBlocks = ({ tools, system, messages }: JsonObject): readonly Block[] => [
  ...listOf(tools).map((tool) => blockOf('tool', tool)),
  ...listOf(system).map((part) => blockOf('system', part)),
  ...asArray(messages).flatMap((message, nth) => {
    const { role, content } = asObject(message);
    return listOf(content).map((part) => blockOf(`${nth} ${asString(role) ?? ''}`, part));
  }),
];

/** Counts as Anthropic does. Everything is kept: a scripted session is shorter than the five minutes for which it would be. */
export function createAnthropicCache(): CountPrompt {
  const kept = new Set<string>();
  return (body) => {
    const blocks = anthropicBlocks(body);
    const tokens: number[] = [];
    const names: string[] = [];
    let sum = 0;
    let name = asString(body.model) ?? '';
    for (const { text } of blocks) {
      sum += Math.ceil(text.length / CHARACTERS);
      name = createHash('sha256').update(name).update(text).digest('hex');
      tokens.push(sum);
      names.push(name);
    }
    const marks = blocks.flatMap(({ mark }, at) => (mark === undefined ? [] : [at]));
    const known = marks.flatMap((mark) => {
      const from = Math.max(0, mark - LOOK_BACK);
      return names.slice(from, mark + 1).flatMap((one, nth) => (kept.has(one) ? [from + nth] : []));
    });
    const read = Math.max(0, ...known.map((at) => tokens[at] ?? 0));
    const long = marks.filter((at) => blocks[at]?.mark === 'long').map((at) => tokens[at] ?? 0);
    const last = Math.max(0, ...marks.map((at) => tokens[at] ?? 0));
    for (const at of marks) if ((tokens[at] ?? 0) >= SHORTEST) kept.add(names[at] ?? '');
    const write = last >= SHORTEST ? Math.max(0, last - read) : 0;
    const longWrite = Math.min(write, Math.max(0, Math.max(0, ...long) - read));
    return { input: sum, read, write, longWrite };
  };
}

/** Counts as OpenAI does: earlier prompts of the same model and, where one is sent, of the same `prompt_cache_key`. */
export function createOpenAiCache(): CountPrompt {
  const kept = new Map<string, string[]>();
  return (body) => {
    const { tools, instructions, input, messages } = body;
    const parts = [...listOf(tools), ...listOf(instructions), ...listOf(input), ...listOf(messages)];
    const text = parts.map((part) => JSON.stringify(part)).join('\n');
    const key = `${asString(body.model)} ${asString(body.prompt_cache_key)}`;
    const earlier = kept.get(key) ?? [];
    const common = Math.max(0, ...earlier.map((one) => commonLength(one, text)));
    const steps = Math.floor(common / CHARACTERS / STEP) * STEP;
    kept.set(key, [...earlier, text]);
    return {
      input: Math.ceil(text.length / CHARACTERS),
      read: steps >= SHORTEST ? steps : 0,
      write: 0,
      longWrite: 0,
    };
  };
}

function commonLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at;
  return end;
}

const PRICE = { read: 0.1, write: 1.25, longWrite: 2 };

/** What a prompt costs, in tokens of plain input. */
export const costInInput = ({ input, read, write, longWrite }: PromptUse): number =>
  input - read - write + PRICE.read * read + PRICE.write * (write - longWrite) + PRICE.longWrite * longWrite;

export const addUse = (a: PromptUse, b: PromptUse): PromptUse => ({
  input: a.input + b.input,
  read: a.read + b.read,
  write: a.write + b.write,
  longWrite: a.longWrite + b.longWrite,
});

export const NO_USE: PromptUse = { input: 0, read: 0, write: 0, longWrite: 0 };

/** Input and cached input that a client itself printed, in the forms of Claude Code and of Codex; undefined where it printed none. */
export function clientUse(output: string): Pick<PromptUse, 'input' | 'read' | 'write'> | undefined {
  let found: Pick<PromptUse, 'input' | 'read' | 'write'> | undefined;
  for (const line of output.split('\n')) {
    if (!line.startsWith('{')) continue;
    const usage = asObject(asObject(parse(line)).usage);
    const [read, write] = [
      asNumber(usage.cache_read_input_tokens),
      asNumber(usage.cache_creation_input_tokens),
    ];
    const [input, cached] = [asNumber(usage.input_tokens), asNumber(usage.cached_input_tokens)];
    if (input === undefined) continue;
    found =
      cached === undefined
        ? { input: input + (read ?? 0) + (write ?? 0), read: read ?? 0, write: write ?? 0 }
        : { input, read: cached, write: 0 };
  }
  return found;
}

function parse(line: string): JsonObject {
  try {
    return asObject(JSON.parse(line));
  } catch {
    return {};
  }
}
