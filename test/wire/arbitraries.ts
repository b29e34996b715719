import fc from 'fast-check';
import type {
  AssistantPart,
  ChatEvent,
  ChatMessage,
  ChatRequest,
  StopReason,
  Usage,
} from '../../src/core/chat.ts';
import { compact } from '../../src/core/json.ts';

/** What a wire cannot express; the round-trip laws leave these members out. */
export type Loss = 'stop' | 'tool-error' | 'reasoning-tokens' | 'file' | 'effort' | 'format';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,15}$/);
const url = fc.constantFrom('https://example.com/a.png', 'data:image/png;base64,aGk=');
const file = fc.constantFrom('data:application/pdf;base64,JVBERi0=');
const callId = (n: number) => `call_${n}`;

const textPart = text.map((value) => ({ type: 'text' as const, text: value }));
const imagePart = url.map((value) => ({ type: 'image' as const, url: value }));
const filePart = file.map((value) => ({ type: 'file' as const, url: value, name: 'paper.pdf' }));

const userPart = (losses: ReadonlySet<Loss>) =>
  losses.has('file') ? fc.oneof(textPart, imagePart) : fc.oneof(textPart, imagePart, filePart);

interface Step {
  readonly user: readonly (typeof textPart extends fc.Arbitrary<infer T> ? T : never)[];
  readonly say: string | undefined;
  readonly calls: readonly { name: string; input: Record<string, unknown> }[];
  readonly results: readonly string[];
  readonly failed: boolean;
}

/** A conversation as real agents have it: every call has its result, in order, before the next message. */
function messagesOf(losses: ReadonlySet<Loss>): fc.Arbitrary<ChatMessage[]> {
  const step: fc.Arbitrary<Step> = fc.record({
    user: fc.array(userPart(losses), { minLength: 1, maxLength: 3 }) as unknown as fc.Arbitrary<Step['user']>,
    // Anthropic refuses an assistant's text that is only white space, so no wire has to keep it.
    say: fc.option(
      text.filter((value) => value.trim() !== ''),
      { nil: undefined },
    ),
    calls: fc.array(
      fc.record({ name, input: fc.dictionary(name, fc.oneof(text, fc.integer(), fc.boolean())) }),
      {
        maxLength: 3,
      },
    ),
    results: fc.array(text, { minLength: 3, maxLength: 3 }),
    failed: fc.boolean(),
  });
  return fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => {
    const messages: ChatMessage[] = [];
    let calls = 0;
    for (const [index, { user, say, calls: made, results, failed }] of steps.entries()) {
      messages.push({ role: 'user', content: user });
      const content: AssistantPart[] = [];
      if (say !== undefined) content.push({ type: 'text', text: say });
      const first = calls;
      for (const call of made) {
        content.push({
          type: 'tool-call',
          id: callId(calls++),
          name: call.name,
          arguments: JSON.stringify(call.input),
        });
      }
      if (content.length === 0) {
        if (index < steps.length - 1)
          messages.push({ role: 'assistant', content: [{ type: 'text', text: 'ok' }] });
        continue;
      }
      messages.push({ role: 'assistant', content });
      for (let n = first; n < calls; n++) {
        messages.push({
          role: 'tool',
          callId: callId(n),
          content: [{ type: 'text', text: results[n - first] ?? 'x' }],
          ...(failed && !losses.has('tool-error') ? { isError: true } : {}),
        });
      }
    }
    return messages;
  });
}

export function chatRequests(losses: ReadonlySet<Loss>): fc.Arbitrary<ChatRequest> {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  return fc
    .record({
      model: name,
      system: fc.array(textPart, { maxLength: 2 }),
      messages: messagesOf(losses),
      tools: fc.uniqueArray(
        fc.record({ name, description: text, parameters: fc.constant({ type: 'object', properties: {} }) }),
        { maxLength: 3, selector: (tool) => tool.name },
      ),
      toolChoice: maybe(fc.constantFrom('auto' as const, 'none' as const, 'required' as const)),
      // Anthropic requires a limit, so one is always given.
      maxTokens: fc.integer({ min: 1, max: 64_000 }),
      temperature: maybe(fc.constantFrom(0, 0.5, 1)),
      topP: maybe(fc.constantFrom(0.1, 0.9)),
      stop: losses.has('stop')
        ? fc.constant(undefined)
        : maybe(fc.array(name, { minLength: 1, maxLength: 3 })),
      effort: losses.has('effort')
        ? fc.constant(undefined)
        : maybe(fc.constantFrom('low' as const, 'high' as const)),
      format: losses.has('format')
        ? fc.constant(undefined)
        : maybe(
            fc.constant({
              type: 'json-schema' as const,
              name: 'answer',
              schema: { type: 'object' },
              strict: true,
            }),
          ),
      user: maybe(name),
      stream: fc.boolean(),
    })
    .map((request) => {
      const { toolChoice, ...rest } = request;
      return compact(rest.tools.length > 0 ? { ...rest, toolChoice } : rest) as ChatRequest;
    });
}

const usages = (losses: ReadonlySet<Loss>): fc.Arbitrary<Usage> =>
  fc
    .tuple(fc.nat(5000), fc.nat(5000), fc.nat(5000), fc.nat(5000), fc.nat(100))
    .map(([fresh, read, write, output, thought]) => ({
      inputTokens: fresh + read + write,
      outputTokens: output + thought,
      ...(read > 0 ? { cacheReadTokens: read } : {}),
      ...(write > 0 ? { cacheWriteTokens: write } : {}),
      ...(thought > 0 && !losses.has('reasoning-tokens') ? { reasoningTokens: thought } : {}),
    }));

/** A complete reply in the order that every wire preserves: reasoning, text, tool calls. */
export function replies(losses: ReadonlySet<Loss>): fc.Arbitrary<ChatEvent[]> {
  return fc
    .record({
      model: name,
      reasoning: fc.array(text, { maxLength: 3 }),
      signature: fc.option(fc.base64String({ minLength: 4, maxLength: 20 }), { nil: undefined }),
      words: fc.array(text, { maxLength: 5 }),
      tools: fc.array(fc.record({ name, pieces: fc.array(text, { maxLength: 4 }) }), { maxLength: 3 }),
      stop: fc.constantFrom<StopReason>('end', 'length', 'filter'),
      usage: usages(losses),
    })
    .map(({ model, reasoning, signature, words, tools, stop, usage }) => {
      const events: ChatEvent[] = [{ type: 'reply-start', id: 'reply_1', model }];
      for (const piece of reasoning) events.push({ type: 'reasoning-delta', text: piece });
      if (reasoning.length > 0 && signature) events.push({ type: 'reasoning-signature', signature });
      for (const word of words) events.push({ type: 'text-delta', text: word });
      for (const [n, tool] of tools.entries()) {
        events.push({ type: 'tool-start', id: callId(n), name: tool.name });
        const json = JSON.stringify({ pieces: tool.pieces });
        const middle = Math.floor(json.length / 2);
        events.push({ type: 'tool-delta', id: callId(n), json: json.slice(0, middle) });
        events.push({ type: 'tool-delta', id: callId(n), json: json.slice(middle) });
      }
      events.push({ type: 'reply-end', stop: tools.length > 0 ? 'tool-calls' : stop, usage });
      return events;
    });
}

/** Joins adjacent deltas of one kind, so that replies can be compared independent of chunking. */
export function joined(events: readonly ChatEvent[]): ChatEvent[] {
  const out: ChatEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (event.type === 'text-delta' && last?.type === 'text-delta') {
      out[out.length - 1] = { ...last, text: last.text + event.text };
    } else if (event.type === 'reasoning-delta' && last?.type === 'reasoning-delta') {
      out[out.length - 1] = { ...last, text: last.text + event.text };
    } else if (event.type === 'tool-delta' && last?.type === 'tool-delta' && last.id === event.id) {
      out[out.length - 1] = { ...last, json: last.json + event.json };
    } else out.push(event);
  }
  return out;
}

/** Undefined when the events follow the grammar of `ChatEvent`, else what is wrong. */
export function grammarFault(events: readonly ChatEvent[]): string | undefined {
  const tools = new Set<string>();
  for (const [index, event] of events.entries()) {
    const last = index === events.length - 1;
    const terminal = event.type === 'reply-end' || event.type === 'failure';
    if (terminal !== last) return `${event.type} at ${index} of ${events.length}`;
    if (index === 0 && event.type !== 'reply-start' && event.type !== 'failure')
      return `starts with ${event.type}`;
    if (index > 0 && event.type === 'reply-start') return 'starts twice';
    if (event.type === 'tool-start') {
      if (tools.has(event.id)) return `tool ${event.id} starts twice`;
      tools.add(event.id);
    }
    if (event.type === 'tool-delta' && !tools.has(event.id)) return `delta of unknown tool ${event.id}`;
  }
  return events.length === 0 ? 'empty' : undefined;
}
