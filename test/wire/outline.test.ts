import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, parseJson } from '../../src/core/json.ts';
import type { Insertion, Outline } from '../../src/core/wire.ts';
import { outlineAnthropic } from '../../src/wire/anthropic/anthropic.ts';
import { outlineChat } from '../../src/wire/openai-chat/openai-chat.ts';
import { outlineResponses } from '../../src/wire/openai-responses/openai-responses.ts';
import { splice } from '../../src/wire/splice.ts';
import { runsOf } from '../support/counts.ts';
import { type JsonTree, text, writeJsonText } from './json-text.ts';
import { anthropicBody, chatBody, responsesBody } from './outline-bodies.ts';
import { expectAnthropic, expectChat, expectResponses, type Oracle } from './outline-oracle.ts';
import { createRandom } from './random.ts';

const RUNS = runsOf(300, 1_000);
const MARK = 'lesson-0c1f7';

/** Removes the inserted bytes again, independent of the code that inserted them. */
function takeOut(outgoing: Buffer, insertions: readonly Insertion[]): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  let shift = 0;
  for (const { at, text } of [...insertions].sort((a, b) => a.at - b.at)) {
    const start = at + shift;
    kept.push(outgoing.subarray(from, start));
    from = start + Buffer.byteLength(text);
    shift += Buffer.byteLength(text);
  }
  return Buffer.concat([...kept, outgoing.subarray(from)]);
}

interface Case {
  readonly outline: (body: Uint8Array) => Outline | undefined;
  readonly body: fc.Arbitrary<JsonTree>;
  readonly oracle: Oracle;
  readonly branches: readonly string[];
}

const LIST = ['nowhere', 'empty list', 'before first', 'string', 'empty parts', 'parts', 'no text'];
const CASES: Readonly<Record<string, Case>> = {
  'openai-chat': { outline: outlineChat, body: chatBody, oracle: expectChat, branches: LIST },
  'openai-responses': {
    outline: outlineResponses,
    body: responsesBody,
    oracle: expectResponses,
    branches: [...LIST, 'instructions', 'text'],
  },
  anthropic: {
    outline: outlineAnthropic,
    body: anthropicBody,
    oracle: expectAnthropic,
    branches: ['nowhere', 'absent', 'empty object', 'string', 'empty parts', 'parts'],
  },
};

/** Checks every promise of an outline for one body, valid JSON or not; returns the rule that placed the block. */
function checkBody({ outline, oracle }: Case, incoming: Buffer, block: string): string {
  const found = outline(incoming);
  const parsed = parseJson(incoming.toString());
  if (!isObject(parsed)) {
    found?.place(block);
    return 'not an object';
  }
  assert(found, 'a JSON object has an outline');
  assert.equal(found.model, typeof parsed.model === 'string' ? parsed.model : undefined);
  assert.equal(found.stream, parsed.stream === true);
  assert.equal(found.modelSpan === undefined, found.model === undefined);
  if (found.modelSpan) {
    assert.equal(parseJson(incoming.toString('utf8', ...found.modelSpan)), found.model);
  }

  assert.deepEqual(found.place(''), []);
  const insertions = found.place(block);
  const outgoing = Buffer.concat(splice(incoming, { insertions }));
  assert(takeOut(outgoing, insertions).equals(incoming), 'only insertions');

  const expected = oracle(parsed, block);
  const changed = parseJson(outgoing.toString());
  assert(isDeepStrictEqual(changed, expected.body), `${expected.branch}: ${outgoing}`);
  assert.equal(insertions.length === 0, expected.branch === 'nowhere');
  if (insertions.length > 0) assert.equal(outgoing.toString().split(MARK).length, 2, 'exactly once');
  return expected.branch;
}

const blockText = fc.tuple(text, text).map(([before, after]) => `${before}${MARK}${after}`);

describe.each(Object.entries(CASES))('the outline of %s', (_name, wire) => {
  it('only inserts bytes, for any JSON text, and places the block by the rules', () => {
    const counts = new Map<string, number>();
    fc.assert(
      fc.property(wire.body, fc.nat(), blockText, (tree, seed, block) => {
        const incoming = Buffer.from(writeJsonText(tree, createRandom(seed)));
        const branch = checkBody(wire, incoming, block);
        counts.set(branch, (counts.get(branch) ?? 0) + 1);
      }),
      RUNS,
    );
    for (const branch of wire.branches) expect(counts.get(branch) ?? 0, branch).toBeGreaterThan(0);
    expect(counts.get('not an object') ?? 0).toBe(0);
  });

  it('never throws on a damaged body, and never corrupts one that still parses', () => {
    let stillJson = 0;
    let notJson = 0;
    fc.assert(
      fc.property(wire.body, fc.nat(), blockText, (tree, seed, block) => {
        const random = createRandom(seed);
        const whole = Buffer.from(writeJsonText(tree, random));
        for (let i = 0; i < 4; i++) {
          const branch = checkBody(wire, damage(whole, random), block);
          if (branch === 'not an object') notJson++;
          else stillJson++;
        }
      }),
      RUNS,
    );
    expect(stillJson).toBeGreaterThan(100);
    expect(notJson).toBeGreaterThan(100);
  });

  it('reads a plain Uint8Array that starts in the middle of its memory', () => {
    const body = Buffer.from(`{"model":"m","stream":true,"messages":[],"input":[]}`);
    const memory = new Uint8Array(body.length + 7);
    memory.set(body, 5);
    const found = wire.outline(memory.subarray(5, 5 + body.length));
    expect(found).toMatchObject({ model: 'm', modelSpan: [9, 12], stream: true });
    expect(found?.place('x')).toHaveLength(1);
  });

  it.each([
    ['a byte order mark', '\ufeff{"model":"m"}'],
    ['trailing text', '{"model":"m"} x'],
    ['a second object', '{"model":"m"}{}'],
    ['an array', '[{"model":"m"}]'],
    ['a string', '"model"'],
    ['nothing', ''],
    ['white space', ' \n'],
    ['a cut string', '{"model":"m'],
    ['a string cut after a backslash', '{"model":"m\\'],
    ['a cut object', '{"model":"m"'],
    ['a cut key', '{"model'],
    ['no colon', '{"model" "m"}'],
    ['no value', '{"model":}'],
    ['a comma too many', '{"model":"m",}'],
    ['a comma too few', '{"model":"m" "stream":true}'],
    ['a cut array', '{"messages":[{"role":"system"}'],
  ])('is undefined for %s', (_what, body) => {
    expect(wire.outline(Buffer.from(body))).toBeUndefined();
  });

  it('walks 10,000 levels and a list of 200,000 items without a deep stack', () => {
    const deep = `${'[{"a":'.repeat(5_000)}0${'}]'.repeat(5_000)}`;
    const long = `[${'{"role":"user","content":"\\\\"},'.repeat(199_999)}null]`;
    const extra = `"tools":${deep},"model":"m","messages":${long},"input":${long},"x":${deep}`;
    const incoming = Buffer.from(`{${extra},"stream":true}`);
    const found = wire.outline(incoming);
    expect(found).toMatchObject({ model: 'm', stream: true });
    const insertions = found?.place(MARK) ?? [];
    const outgoing = Buffer.concat(splice(incoming, { insertions }));
    expect(insertions).toHaveLength(1);
    expect(takeOut(outgoing, insertions).equals(incoming)).toBe(true);
    expect(isObject(parseJson(outgoing.toString()))).toBe(true);
  });
});

function damage(whole: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * whole.length);
  const head = whole.subarray(0, at);
  const kind = random();
  if (kind < 0.2) return head;
  if (kind < 0.4) return Buffer.concat([head, whole.subarray(at + 1)]);
  const structural = Buffer.from('"\\{}[],: 0tn');
  const isRandomByte = random() < 0.5;
  const byte = isRandomByte
    ? Math.floor(random() * 256)
    : structural[Math.floor(random() * structural.length)];
  return Buffer.concat([head, Buffer.of(byte ?? 0), whole.subarray(kind < 0.7 ? at : at + 1)]);
}

describe('the placement of a block', () => {
  const place = (outline: Case['outline'], body: string, block = 'B'): string => {
    const insertions = outline(Buffer.from(body))?.place(block) ?? [];
    return Buffer.concat(splice(Buffer.from(body), { insertions })).toString();
  };

  it('is before the closing quote, after any number of backslashes', () => {
    for (const tail of ['\\\\', '\\\\\\\\', '\\\\\\"', '\\"', '\\"\\\\']) {
      expect(place(outlineAnthropic, `{"system":"${tail}"}`)).toBe(`{"system":"${tail}\\n\\nB"}`);
    }
  });

  it('recognises an escaped key, and uses the last of two', () => {
    expect(place(outlineChat, '{"\\u006dessages":[]}')).toBe(
      '{"\\u006dessages":[{"role":"system","content":"B"}]}',
    );
    expect(place(outlineAnthropic, '{"system":"a","system":[ ]}')).toBe(
      '{"system":"a","system":[ {"type":"text","text":"B"}]}',
    );
    expect(outlineChat(Buffer.from('{"model":"a","model":1}'))?.model).toBeUndefined();
  });

  it('uses the last leading message even when its role follows its content', () => {
    expect(
      place(
        outlineChat,
        '{"messages":[{"role":"system","content":"a"},{"content":"b","role":"developer"},{"role":"user"}]}',
      ),
    ).toBe(
      '{"messages":[{"role":"system","content":"a"},{"content":"b\\n\\nB","role":"developer"},{"role":"user"}]}',
    );
  });

  it('adds a part without a cache mark after one with a mark', () => {
    expect(
      place(outlineAnthropic, '{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}'),
    ).toBe(
      '{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B"}]}',
    );
  });

  it('ignores a function call with a system role', () => {
    expect(
      place(outlineResponses, '{"input":[{"type":"function_call","role":"system","content":"a"}]}'),
    ).toBe(
      '{"input":[{"type":"message","role":"developer","content":"B"},{"type":"function_call","role":"system","content":"a"}]}',
    );
  });

  it('is after Codex’s list of additional tools (not before it, where it would change the cached prefix)', () => {
    const tools = '{"type":"additional_tools","role":"developer","tools":[]}';
    expect(
      place(outlineResponses, `{"input":[${tools},{"type":"message","role":"developer","content":"a"}]}`),
    ).toBe(`{"input":[${tools},{"type":"message","role":"developer","content":"a\\n\\nB"}]}`);
    expect(place(outlineResponses, `{"input":[${tools},{"role":"user","content":"a"}]}`)).toBe(
      `{"input":[${tools},{"type":"message","role":"developer","content":"B"},{"role":"user","content":"a"}]}`,
    );
  });
});
