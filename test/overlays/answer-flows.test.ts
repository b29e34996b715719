import { describe, expect, it } from 'vitest';
import type { ActiveOverlay, FlowOverlay } from '../../src/core/overlay.ts';
import { hasToolSucceeded } from '../../src/evidence/tools/tool-outcome.ts';
import { type AnswerFlows, createAnswerFlows } from '../../src/overlays/answer-flows.ts';
import { wires } from '../../src/wire/wires.ts';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const wire = wires.anthropic;
const open = (isOn = true): AnswerFlows =>
  createAnswerFlows({ isOn: () => isOn, hasSucceeded: hasToolSucceeded, log });

const flow = (name: string, last: string): ActiveOverlay<FlowOverlay> => ({
  lesson: name,
  name,
  revision: 1,
  state: 'live',
  isApproved: true,
  payload: {
    type: 'flow_offload',
    parameters: [],
    steps: ['a', 'b', last].map((tool) => ({ tool, arguments: { of: { value: tool } } })),
  },
});
const use = (tool: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: `toolu_${tool}`, name: tool, input: { of: tool } }],
});
const result = (tool: string, content: unknown = 'fine') => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: `toolu_${tool}`, content }],
});
const USUAL = [{ role: 'user', content: 'go' }, use('a'), result('a'), use('b'), result('b')];
const turnOf = (more: object = {}, session = 's') => {
  const body = Buffer.from(
    JSON.stringify({
      model: 'm',
      max_tokens: 9,
      messages: USUAL,
      tools: ['a', 'b', 'c', 'd'].map((name) => ({ name, input_schema: { type: 'object' } })),
      ...more,
    }),
  );
  return { session: { session }, wire, body, outline: wire.outline(body) };
};

describe('the next call of a flow', () => {
  it('is given to a conversation that is in it', () => {
    expect(open()(turnOf(), [flow('one', 'c')])).toEqual({
      flow: 'one',
      step: 3,
      of: 3,
      tool: 'c',
      arguments: { of: 'c' },
    });
    expect(open(false)(turnOf(), [flow('one', 'c')])).toBeUndefined();
  });

  it('is the same for a request that is repeated', () => {
    const answer = open();
    expect(answer(turnOf(), [flow('one', 'c')])).toEqual(answer(turnOf(), [flow('one', 'c')]));
  });

  it('is given when two flows agree, and not when they go on differently', () => {
    expect(open()(turnOf(), [flow('one', 'c'), flow('two', 'c')])?.tool).toBe('c');
    expect(open()(turnOf(), [flow('one', 'c'), flow('two', 'd')])).toBeUndefined();
  });

  it.each([
    [
      'the model thinks before its calls: its thoughts must be sent again',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    ['no tool may be called', { tool_choice: { type: 'none' } }],
    ['another tool must be called', { tool_choice: { type: 'tool', name: 'd' } }],
    ['a call has no result', { messages: [...USUAL, use('c')] }],
    [
      'a result is a picture',
      {
        messages: [
          ...USUAL.slice(0, -1),
          result('b', [{ type: 'image', source: { type: 'url', url: 'https://x.example/i.png' } }]),
        ],
      },
    ],
    [
      'a client put a note beside the result',
      { messages: [...USUAL, { role: 'user', content: '<system-reminder>look</system-reminder>' }] },
    ],
    [
      'the messages cannot be read',
      { messages: [...USUAL.slice(0, -1), { role: 'user', content: [{ type: 'tool_result' }] }] },
    ],
  ])('is not given when %s', (_, more) => {
    expect(open()(turnOf(more), [flow('one', 'c')])).toBeUndefined();
  });

  it('is given after calls that were made at once, with their results in one message', () => {
    const at = (tool: string) => result(tool).content[0];
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [...use('a').content, ...use('b').content] },
      { role: 'user', content: [at('a'), at('b')] },
    ];
    expect(open()(turnOf({ messages }), [flow('one', 'c')])?.tool).toBe('c');
  });

  it('is given over the wire whose results are messages of their own, also after many at once', () => {
    const names = ['z', 'y', 'x', 'a', 'b'];
    const tool_calls = names.map((name) => ({
      id: name,
      type: 'function',
      function: { name, arguments: JSON.stringify({ of: name }) },
    }));
    const results = names.map((name) => ({ role: 'tool', tool_call_id: name, content: 'fine' }));
    const body = Buffer.from(
      JSON.stringify({
        model: 'm',
        tools: [{ type: 'function', function: { name: 'c', parameters: { type: 'object' } } }],
        messages: [
          { role: 'user', content: 'go' },
          { role: 'assistant', content: null, tool_calls },
          ...results,
        ],
      }),
    );
    const chat = wires['openai-chat'];
    const turn = { session: { session: 's' }, wire: chat, body, outline: chat.outline(body) };
    expect(open()(turn, [flow('one', 'c')])?.tool).toBe('c');
  });

  it('is given where thinking is disabled', () => {
    expect(open()(turnOf({ thinking: { type: 'disabled' } }), [flow('one', 'c')])?.tool).toBe('c');
  });
});
