import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageChain } from '../../src/wire/message-chain.ts';

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const text = fc.string({ minLength: 1, maxLength: 20 });
const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content: text });
const conversation = fc.array(message, { minLength: 2, maxLength: 12 });

describe('the message chain', () => {
  it('is extended when the conversation is, whatever else in the request changes', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), text, text, (messages, cut, system, other) => {
        const length = 1 + (cut % (messages.length - 1));
        const early = bytes({ system, model: 'a', messages: messages.slice(0, length) });
        const late = bytes({ messages, tools: [other], system: other, model: 'b' });
        const links = messageChain(early, 'seed');
        expect(links).toHaveLength(length);
        expect(messageChain(late, 'seed').slice(0, length)).toEqual(links);
      }),
    );
  });

  it('differs from the first changed message on', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, at) => {
        const changed = messages.map((one, n) =>
          n === at % messages.length ? { ...one, content: `${one.content}!` } : one,
        );
        const [a, b] = [
          messageChain(bytes({ messages }), 's'),
          messageChain(bytes({ messages: changed }), 's'),
        ];
        const first = at % messages.length;
        expect(a.slice(0, first)).toEqual(b.slice(0, first));
        expect(a.slice(first).every((link, n) => link !== b[first + n])).toBe(true);
      }),
    );
  });

  it('ignores a prompt-cache mark that moves along', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const part = (said: string, before = {}, after = {}) => ({
      ...before,
      type: 'text',
      text: said,
      ...after,
    });
    const user = (content: unknown[]) => ({ role: 'user', content });
    const plain = messageChain(bytes({ messages: [user([part('a'), part('b')]), user([part('c')])] }), 's');
    const variants = [
      [user([part('a'), part('b', {}, mark)]), user([part('c')])],
      [user([part('a'), part('b', mark)]), user([part('c', {}, mark)])],
      [{ ...user([part('a'), part('b')]), ...mark }, user([part('c')])],
    ];
    for (const messages of variants) expect(messageChain(bytes({ messages }), 's')).toEqual(plain);
  });

  it('leaves out system and developer messages, on both of OpenAI’s wires', () => {
    const chat = (system: string) =>
      bytes({
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: 'a' },
        ],
      });
    expect(messageChain(chat('it is Monday'), 's')).toEqual(messageChain(chat('it is Tuesday'), 's'));
    const item = { type: 'message', role: 'user', content: 'a' };
    const responses = (base: string) => bytes({ input: [{ role: 'developer', content: base }, item] });
    expect(messageChain(responses('x'), 's')).toEqual(messageChain(responses('y'), 's'));
    expect(messageChain(bytes({ input: 'just text' }), 's')).toHaveLength(1);
  });

  it('never throws on bytes that are not a request', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (junk) => Array.isArray(messageChain(junk, 's'))),
    );
    fc.assert(fc.property(fc.json(), (junk) => Array.isArray(messageChain(Buffer.from(junk), 's'))));
  });
});
