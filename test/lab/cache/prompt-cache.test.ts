import { describe, expect, it } from 'vitest';
import {
  clientUse,
  costInInput,
  createAnthropicCache,
  createOpenAiCache,
} from '../../../lab/measure/cache/prompt-cache.ts';

const long = (letter: string, tokens: number): string => letter.repeat(tokens * 4);
const marked = (text: string) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } });
const plain = (text: string) => ({ type: 'text', text });

describe('a provider that keeps what stands before a mark', () => {
  it('reads what it wrote, writes what came behind it, and keeps nothing below 1,024 tokens', () => {
    const count = createAnthropicCache();
    const system = [marked(long('s', 2000))];
    const first = count({ model: 'm', system, messages: [{ role: 'user', content: [marked('a')] }] });
    expect(first).toMatchObject({ read: 0, write: first.input });
    const more = { role: 'user', content: [plain('b'), marked(long('c', 100))] };
    const second = count({
      model: 'm',
      system,
      messages: [{ role: 'user', content: [plain('a')] }, { role: 'assistant', content: 'ok' }, more],
    });
    expect(second.read).toBe(first.input);
    expect(second.read + second.write).toBe(second.input);
    expect(count({ model: 'other', system: [marked('short')] })).toMatchObject({ read: 0, write: 0 });
  });

  it('loses everything behind a byte that has changed', () => {
    const count = createAnthropicCache();
    const ask = (system: string) =>
      count({ model: 'm', system: [marked(system)], messages: [{ role: 'user', content: [marked('a')] }] });
    ask(long('s', 2000));
    expect(ask(`${long('s', 2000)}!`)).toMatchObject({ read: 0 });
  });

  it('finds nothing that was kept more than twenty blocks before the mark', () => {
    const ask = (blocks: number): number => {
      const count = createAnthropicCache();
      count({ model: 'm', messages: [{ role: 'user', content: [marked(long('a', 2000))] }] });
      const rest = Array.from({ length: blocks }, (_, nth) => plain(String(nth)));
      const content = [plain(long('a', 2000)), ...rest, marked('end')];
      return count({ model: 'm', messages: [{ role: 'user', content }] }).read;
    };
    expect(ask(19)).toBeGreaterThan(2000);
    expect(ask(21)).toBe(0);
  });

  it('charges a tenth for reads, 1.25 for writes, and two for those kept for an hour', () => {
    expect(costInInput({ input: 1000, read: 500, write: 400, longWrite: 100 })).toBe(100 + 50 + 375 + 200);
  });
});

describe('a provider that keeps beginnings by itself', () => {
  it('reads in steps of 128 tokens from 1,024 on, for the same key', () => {
    const count = createOpenAiCache();
    const body = { model: 'm', prompt_cache_key: 'k', instructions: long('i', 1200), input: [{ a: 1 }] };
    expect(count(body).read).toBe(0);
    const { read } = count({ ...body, input: [{ a: 1 }, { b: 2 }] });
    expect(read % 128).toBe(0);
    expect(read).toBe(1152);
    expect(count({ ...body, prompt_cache_key: 'other' }).read).toBe(0);
    expect(count({ ...body, instructions: `!${body.instructions}` }).read).toBe(0);
  });
});

it('reads the numbers that clients print themselves', () => {
  const claude =
    '{"type":"result","usage":{"input_tokens":5,"cache_read_input_tokens":70,"cache_creation_input_tokens":25}}';
  expect(clientUse(`noise\n${claude}`)).toEqual({ input: 100, read: 70, write: 25 });
  const codex =
    '{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":64,"output_tokens":2}}';
  expect(clientUse(codex)).toEqual({ input: 100, read: 64, write: 0 });
  expect(clientUse('nothing')).toBeUndefined();
});
