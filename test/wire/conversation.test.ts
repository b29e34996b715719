import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { readConversation } from '../../src/wire/conversation.ts';
import { messageChain } from '../../src/wire/message-chain.ts';
import { splice } from '../../src/wire/splice.ts';
import {
  anyTree,
  arrayTree,
  type JsonMember,
  type JsonTree,
  objectTree,
  stringTree,
  text,
  writeJsonText,
} from './json-text.ts';
import { anthropicBody, chatBody, responsesBody } from './outline-bodies.ts';
import { createRandom } from './random.ts';

const LISTS = { 'openai-chat': 'messages', anthropic: 'messages', 'openai-responses': 'input' } as const;
const PARTS = { 'openai-chat': 'text', anthropic: 'text', 'openai-responses': 'input_text' } as const;
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const read = (wire: WireName, list: unknown, more: object = {}) =>
  readConversation(wire, bytes({ model: 'm', [LISTS[wire]]: list, ...more }));

/** The body with text added to the newest message. */
function addToNewest(wire: WireName, body: Buffer, added: string): Json | undefined {
  const conversation = readConversation(wire, body);
  const insertions = conversation?.placeAt(conversation.links.at(-1) ?? '', added);
  return insertions && JSON.parse(Buffer.concat(splice(body, { insertions })).toString());
}

const isLinked = (item: Json): item is JsonObject =>
  isObject(item) && item.role !== 'system' && item.role !== 'developer';

/** The expected user's message with text added, computed on parsed values; undefined when text cannot be added. */
function grown(wire: WireName, message: JsonObject, added: string): JsonObject | undefined {
  const isMessage = wire !== 'openai-responses' || !('type' in message) || message.type === 'message';
  if (message.role !== 'user' || !isMessage) return undefined;
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: `${content}\n\n${added}` };
  if (!Array.isArray(content)) return undefined;
  const only = content[0];
  const isPlain =
    content.length === 1 &&
    isObject(only) &&
    Object.keys(only).every((key) => key === 'type' || key === 'text' || key === 'cache_control') &&
    (only.type === 'text' || only.type === 'input_text') &&
    typeof only.text === 'string';
  if (isPlain) return { ...message, content: [{ ...only, text: `${only.text}\n\n${added}` }] };
  return { ...message, content: [...content, { type: PARTS[wire], text: added }] };
}

const said = fc.string({ minLength: 1, maxLength: 20 });
const plainMessages = fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content: said }), {
  minLength: 2,
  maxLength: 10,
});

describe('the links of a conversation', () => {
  it('equal those of the message chain on every wire', () => {
    fc.assert(
      fc.property(plainMessages, fc.constantFrom(...WIRE_NAMES), (messages, wire) => {
        const body = bytes({ model: 'm', [LISTS[wire]]: messages });
        expect(readConversation(wire, body)?.links).toEqual(messageChain(body, 'conversation'));
      }),
    );
  });

  it('stay the same when a cache mark moves along and a string becomes a list of one text', () => {
    const wire = 'anthropic';
    const plain = read(wire, [
      { role: 'user', content: 'a' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      },
    ])?.links;
    const mark = { cache_control: { type: 'ephemeral' } };
    const variants = [
      [
        [{ type: 'text', text: 'a', ...mark }],
        [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      ],
      [
        [{ ...mark, type: 'text', text: 'a' }],
        [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c', ...mark },
        ],
      ],
      [
        [{ text: 'a', type: 'text' }],
        [
          { type: 'text', ...mark, text: 'b' },
          { type: 'text', text: 'c' },
        ],
      ],
    ];
    for (const contents of variants)
      expect(
        read(
          wire,
          contents.map((content) => ({ role: 'user', content })),
        )?.links,
      ).toEqual(plain);
    const other = read(wire, [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
    expect(other?.links[0]).not.toBe(plain?.[0]);
  });

  it('leave out OpenClaw’s transient notes', () => {
    const now = (said: string) => ({
      role: 'user',
      content: [{ type: 'text', text: `<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n${said}` }],
    });
    const user = { role: 'user', content: 'tidy up' };
    const first = read('openai-chat', [user, now('nothing runs')]);
    expect(first).toMatchObject({ newestIsUser: true, task: 'tidy up' });
    const later = read('openai-chat', [user, { role: 'assistant', content: 'ok' }, user, now('one runs')]);
    expect(later?.links).toHaveLength(3);
    expect(later?.links[0]).toBe(first?.links[0]);
  });

  it('are empty when the provider stores the history (the request has only new messages)', () => {
    for (const more of [{ previous_response_id: 'resp_1' }, { conversation: { id: 'conv_1' } }]) {
      const conversation = read('openai-responses', [{ role: 'user', content: 'go on' }], more);
      expect(conversation).toMatchObject({ links: [], newestIsUser: false, task: 'go on' });
    }
    expect(read('openai-responses', 'go on', { previous_response_id: null })?.links).toHaveLength(1);
  });
});

describe('newestIsUser', () => {
  const calls = { role: 'assistant', content: null, tool_calls: [] };
  const cases: readonly [WireName, string, unknown, boolean][] = [
    ['openai-chat', 'a user', [{ role: 'user', content: 'a' }], true],
    ['openai-chat', 'a tool', [{ role: 'user', content: 'a' }, calls, { role: 'tool', content: 'b' }], false],
    ['openai-chat', 'nobody', [], false],
    ['openai-chat', 'a user without words', [{ role: 'user', content: null }], false],
    [
      'openai-chat',
      'a user, the system after it',
      [
        { role: 'user', content: 'a' },
        { role: 'system', content: 'b' },
      ],
      true,
    ],
    ['openai-responses', 'a user’s text', 'do it', true],
    ['openai-responses', 'a user', [{ type: 'message', role: 'user', content: 'a' }], true],
    ['openai-responses', 'a tool', [{ type: 'function_call_output', call_id: '1', output: 'x' }], false],
    ['openai-responses', 'not a message', [{ type: 'computer', role: 'user', content: 'a' }], false],
    [
      'anthropic',
      'a user with a tool’s result',
      [{ role: 'user', content: [{ type: 'tool_result' }] }],
      true,
    ],
    ['anthropic', 'an assistant', [{ role: 'assistant', content: 'a' }], false],
  ];
  it.each(cases)('%s: %s', (wire, _, list, isUser) => {
    expect(read(wire, list)?.newestIsUser).toBe(isUser);
  });
});

describe('text that is added to a message', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const cases: readonly [string, WireName, unknown, unknown][] = [
    ['the end of a string', 'openai-chat', 'a', 'a\n\nNEW'],
    [
      'the end of the only text',
      'openai-chat',
      [{ type: 'text', text: 'a' }],
      [{ type: 'text', text: 'a\n\nNEW' }],
    ],
    [
      'the end of the only text, whose mark stays the only one',
      'anthropic',
      [{ type: 'text', text: 'a', ...mark }],
      [{ type: 'text', text: 'a\n\nNEW', ...mark }],
    ],
    [
      'a part of its own after several',
      'openai-responses',
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'b' },
      ],
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'b' },
        { type: 'input_text', text: 'NEW' },
      ],
    ],
    [
      'a block after a tool’s result (not before), without a mark',
      'anthropic',
      [{ type: 'tool_result', tool_use_id: 't', content: 'x', ...mark }],
      [
        { type: 'tool_result', tool_use_id: 't', content: 'x', ...mark },
        { type: 'text', text: 'NEW' },
      ],
    ],
    ['the only element of an empty list', 'openai-chat', [], [{ type: 'text', text: 'NEW' }]],
  ];
  it.each(cases)('goes to %s', (_, wire, content, expected) => {
    const body = bytes({ [LISTS[wire]]: [{ role: 'user', content }] });
    expect(addToNewest(wire, body, 'NEW')).toEqual({ [LISTS[wire]]: [{ role: 'user', content: expected }] });
  });

  it('goes to the end of an input that is plain text', () => {
    expect(addToNewest('openai-responses', bytes({ input: 'a' }), 'NEW')).toEqual({ input: 'a\n\nNEW' });
  });

  it('is refused for a message that is missing or not a user’s', () => {
    const conversation = read('openai-chat', [{ role: 'assistant', content: 'a' }]);
    expect(conversation?.placeAt(conversation.links[0] ?? '', 'NEW')).toBeUndefined();
    expect(conversation?.placeAt('elsewhere', 'NEW')).toBeUndefined();
  });

  const member = (key: string, value: fc.Arbitrary<JsonTree>): fc.Arbitrary<JsonMember> =>
    value.map((tree): JsonMember => [key, tree]);
  const word = (...words: readonly string[]) => stringTree(fc.constantFrom(...words));
  const part = objectTree([
    member('type', word('text', 'text', 'input_text', 'tool_result')),
    member('text', stringTree(text)),
    member('cache_control', fc.constant<JsonTree>({ object: [['type', { string: 'ephemeral' }]] })),
  ]);
  const content = fc.oneof(stringTree(text), arrayTree(part, 3), arrayTree(part, 1), anyTree);
  const message = objectTree([
    member('role', word('user', 'user', 'user', 'assistant', 'system')),
    member('content', content),
    member('type', word('message', 'message', 'other')),
  ]);
  const mostlyUsers = (list: string) => objectTree([member(list, arrayTree(message, 6))]);
  const bodies: readonly [WireName, fc.Arbitrary<JsonTree>][] = [
    ['openai-chat', fc.oneof(chatBody, mostlyUsers('messages'))],
    ['openai-responses', fc.oneof(responsesBody, mostlyUsers('input'))],
    ['anthropic', fc.oneof(anthropicBody, mostlyUsers('messages'))],
  ];
  it.each(bodies)('%s: changes only that message, by insertions', (wire, arbitrary) => {
    let places = 0;
    fc.assert(
      fc.property(arbitrary, fc.nat(), text, (tree, seed, added) => {
        const body = Buffer.from(writeJsonText(tree, createRandom(seed)));
        const parsed = JSON.parse(body.toString()) as JsonObject;
        const conversation = readConversation(wire, body);
        expect(conversation).toBeDefined();
        const list = parsed[LISTS[wire]];
        if (!Array.isArray(list) || !conversation || conversation.links.length === 0) return;
        const linked = list.filter(isLinked);
        expect(conversation.links).toHaveLength(linked.length);
        for (const [n, link] of conversation.links.entries()) {
          const message = linked[n] ?? {};
          const insertions = conversation.placeAt(link, added);
          const expected = grown(wire, message, added);
          expect(insertions === undefined).toBe(expected === undefined);
          if (insertions === undefined) continue;
          places++;
          const [{ at, text: put } = { at: 0, text: '' }] = insertions;
          const out = Buffer.concat(splice(body, { insertions }));
          const length = Buffer.byteLength(put);
          expect(Buffer.concat([out.subarray(0, at), out.subarray(at + length)]).equals(body)).toBe(true);
          const after = {
            ...parsed,
            [LISTS[wire]]: list.map((item) => (item === message ? expected : item)),
          };
          expect(JSON.parse(out.toString())).toEqual(after);
        }
      }),
      { numRuns: 500 },
    );
    expect(places).toBeGreaterThan(100);
  });
});

describe('the task', () => {
  const task = (wire: WireName, list: unknown) => read(wire, list)?.task;
  const result = { type: 'tool_result', tool_use_id: 't', content: 'much output' };
  const reminder = { type: 'text', text: '<system-reminder>\nbe brief\n</system-reminder>\n' };

  it('is the newest text of a user, its parts joined, without images and tool results', () => {
    const content = [
      result,
      { type: 'text', text: 'fix' },
      { type: 'image', source: {} },
      { type: 'text', text: 'it' },
    ];
    expect(
      task('anthropic', [
        { role: 'user', content: 'old' },
        { role: 'user', content },
      ]),
    ).toBe('fix\nit');
    expect(task('openai-responses', 'say \\"hi\\" \u00e9 \n')).toBe('say \\"hi\\" \u00e9');
    expect(task('openai-chat', [{ role: 'system', content: 'x' }])).toBe('');
  });

  it('is an earlier text when the newest message has only tool results and harness text', () => {
    const list = [
      { role: 'user', content: [reminder, { type: 'text', text: 'rename it' }] },
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: [result, reminder] },
    ];
    expect(task('anthropic', list)).toBe('rename it');
  });

  it('keeps both ends of a long text, wherever escapes and characters are split', () => {
    fc.assert(
      fc.property(fc.constantFrom('\n', '\\', '"', '😀', '\u0001', 'é', 'a'), fc.nat(12), (filler, shift) => {
        const long = `${'s'.repeat(shift)}START${filler.repeat(60_000)}END`;
        const found = task('openai-chat', [{ role: 'user', content: long }]) ?? '';
        expect(found.length).toBeLessThanOrEqual(8003);
        expect(found.trimStart().startsWith(`${'s'.repeat(shift)}START`)).toBe(true);
        expect(found.endsWith('END')).toBe(true);
        expect(Buffer.from(found).toString()).toBe(found);
      }),
      { numRuns: 40 },
    );
  });
});

describe('what the client’s own prompt says', () => {
  const RULE = 'Always answer in\n  British English.';
  const user = (content: unknown) => ({ role: 'user', content });
  const system = (wire: WireName, content: unknown) =>
    wire === 'openai-chat'
      ? read(wire, [{ role: 'system', content }, user('hi')])
      : read(wire, [user('hi')], { [wire === 'anthropic' ? 'system' : 'instructions']: content });

  it.each(WIRE_NAMES)(
    'is read from its system text and its first message, whatever the white space: %s',
    (wire) => {
      const parts = [{ type: PARTS[wire], text: `# Memory\n${RULE}` }];
      for (const content of wire === 'openai-responses' ? [RULE] : [RULE, parts])
        expect(system(wire, content)?.instructs('answer in British English')).toBe(true);
      expect(read(wire, [user(parts)])?.instructs('answer in British English')).toBe(true);
      expect(system(wire, 'Be brief.')?.instructs('answer in British English')).toBe(false);
    },
  );

  it('is not what is said later', () => {
    const list = [user('hi'), { role: 'assistant', content: 'Yes?' }, user(RULE)];
    expect(read('openai-chat', list)?.instructs('answer in British English')).toBe(false);
  });
});

describe('a body that is not a request', () => {
  it('has no conversation (and nothing is thrown)', () => {
    const anyWire = fc.constantFrom(...WIRE_NAMES);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), anyWire, (junk, wire) => {
        void readConversation(wire, junk)?.task;
      }),
    );
    fc.assert(
      fc.property(chatBody, fc.nat(), fc.nat(), anyWire, (tree, seed, cut, wire) => {
        const body = Buffer.from(writeJsonText(tree, createRandom(seed)).trim());
        const short = body.subarray(0, cut % body.length);
        expect(readConversation(wire, short)).toBeUndefined();
      }),
    );
  });
});
