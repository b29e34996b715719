import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitBody } from '../../src/wire/body-parts.ts';

const text = fc.constantFrom('', 'a', 'ß', '"', '\\', '[1,{"x":2}]', ']', '}', ',', 'long '.repeat(20));
const element = fc.oneof(
  text,
  fc.integer(),
  fc.record({ role: text, content: fc.oneof(text, fc.array(text, { maxLength: 2 })) }),
);
const list = fc.array(element, { maxLength: 5 });
const member = fc.tuple(
  fc.constantFrom('messages', 'input', 'system', 'tools', 'model', 'stream', 'metadata'),
  fc.oneof({ weight: 3, arbitrary: list as fc.Arbitrary<unknown> }, element),
);
const edit = fc.tuple(
  fc.nat(4),
  fc.oneof(list, fc.constant('gone' as const), { weight: 3, arbitrary: fc.constant('more' as const) }),
  element,
);
/** Members in their order, repeated keys included. */
const write = (members: readonly (readonly [string, unknown])[], gap: string): string =>
  `{${members.map(([key, value]) => `${gap}${JSON.stringify(key)}${gap}:${JSON.stringify(value)}${gap}`).join(',')}}`;

describe('a body that is split after another', () => {
  it('has the same parts as without the other, whatever the two have in common', () => {
    const counts = { cut: 0, refused: 0, shared: 0 };
    fc.assert(
      fc.property(
        fc.array(member, { maxLength: 5 }),
        fc.array(edit, { maxLength: 2 }),
        fc.constantFrom('', ' ', '\n\t'),
        fc.option(fc.nat(200), { freq: 3 }),
        (members, edits, gap, cutAt) => {
          const after = members.map(([key, value]): [string, unknown] => [key, value]);
          for (const [at, how, extra] of edits) {
            const found = after[at];
            if (found === undefined) after.push(['tools', [extra]]);
            else if (how === 'gone') after.splice(at, 1);
            else if (how === 'more') found[1] = Array.isArray(found[1]) ? [...found[1], extra] : extra;
            else found[1] = how;
          }
          const old = Buffer.from(write(members, gap));
          const whole = Buffer.from(write(after, gap));
          const body = cutAt === null ? whole : whole.subarray(0, cutAt);
          const before = splitBody(old);
          if (before === undefined) throw new Error('a whole body is always cut');
          const alone = splitBody(body);
          expect(splitBody(body, { bytes: old, parts: before })).toEqual(alone);
          counts[alone === undefined ? 'refused' : 'cut']++;
          if (old.length > 40 && body.subarray(0, 40).equals(old.subarray(0, 40))) counts.shared++;
          if (alone === undefined || alone.hasRepeats) return;
          const lists = [...alone.lists].map(([key, spans]) => [
            key,
            spans.map((span) => JSON.parse(body.toString('utf8', ...span)) as unknown),
          ]);
          expect({ ...JSON.parse(alone.rest), ...Object.fromEntries(lists) }).toEqual(
            JSON.parse(body.toString()),
          );
        },
      ),
      { numRuns: 2000 },
    );
    expect(Math.min(counts.cut, counts.refused)).toBeGreaterThan(200);
    expect(counts.shared).toBeGreaterThan(500);
  });
});
