import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { splice } from '../../src/wire/splice.ts';
import { findSystemText } from '../../src/wire/system-text.ts';
import { wires } from '../../src/wire/wires.ts';

const BODIES: Readonly<Record<WireName, readonly ((long: string, short: string) => object)[]>> = {
  'openai-chat': [
    (long, short) => ({
      model: 'm',
      messages: [
        { role: 'system', content: long },
        { role: 'developer', content: short },
        { role: 'user', content: `${long} and more` },
      ],
    }),
    (long, short) => ({
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: short },
            { type: 'text', text: long },
          ],
        },
        { role: 'user', content: 'hi' },
        { role: 'system', content: `${long} that is not leading` },
      ],
    }),
  ],
  'openai-responses': [
    (long, short) => ({ instructions: long, input: [{ role: 'developer', content: short }] }),
    (long, short) => ({
      instructions: short,
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: long }] },
        { role: 'user', content: `${long} and more` },
      ],
    }),
  ],
  anthropic: [
    (long, short) => ({ system: long, messages: [{ role: 'user', content: `${long}${short}` }] }),
    (long, short) => ({
      messages: [{ role: 'user', content: `${long}${short}` }],
      system: [
        { type: 'text', text: short, cache_control: { type: 'ephemeral' } },
        { type: 'text', text: long },
      ],
    }),
  ],
};

describe('the longest system text', () => {
  it('is found on every wire, in strings and in parts, and nothing else changes when it is replaced', () => {
    let checked = 0;
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
    for (const name of WIRE_NAMES) {
      for (const make of BODIES[name]) {
        fc.assert(
          fc.property(text, text, fc.integer({ min: 0, max: 2 }), (words, instead, indent) => {
            const short = 'Be brief.';
            const long = `${words.repeat(3)} ${'rule '.repeat(60)}`;
            const body = Buffer.from(JSON.stringify(make(long, short), null, indent));
            const outline = wires[name].outline(body);
            if (outline === undefined) throw new Error('no outline');
            const found = findSystemText(name, body, outline);
            const written = JSON.parse(Buffer.from(JSON.stringify(long)).toString()) as string;
            expect(found?.text).toBe(written);
            if (found === undefined) return;
            const edited = Buffer.concat(
              splice(body, {
                insertions: outline.place('A LESSON'),
                replacements: [{ span: found.span, text: JSON.stringify(instead).slice(1, -1) }],
              }),
            );
            const wanted = Buffer.from(JSON.stringify(make(instead, short), null, indent));
            const insertions = wires[name].outline(wanted)?.place('A LESSON') ?? [];
            expect(leadingOf(edited)).toEqual(leadingOf(Buffer.concat(splice(wanted, { insertions }))));
            checked++;
          }),
          { numRuns: 60 },
        );
      }
    }
    expect(checked).toBe(360);
  });

  it('is undefined when a conversation has no system text', () => {
    for (const name of WIRE_NAMES) {
      const body = Buffer.from(
        JSON.stringify({ messages: [{ role: 'user', content: 'x' }], input: 'hello' }),
      );
      const outline = wires[name].outline(body);
      expect(outline && findSystemText(name, body, outline)).toBeUndefined();
    }
  });
});

/** The part before the first user message; the rest repeats the long text and must not change. */
function leadingOf(body: Buffer): unknown {
  const { messages, input, ...rest } = JSON.parse(body.toString()) as Record<string, { role: string }[]>;
  const turns = messages ?? input ?? [];
  const user = turns.findIndex(({ role }) => role === 'user');
  return { ...rest, leading: turns.slice(0, user < 0 ? undefined : user) };
}
