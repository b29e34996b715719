import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { PolicyReply, PolicyTemplate } from '../../../src/core/training.ts';
import { dataOf } from '../../../train/datum.ts';
import { createChatTokens } from '../../../train/policy/chat-tokens.ts';
import type { RolloutSegment } from '../../../train/rollout.ts';
import { attempt } from '../attempts.ts';
import {
  asking,
  assistant,
  createTemplate,
  isStartOf,
  type ModelName,
  promptOf,
  result,
  sourcesOf,
  TOOL,
  user,
} from './models.ts';

const NAMES: readonly ModelName[] = ['qwen', 'llama', 'metaspace'];
const tokensOf = (name: ModelName) => {
  const { tokenizer, tokenizerConfig } = sourcesOf(name);
  return createChatTokens(tokenizer, tokenizerConfig);
};
const TOKENS = { qwen: tokensOf('qwen'), llama: tokensOf('llama'), metaspace: tokensOf('metaspace') };
const TEMPLATES = {
  qwen: createTemplate('qwen'),
  llama: createTemplate('llama'),
  metaspace: createTemplate('metaspace'),
};

const CALLS: Readonly<Record<ModelName, readonly string[]>> = {
  qwen: [
    '<think>\nI look.\n</think>\n\nLooking.\n<tool_call>\n{"name": "run_command", "arguments": {"command": "ls"}}\n</tool_call>',
    '<tool_call>{"name":"run_command","arguments":{"command":"a"}}</tool_call><tool_call>{"name":"run_command","arguments":{}}</tool_call>',
    '<tool_call>\n{"name": "run_command", "arguments": {"command": "l',
    '<think>\nwithout end',
  ],
  llama: [
    '<|python_tag|>{"name": "run_command", "parameters": {"command": "ls"}}',
    '{"name": "run_command", "parameters": {"command": "a"}}; {"name": "run_command", "parameters": {}}',
  ],
  metaspace: ['  two spaces'],
};

/** Ids of all kinds, in the vocabulary and beyond; words, calls; ended or cut off. */
const replyOf = (name: ModelName): fc.Arbitrary<readonly number[]> => {
  const { stop } = TEMPLATES[name];
  const any = fc.integer({ min: 0, max: 470 }).filter((id) => !stop.includes(id));
  const body = fc.oneof(
    fc.array(any, { maxLength: 12 }),
    fc.constantFrom('Done.', 'Größe 🙂', ...CALLS[name]).map((text) => [...TOKENS[name].encode(text)]),
  );
  return fc
    .tuple(body, fc.constantFrom<number | undefined>(...stop, undefined))
    .map(([ids, end]) => (end === undefined ? ids : [...ids, end]));
};
const words = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('Go on.', 'Und jetzt? 東京'));

interface Turn {
  readonly said: string;
  readonly ids: readonly number[];
}
interface Step {
  readonly request: ChatRequest;
  readonly prompt: readonly number[];
  readonly ids: readonly number[];
  readonly reply: PolicyReply;
}

const optionsOf = (name: ModelName): Partial<ChatRequest> => ({
  system: [{ type: 'text', text: 'Be brief.' }],
  tools: name === 'metaspace' ? [] : [TOOL],
});

/** Plays a conversation as a client would: what was said goes back as text, calls are answered. */
function play(name: ModelName, template: PolicyTemplate, turns: readonly Turn[]): readonly Step[] {
  const steps: Step[] = [];
  let messages: readonly ChatMessage[] = [];
  turns.forEach(({ said, ids }, turn) => {
    const calls = steps.at(-1)?.reply.calls ?? [];
    const next =
      calls.length > 0 ? calls.map((_, at) => result(`t${turn - 1}c${at}`, `out ${said}`)) : [user(said)];
    messages = [...messages, ...next];
    const request = asking(messages, optionsOf(name));
    const prompt = promptOf(template, request);
    const reply = template.read(ids, request);
    steps.push({ request, prompt, ids, reply });
    messages = [...messages, assistant(reply, turn)];
  });
  return steps;
}

describe.each(NAMES)('a conversation in the template of %s', (name) => {
  const turns = fc.array(fc.record({ said: words, ids: replyOf(name) }), { minLength: 2, maxLength: 5 });

  it('starts with exactly the ids prompted and sampled before, whatever was sampled', () => {
    let continued = 0;
    let retokenised = 0;
    fc.assert(
      fc.property(turns, (given) => {
        const steps = play(name, TEMPLATES[name], given);
        for (const [at, { prompt }] of steps.entries()) {
          const before = steps[at - 1];
          if (before === undefined) continue;
          expect(isStartOf([...before.prompt, ...before.ids], prompt)).toBe(true);
          // The reply's end comes once: sampled, or written by the template.
          const rest = prompt.slice(before.prompt.length + before.ids.length);
          expect(rest.length).toBeGreaterThan(2);
          continued++;
          const again = TOKENS[name].encode(TOKENS[name].decode(before.ids));
          retokenised += again.join() === before.ids.join() ? 0 : 1;
        }
      }),
      { numRuns: 60 },
    );
    expect(continued).toBeGreaterThan(60);
    // Their text would have come back as other tokens.
    expect(retokenised).toBeGreaterThan(20);
  });

  it('is rendered as it stands when its history was changed, without ids sampled for other text', () => {
    let changed = 0;
    fc.assert(
      fc.property(turns, fc.nat(), (given, seed) => {
        const template = TEMPLATES[name];
        const steps = play(name, template, given);
        const last = steps.at(-1);
        if (last === undefined) return;
        const at = seed % last.request.messages.length;
        const messages = last.request.messages.map((message, index): ChatMessage => {
          if (index !== at) return message;
          const extra = { type: 'text', text: ' and more' } as const;
          return { ...message, content: [...message.content, extra] } as ChatMessage;
        });
        const request = asking(messages, optionsOf(name));
        const prompt = promptOf(template, request);
        // Whatever was read after the change no longer counts; what was read before it still does.
        for (const { request: known, prompt: start, ids } of steps)
          if (known.messages.length > at) expect(isStartOf([...start, ...ids], prompt)).toBe(false);
          else if (known.messages.length < at) expect(isStartOf([...start, ...ids], prompt)).toBe(true);
        changed++;
        expect(template.read(last.ids, request)).toEqual(last.reply);
      }),
      { numRuns: 60 },
    );
    expect(changed).toBe(60);
  });

  it('decodes any ids without throwing, with or without a prompt', () => {
    const template = createTemplate(name);
    const request = asking([user('Hi')], optionsOf(name));
    let read = 0;
    const any = fc.oneof(
      fc.integer({ min: 0, max: 500 }),
      fc.integer(),
      fc.double(),
      fc.constantFrom(-1, Number.NaN, 2 ** 31, 2 ** 53),
    );
    fc.assert(
      fc.property(fc.array(any, { maxLength: 40 }), fc.boolean(), (ids, isAsked) => {
        const asked = isAsked ? request : { ...request };
        if (isAsked) template.render(asked);
        const { text, calls } = template.read(ids, asked);
        expect(typeof text).toBe('string');
        expect(calls.every((call) => call.name !== '')).toBe(true);
        read++;
      }),
      { numRuns: 300 },
    );
    expect(read).toBe(300);
  });

  it('does not let a message contain special tokens', () => {
    const { marks, encode, decode } = TOKENS[name];
    const template = createTemplate(name);
    const count = (text: string): number =>
      promptOf(template, asking([user(text)], optionsOf(name))).filter((id) =>
        [...marks.values()].includes(id),
      ).length;
    const usual = count('plain');
    const list = fc.array(fc.oneof(fc.constantFrom(...marks.keys()), fc.string({ maxLength: 5 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(list, (parts) => {
        expect(count(`a${parts.join('')}b`)).toBe(usual);
      }),
      { numRuns: 40 },
    );
    const [mark = ''] = marks.keys();
    expect(encode(mark)).toHaveLength(1);
    expect(encode(TOKENS[name].withoutMarks(mark)).length).toBeGreaterThan(1);
    if (name !== 'metaspace')
      expect(decode(encode(TOKENS[name].withoutMarks(`x ${mark} y`)))).toBe(`x ${mark} y`);
  });
});

describe('a chat template', () => {
  it('ends replies at the end-of-turn token and at every token of the generation config', () => {
    const { tokens, names } = {
      tokens: TOKENS.llama,
      names: ['<|end_of_text|>', '<|eom_id|>', '<|eot_id|>'],
    };
    expect([...TEMPLATES.llama.stop].sort()).toEqual(names.map((text) => tokens.marks.get(text)).sort());
    const { generation: _, ...sources } = sourcesOf('qwen');
    const bare = createTemplate('qwen', {
      ...sources,
      generation: {},
      tokenizerConfig: { ...sources.tokenizerConfig, eos_token: '<|endoftext|>' },
    });
    expect([...bare.stop]).toEqual(
      ['<|endoftext|>', '<|im_end|>'].map((text) => TOKENS.qwen.marks.get(text)),
    );
  });

  it('takes the longest reply from the generation config by default', () => {
    expect(TEMPLATES.qwen.longestReply).toBe(512);
    expect(TEMPLATES.metaspace.longestReply).toBe(4096);
    expect(createTemplate('qwen', { longestReply: 7 }).longestReply).toBe(7);
  });

  it('gives the trainer one datum for a conversation, and a second one when the client rewrote it', () => {
    const turns = [1, 2, 3].map((turn) => ({
      said: `Part ${turn}`,
      ids: [...TOKENS.qwen.encode('<think>\nso\n</think>\n\nDone.'), TEMPLATES.qwen.stop[0] ?? 0],
    }));
    const segmentsOf = (steps: readonly Pick<Step, 'prompt' | 'ids'>[]): readonly RolloutSegment[] =>
      steps.flatMap(({ prompt, ids }) => [
        { kind: 'prompt', ids: prompt, policy: 0, generation: 0 },
        { kind: 'reply', ids, logprobs: ids.map(() => -1), policy: 0, generation: 0, isBent: false },
      ]);
    const count = (steps: readonly Pick<Step, 'prompt' | 'ids'>[]): number =>
      dataOf({ rollout: attempt('a', { segments: segmentsOf(steps) }), advantage: 1, against: 'group' }, 4096)
        .data.length;
    const template = createTemplate('qwen');
    const steps = play('qwen', template, turns);
    expect(count(steps)).toBe(1);
    const [first, ...rest] = steps.at(-1)?.request.messages ?? [];
    expect(first?.role).toBe('user');
    const rewritten = asking([user('Another beginning'), ...rest], optionsOf('qwen'));
    expect(count([...steps, { prompt: promptOf(template, rewritten), ids: [5] }])).toBe(2);
  });

  it('keeps thoughts of earlier turns as they were sampled, which the template alone would drop', () => {
    const template = createTemplate('qwen');
    const ids = [...TOKENS.qwen.encode('<think>\na long thought\n</think>\n\nDone.'), template.stop[0] ?? 0];
    const [, second] = play('qwen', template, [
      { said: 'Go', ids },
      { said: 'And?', ids },
    ]);
    expect(TOKENS.qwen.decode(second?.prompt ?? [])).toContain('a long thought');
    const fresh = promptOf(createTemplate('qwen'), second?.request ?? asking([]));
    expect(TOKENS.qwen.decode(fresh)).not.toContain('a long thought');
  });

  it('evicts the oldest replies first, and then tokenizes them from their text', () => {
    const remembering = (memory: { replies?: number; tokens?: number }): boolean => {
      const template = createTemplate('qwen', { memory });
      const odd = [...'Done'].flatMap((letter) => [...TOKENS.qwen.encode(letter)]);
      const first = asking([user('first')]);
      const prompt = promptOf(template, first);
      const reply = template.read(odd, first);
      const other = asking([user('other')]);
      promptOf(template, other);
      template.read(odd, other);
      const next = asking([user('first'), assistant(reply), user('next')]);
      return isStartOf([...prompt, ...odd], promptOf(template, next));
    };
    expect(remembering({})).toBe(true);
    expect(remembering({ replies: 2 })).toBe(true);
    expect(remembering({ replies: 1 })).toBe(false);
    expect(remembering({ tokens: 30 })).toBe(false);
  });

  it('recognises a call that came back with other ids and other whitespace', () => {
    const template = createTemplate('qwen');
    const ids = TOKENS.qwen.encode(
      '<tool_call>{"name":"run_command","arguments":{"command":"ls"}}</tool_call>',
    );
    const request = asking([user('Go')], { tools: [TOOL] });
    const prompt = promptOf(template, request);
    expect(template.read(ids, request).calls).toEqual([
      { name: 'run_command', arguments: '{"command":"ls"}' },
    ]);
    const call = { type: 'tool-call', id: 'other', name: 'run_command' } as const;
    const next = (given: string): ChatRequest =>
      asking(
        [
          user('Go'),
          { role: 'assistant', content: [{ ...call, arguments: given }] },
          result('other', 'a.txt'),
        ],
        { tools: [TOOL] },
      );
    expect(isStartOf([...prompt, ...ids], promptOf(template, next('{ "command": "ls" }')))).toBe(true);
    expect(isStartOf([...prompt, ...ids], promptOf(template, next('{"command":"rm"}')))).toBe(false);
  });

  it('reads the reply after a thought that the template itself opened', () => {
    const sources = sourcesOf('qwen');
    const template = String(sources.tokenizerConfig.chat_template).replace(
      "'<think>\\n\\n</think>\\n\\n'",
      "'<think>\\n'",
    );
    const open = createTemplate('qwen', {
      tokenizerConfig: { ...sources.tokenizerConfig, chat_template: template },
      variables: { enable_thinking: false },
    });
    const request = asking([user('Go')]);
    expect(TOKENS.qwen.decode(promptOf(open, request)).endsWith('<think>\n')).toBe(true);
    const read = (text: string): string => open.read(TOKENS.qwen.encode(text), request).text;
    expect(read('hm\n</think>\n\nDone.')).toBe('Done.');
    expect(read('hm, cut off')).toBe('');
  });

  it('picks the template with tools by its name, and refuses tools that no template supports', () => {
    const sources = sourcesOf('qwen');
    const { chat_template: text = '', ...rest } = sources.tokenizerConfig;
    const plain = '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}';
    const configOf = (named: readonly JsonObject[]): JsonObject => ({ ...rest, chat_template: named });
    const both = configOf([
      { name: 'default', template: plain },
      { name: 'tool_use', template: text },
    ]);
    const request = asking([user('Hi')], { tools: [TOOL] });
    const template = createTemplate('qwen', { tokenizerConfig: both });
    expect(TOKENS.qwen.decode(promptOf(template, request))).toContain('# Tools');
    expect(TOKENS.qwen.decode(promptOf(template, asking([user('Hi')])))).not.toContain('assistant');
    const alone = createTemplate('qwen', {
      tokenizerConfig: configOf([{ name: 'default', template: plain }]),
    });
    expect(() => promptOf(alone, request)).toThrow(/does not support tools/);
    expect(promptOf(alone, { ...request, toolChoice: 'none' }).length).toBeGreaterThan(3);
  });

  it('names what is missing: a template, a stop token, a readable part', () => {
    const { tokenizer, tokenizerConfig } = sourcesOf('qwen');
    const { chat_template: _, ...noTemplate } = tokenizerConfig;
    expect(() => createTemplate('qwen', { tokenizerConfig: noTemplate })).toThrow(/chat_template\.jinja/);
    const noEnd = { chat_template: '{{ messages[0].content }}' };
    expect(() => createTemplate('qwen', { tokenizer, tokenizerConfig: noEnd, generation: {} })).toThrow(
      /eos_token/,
    );
    const broken = { ...tokenizerConfig, chat_template: '{% if %}' };
    expect(() => createTemplate('qwen', { tokenizerConfig: broken })).toThrow(/cannot be read/);
    expect(() => createTemplate('qwen', { tokenizer: {} })).toThrow(/tokenizer\.json cannot be used/);
    const image: ChatMessage = { role: 'user', content: [{ type: 'image', url: 'https://x.test/a.png' }] };
    expect(() => promptOf(TEMPLATES.qwen, asking([image]))).toThrow(/reads only text/);
    expect(() => promptOf(TEMPLATES.metaspace, asking([assistant({ text: 'I', calls: [] })]))).toThrow(
      /Roles must alternate/,
    );
  });
});
