import type { JsonObject } from '../../../src/core/json.ts';
import type { WireName } from '../../../src/core/wire.ts';
import { pick } from '../../wire/random.ts';

/* Clients of the three wires as they are found: each writes its history in a way of its own and keeps to it. */

type Said =
  | { readonly kind: 'user'; readonly texts: readonly string[] }
  | { readonly kind: 'assistant'; readonly text: string; readonly calls: readonly string[] }
  | { readonly kind: 'results'; readonly calls: readonly string[]; readonly beside: string | undefined };

export interface RandomClient {
  /** Whether sent bytes are always repeated unchanged. */
  readonly isSteady: boolean;
  body(model: string): Buffer;
  /** Adds a user message, or the results of the model's tool calls. */
  goOn(): void;
  /** Adds the model's reply. */
  hear(): void;
  /** Replaces the history by a summary. */
  compact(): void;
  /** Replaces an earlier user message and drops the later ones. */
  rewind(): void;
}

export const TOPICS = ['tests', 'deploy', 'parser', 'colour', 'budget'] as const;

interface Habits {
  readonly wire: WireName;
  readonly system: 'none' | 'text' | 'parts';
  readonly content: 'text' | 'parts' | 'mixed';
  /** Prompt-cache marks: none, or on the newest messages; `flip` writes an unmarked text as a string. */
  readonly marks: 'none' | 'steady' | 'flip';
  /** A system message directly after the first user message. */
  readonly hasLateSystem: boolean;
  /** A temporary note at the end, missing in the next request. */
  readonly hasPassing: boolean;
  readonly indent: number | undefined;
}

export function createRandomClient(wire: WireName, random: () => number): RandomClient {
  const chance = (p: number) => random() < p;
  const habits: Habits = {
    wire,
    system: pick(random, ['none', 'text', 'parts']),
    content: pick(random, ['text', 'parts', 'mixed']),
    marks: wire === 'openai-responses' ? 'none' : pick(random, ['none', 'steady', 'flip']),
    hasLateSystem: wire === 'anthropic' && chance(0.3),
    hasPassing: wire === 'openai-chat' && chance(0.2),
    indent: chance(0.2) ? 1 : undefined,
  };
  let history: readonly Said[] = [];
  let note = '';
  let count = 0;
  const words = () =>
    `${++count}: about ${pick(random, TOPICS)} "and" \n ${pick(random, TOPICS)} ${random()}`;
  const ask = (): Said => ({ kind: 'user', texts: chance(0.3) ? [words(), words()] : [words()] });

  return {
    isSteady: habits.marks === 'none' && !habits.hasPassing,
    body: (model) => writeBody(habits, model, history, note),
    goOn: () => {
      note = words();
      const last = history.at(-1);
      const isCalled = last?.kind === 'assistant' && last.calls.length > 0;
      const beside = chance(0.3) ? words() : undefined;
      history = [...history, isCalled ? { kind: 'results', calls: last.calls, beside } : ask()];
    },
    hear: () => {
      const calls = chance(0.5)
        ? Array.from({ length: 1 + Math.floor(random() * 2) }, () => `call-${++count}`)
        : [];
      history = [...history, { kind: 'assistant', text: words(), calls }];
    },
    compact: () => {
      const opening = chance(0.5) ? 'This session is being continued from a previous conversation' : 'Notes';
      const summary: Said = { kind: 'user', texts: [`${opening} ${words()}`] };
      const first = history.slice(0, 1);
      const short = pick<readonly Said[]>(random, [[], [{ kind: 'assistant', text: words(), calls: [] }]]);
      history = chance(0.2) ? [...first, summary] : [summary, ...short];
    },
    rewind: () => {
      const asked = history.flatMap(({ kind }, at) => (kind === 'user' ? [at] : []));
      const at = asked[Math.floor(random() * asked.length)] ?? 0;
      history = [...history.slice(0, at), ask()];
    },
  };
}

const MARK = { cache_control: { type: 'ephemeral' } };

function writeBody(habits: Habits, model: string, history: readonly Said[], note: string): Buffer {
  const { wire, system } = habits;
  const listName = wire === 'openai-responses' ? 'input' : 'messages';
  const messages = history.flatMap((one, at) => writeMessage(habits, one, at, history.length));
  if (habits.hasLateSystem) messages.splice(1, 0, { role: 'system', content: 'Environment: a box.' });
  if (habits.hasPassing)
    messages.push({ role: 'user', content: `<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n${note}` });
  const rules = 'You are an agent.';
  const partType = wire === 'openai-responses' ? 'input_text' : 'text';
  const parts = [
    { type: partType, text: rules, ...(habits.marks === 'none' ? {} : MARK) },
    { type: partType, text: 'More.' },
  ];
  const asMessage = {
    role: wire === 'openai-chat' ? 'system' : 'developer',
    content: system === 'text' ? rules : parts,
  };
  const apart =
    system === 'none'
      ? {}
      : wire === 'anthropic'
        ? { system: system === 'text' ? rules : parts }
        : wire === 'openai-responses' && system === 'text'
          ? { instructions: rules }
          : { [listName]: [asMessage, ...messages] };
  const body = { model, tools: [{ name: 'bash' }], [listName]: messages, ...apart, stream: true };
  return Buffer.from(JSON.stringify(body, undefined, habits.indent));
}

function writeMessage(habits: Habits, one: Said, at: number, length: number): JsonObject[] {
  const { wire } = habits;
  const isMarked = habits.marks !== 'none' && at >= length - 2;
  if (one.kind === 'user') return [{ role: 'user', content: writeTexts(habits, one.texts, isMarked, at) }];
  if (one.kind === 'results') return writeResults(habits, one, isMarked);
  const { text, calls } = one;
  if (wire === 'anthropic') {
    const uses = calls.map((id) => ({ type: 'tool_use', id, name: 'bash', input: { command: 'ls' } }));
    return [{ role: 'assistant', content: [{ type: 'text', text }, ...uses] }];
  }
  if (wire === 'openai-chat') {
    const made = calls.map((id) => ({ id, type: 'function', function: { name: 'bash', arguments: '{}' } }));
    return [{ role: 'assistant', content: text, ...(calls.length === 0 ? {} : { tool_calls: made }) }];
  }
  const made = calls.map((id) => ({ type: 'function_call', call_id: id, name: 'bash', arguments: '{}' }));
  return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }, ...made];
}

function writeTexts(
  habits: Habits,
  texts: readonly string[],
  isMarked: boolean,
  at: number,
): string | JsonObject[] {
  const isList =
    isMarked ||
    texts.length > 1 ||
    habits.content === 'parts' ||
    (habits.content === 'mixed' && at % 2 === 0);
  const [only = ''] = texts;
  if (!isList || (habits.marks === 'flip' && !isMarked && texts.length === 1)) return only;
  const type = habits.wire === 'openai-responses' ? 'input_text' : 'text';
  return texts.map((text, n) => ({ type, text, ...(isMarked && n === texts.length - 1 ? MARK : {}) }));
}

function writeResults(
  { wire }: Habits,
  { calls, beside }: Said & { kind: 'results' },
  isMarked: boolean,
): JsonObject[] {
  if (wire === 'openai-chat')
    return calls.map((id) => ({ role: 'tool', tool_call_id: id, content: `output of ${id}` }));
  if (wire === 'openai-responses')
    return calls.map((id) => ({ type: 'function_call_output', call_id: id, output: `output of ${id}` }));
  const results: JsonObject[] = calls.map((id) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: `output of ${id}`,
  }));
  if (beside !== undefined) results.push({ type: 'text', text: beside });
  const last = results.length - 1;
  return [
    { role: 'user', content: results.map((one, n) => (isMarked && n === last ? { ...one, ...MARK } : one)) },
  ];
}
