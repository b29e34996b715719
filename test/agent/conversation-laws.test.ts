import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentEnd, runAgent } from '../../src/agent/agent.ts';
import type { Shell } from '../../src/agent/shell.ts';
import type { ChatMessage, ToolCallPart } from '../../src/core/chat.ts';
import { createFailure } from '../../src/core/failure.ts';
import { asArray, asObject, isObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { createScriptedSpeak, type ScriptedReply } from './scripted-speak.ts';

const command = fc.constantFrom(
  'ls',
  'done',
  'ls\ndone',
  'false && done',
  'refuse\ndone',
  'abort',
  '',
  'throw',
  'echo done',
);
const args = fc.oneof(
  { weight: 4, arbitrary: command.map((text) => JSON.stringify({ command: text })) },
  fc.constantFrom('', '{', '{"command":', '"x"', '[1]', 'null', '{"cmd":"ls"}', '{"command":7}'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.json({ maxDepth: 2 }),
);
const call: fc.Arbitrary<ToolCallPart> = fc.record({
  type: fc.constant('tool-call'),
  id: fc.oneof(fc.constantFrom('', 'c', 'c_2', 'c.2', 'call'), fc.string({ maxLength: 8 })),
  name: fc.oneof(
    { weight: 5, arbitrary: fc.constant('run_command') },
    fc.constantFrom('done', 'a.b', ''),
    fc.string(),
  ),
  arguments: args,
});
const failure = fc
  .constantFrom('overloaded', 'truncated', 'aborted' as const)
  .map((kind) => createFailure(kind, 'it broke'));
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      text: fc.constantFrom('', ' ', 'I look.'),
      calls: fc.array(call, { maxLength: 4 }),
    }),
  },
  fc.record({ text: fc.constantFrom('', 'An answer.') }),
  fc.record({ text: fc.constantFrom('', 'half'), calls: fc.array(call, { maxLength: 2 }), failure }),
);
const task = fc.record({ replies: fc.array(reply, { maxLength: 6 }), steps: fc.integer({ min: 0, max: 5 }) });

const createShell =
  (leaving: AbortController): Shell =>
  async (lines) => {
    if (lines === 'abort') leaving.abort();
    if (lines === 'throw') throw new Error('broken');
    return lines === 'refuse'
      ? { code: 126, output: 'Not run: no', refused: 'no' }
      : { code: lines.startsWith('false') ? 1 : 0, output: lines };
  };

/** Each call of a reply is answered once, in order, right behind it; the ids of a conversation are all different. */
function checkCalls(messages: readonly ChatMessage[]): number {
  const ids: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const calls = message.content.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
    const after = messages.slice(index + 1);
    const end = after.findIndex(({ role }) => role !== 'tool');
    const answered = after
      .slice(0, end < 0 ? undefined : end)
      .flatMap((one) => (one.role === 'tool' ? [one.callId] : []));
    expect(answered).toEqual(calls.map(({ id }) => id));
    expect(message.content.length).toBeGreaterThan(0);
    ids.push(...answered);
    for (const { name, arguments: text } of calls) {
      expect(name).toMatch(/^[\w-]{1,64}$/);
      expect(isObject(parseJson(text))).toBe(true);
    }
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(ids.length);
  return ids.length;
}

/** The user begins; nobody but tools speaks twice in a row, and the user never in between a call and its result. */
function checkRoles(messages: readonly ChatMessage[]): void {
  const MAY_FOLLOW: Readonly<Record<string, string>> = { '': 'u', u: 'a', a: 'tu', t: 'tau' };
  let before = '';
  for (const { role } of messages) {
    const here = role[0] ?? '';
    expect(MAY_FOLLOW[before]).toContain(here);
    before = here;
  }
}

/** As Anthropic reads it: turns alternate, and a turn's calls are answered in the next one. */
function checkAnthropic(body: JsonObject): void {
  const turns = asArray(body.messages).map(asObject);
  expect(turns.map(({ role }) => role)).toEqual(
    turns.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
  );
  const seen = new Set<unknown>();
  for (const [index, turn] of turns.entries()) {
    const blocks = asArray(turn.content).map(asObject);
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const next = asArray(turns[index + 1]?.content).map(asObject);
    const results = next.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id);
    if (turn.role === 'assistant') expect(results).toEqual(calls);
    for (const id of calls) {
      expect(seen.has(id)).toBe(false);
      seen.add(id);
    }
  }
}

describe('whatever a model replies, over several tasks', () => {
  it('the conversation stays valid for every wire: each call has one result, roles alternate', async () => {
    const ends = new Map<AgentEnd, number>();
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(task, { minLength: 1, maxLength: 4 }), async (tasks) => {
        let history: readonly ChatMessage[] = [];
        for (const { replies, steps } of tasks) {
          const leaving = new AbortController();
          const script = createScriptedSpeak(replies);
          const before = JSON.stringify(history);
          const earlier = history;
          const run = await runAgent({
            speak: script.speak,
            speaker: { session: 's', agent: 'a', runKind: 'law' },
            model: 'm',
            system: '',
            history,
            prompt: 'Do it.',
            shell: createShell(leaving),
            limits: { steps },
            signal: leaving.signal,
          });
          ends.set(run.end, (ends.get(run.end) ?? 0) + 1);
          expect(JSON.stringify(earlier)).toBe(before);
          expect(run.steps).toBeLessThanOrEqual(steps);
          for (const messages of [run.messages, ...script.requests.map((request) => request.messages)]) {
            checkRoles(messages);
            answered += checkCalls(messages);
          }
          history = run.messages;
          const request = { model: 'm', system: [], messages: history, tools: [], stream: false };
          for (const name of WIRE_NAMES) {
            const body = JSON.parse(JSON.stringify(wires[name].encodeRequest(request))) as JsonObject;
            expect(wires[name].decodeRequest(body).messages.length).toBeGreaterThan(0);
            if (name === 'anthropic') checkAnthropic(body);
          }
        }
      }),
      { numRuns: 100 },
    );
    expect([...ends.keys()].sort()).toEqual(['aborted', 'answered', 'done', 'failed', 'steps']);
    expect(answered).toBeGreaterThan(500);
  });
});
