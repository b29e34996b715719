import { describe, expect, it } from 'vitest';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { splitBody } from '../../src/wire/body-parts.ts';
import { readConversation } from '../../src/wire/conversation.ts';
import { messageChain } from '../../src/wire/message-chain.ts';
import { surveyBody } from '../../src/wire/survey-body.ts';
import { wires } from '../../src/wire/wires.ts';
import { countOf } from '../support/counts.ts';
import { createRandom, pick } from './random.ts';

const survey = (bytes: Buffer, mostTokens = 1e6) => {
  let rests = 0;
  let ticks = 0;
  const result = surveyBody(bytes, {
    mostTokens,
    // Every look at the clock is a slice of its own.
    monotonic: () => (ticks += 10),
    rest: async () => void rests++,
  });
  return { result, rests: () => rests };
};

const PIECES = ['a', 'word ', '\\"', '\\\\', '\\n', '\\u00e9', 'é', '{', '}', '[', ']', ',', ':'] as const;

/** JSON text with strings of all lengths, escapes and brackets in them, and white space between everything. */
function randomBody(wire: WireName, seed: number): string {
  const random = createRandom(seed);
  const space = () => pick(random, ['', '', ' ', '\n\t ']);
  const text = (most: number) => {
    let out = '';
    for (let n = Math.floor(random() ** 3 * most); n > 0; n--) out += pick(random, PIECES);
    return `"${out}"`;
  };
  const value = (depth: number): string => {
    const kind = depth > 4 ? 0 : Math.floor(random() * 5);
    if (kind === 3) return `[${space()}${list(depth + 1)}]`;
    if (kind === 4) return `{${text(4)}${space()}:${value(depth + 1)}${space()}}`;
    return kind === 1 ? pick(random, ['12', 'true', 'null', '-1.5e9']) : text(300);
  };
  const list = (depth: number): string =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => value(depth)).join(`,${space()}`);
  const content = () =>
    random() < 0.5
      ? text(400)
      : `[{"type":"text","text":${text(300)}${random() < 0.3 ? ',"cache_control":{"type":"x"}' : ''}},${value(3)}]`;
  const message = () =>
    `{${space()}"role":"${pick(random, ['system', 'user', 'assistant'])}",${space()}"content":${content()},"more":${value(1)}}`;
  const messages = Array.from({ length: 200 }, message).join(`,${space()}`);
  const key = wire === 'openai-responses' ? 'input' : 'messages';
  return `${space()}{"model":"m","system":${text(900)},"tools":[${list(0)}],"${key}":${space()}[${messages}],"pad":"${'p'.repeat(130_000)}"}`;
}

const walks = (wire: WireName, bytes: Buffer) => {
  const outline = wires[wire].outline(bytes);
  const conversation = readConversation(wire, bytes);
  const parts = splitBody(bytes);
  return {
    model: outline?.model,
    messages: outline?.messages,
    tools: outline?.member('tools'),
    system: outline?.member('system'),
    places: outline?.place('BLOCK'),
    chain: messageChain(bytes, 'seed'),
    links: conversation?.links,
    task: conversation?.task,
    rest: parts?.rest,
    lists: parts && [...parts.lists],
  };
};

describe('a survey of a body', () => {
  it.each(WIRE_NAMES)('%s: every walk finds the same with it and without it', async (wire) => {
    for (let seed = 1; seed <= countOf(12, 40); seed++) {
      const body = randomBody(wire, seed);
      const surveyed = Buffer.from(body);
      expect(() => JSON.parse(body)).not.toThrow();
      expect(await survey(surveyed).result).toBe('readable');
      expect(walks(wire, surveyed)).toEqual(walks(wire, Buffer.from(body)));
    }
  });

  it('is made in slices for a large body, also within one string, with the same result', async () => {
    const body = `{"model":"m","messages":[{"role":"user","content":"${'\\"line\\n'.repeat(400_000)}"}]}`;
    const surveyed = Buffer.from(body);
    const { result, rests } = survey(surveyed);
    expect(await result).toBe('readable');
    expect(rests()).toBeGreaterThan(5);
    expect(walks('openai-chat', surveyed)).toEqual(walks('openai-chat', Buffer.from(body)));
  });

  const pad = 'p'.repeat(140_000);
  it.each([
    ['a string that does not end', `{"a":"${pad}`],
    ['an escape at the very end', `{"a":"${pad}\\`],
    ['an object that does not end', `{"a":"${pad}"`],
    ['text behind the object', `{"a":"${pad}"} x`],
    ['a second object', `{"a":"${pad}"}{}`],
    ['an array', `["${pad}"]`],
    ['a byte order mark', `\ufeff{"a":"${pad}"}`],
  ])('says that %s is not one object', async (_name, body) => {
    expect(await survey(Buffer.from(body)).result).toBe('unreadable');
    expect(wires['openai-chat'].outline(Buffer.from(body))).toBeUndefined();
  });

  it('refuses more tokens than allowed, and no fewer', async () => {
    const body = Buffer.from(`{"pad":"${pad}","list":[${Array(1000).fill('1').join(',')}]}`);
    // Two containers, two names, one string, 1,000 commas.
    expect(await survey(body, 1005).result).toBe('readable');
    expect(await survey(Buffer.from(body), 1004).result).toBe('too-complex');
  });

  it('refuses nesting deeper than any request has, and not the depth of a large schema', async () => {
    const nested = (depth: number) =>
      Buffer.from(`{"pad":"${pad}","a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(await survey(nested(900)).result).toBe('readable');
    expect(await survey(nested(1100)).result).toBe('too-complex');
  });
});
