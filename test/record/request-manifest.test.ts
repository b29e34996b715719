import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '../../src/core/json.ts';
import { formatTurnBodyKey } from '../../src/core/store.ts';
import { createRequestEncoder, decodeStoredRequest } from '../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { runsOf } from '../support/counts.ts';
import { at, start } from './store/facts.ts';

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

function open() {
  const store = createMemoryStore();
  const keeper = createRequestEncoder((value) => JSON.stringify(value));
  let written = 0;
  let turns = 0;
  const keep = (session: string, body: JsonObject): string => {
    const turn = `t${++turns}`;
    const name = formatTurnBodyKey({ turn, part: 'request' });
    const blocks = keeper.keep(name, session, 'anthropic', bytes(body));
    if (blocks === undefined) throw new Error('not kept');
    written += blocks.reduce((sum, { text = '' }) => sum + text.length, 0);
    store.append({ facts: at(turns, start(turn, session)), blocks });
    return name;
  };
  const read = (name: string) => decodeStoredRequest(name, (part) => parseJson(store.block(part) ?? ''));
  return { store, keeper, keep, read, written: () => written };
}

const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.string() });

describe('a stored request', () => {
  it('reads back unchanged, whatever was stored before it', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            session: fc.constantFrom('s1', 's2'),
            messages: fc.array(message, { maxLength: 6 }),
            system: fc.oneof(fc.string(), fc.array(fc.record({ text: fc.string() }), { maxLength: 3 })),
            tools: fc.array(fc.record({ name: fc.string() }), { maxLength: 3 }),
            rest: fc.dictionary(
              fc.string().filter((key) => key !== 'cache_control'),
              fc.integer(),
            ),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        (requests) => {
          const { keep, read } = open();
          const all = requests.map(({ session, rest, ...lists }) => {
            const body = { ...rest, ...lists };
            return { body, hash: keep(session, body) };
          });
          for (const { body, hash } of all) expect(read(hash)).toEqual(JSON.parse(JSON.stringify(body)));
        },
      ),
      runsOf(70, 200),
    );
  });

  it('of a long conversation adds only its new messages (not the whole conversation)', () => {
    const { keep, read, written } = open();
    const tools = Array.from({ length: 20 }, (_, n) => ({
      name: `tool_${n}`,
      input_schema: { x: 'y'.repeat(2000) },
    }));
    const messages: JsonObject[] = [];
    let sent = 0;
    let last = '';
    for (let turn = 0; turn < 100; turn++) {
      messages.push({ role: 'user', content: `question ${turn} ${'q'.repeat(400)}` });
      const body = { model: 'm', system: 'be brief', tools, messages: [...messages] };
      sent += bytes(body).length;
      last = keep('s1', body);
      messages.push({ role: 'assistant', content: `answer ${turn} ${'a'.repeat(400)}` });
    }
    expect(read(last)).toMatchObject({ messages: messages.slice(0, -1) });
    const once = bytes({ tools, messages }).length;
    expect(sent).toBeGreaterThan(40 * once);
    expect(written()).toBeLessThan(1.6 * once);
  });

  it('stores a message with and without a cache mark once, and not the data of an image', () => {
    const { keep, read, written } = open();
    const part = { type: 'text', text: 'x'.repeat(1000) };
    const marked = { ...part, cache_control: { type: 'ephemeral' } };
    keep('s1', { messages: [{ role: 'user', content: [marked] }] });
    const first = written();
    const hash = keep('s1', { messages: [{ role: 'user', content: [part] }] });
    expect(written() - first).toBeLessThan(400);
    expect(read(hash)).toEqual({ messages: [{ role: 'user', content: [part] }] });
    const image = { type: 'image', source: { type: 'base64', data: 'A'.repeat(200_000) } };
    const before = written();
    keep('s1', { messages: [{ role: 'user', content: [image] }] });
    expect(written() - before).toBeLessThan(1000);
  });

  it('is written completely again after an erasure', () => {
    const { keep, read, keeper, store } = open();
    const body = { messages: [{ role: 'user', content: 'shared words' }] };
    keep('s1', body);
    store.append({ facts: [{ at: 1, fact: { type: 'session-end', session: 's1', reason: 'x' } }] });
    store.erase('s1', 2, 'test');
    keeper.forget();
    expect(read(keep('s2', body))).toEqual(body);
  });

  it('must be a JSON object', () => {
    const { keeper } = open();
    for (const junk of ['', '[]', 'null', '{"a":', '\u0000'])
      expect(keeper.keep('n', 's', 'w', Buffer.from(junk))).toBeUndefined();
  });
});
