import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';
import {
  createFreeformReader,
  findFreeformText,
  freeformArguments,
  joinQualifiedName,
  splitQualifiedName,
} from '../../../src/wire/openai-responses/tools.ts';
import { runsOf } from '../../support/counts.ts';
import { joined } from '../arbitraries.ts';
import { readStream, writeStream } from '../wire-contract.ts';
import { completed, created, decodeEvents, outputOf, parseEvents } from './events.ts';

const PATCH = '*** Begin Patch\n*** Update File: a "b".ts\n@@\n-\tö\\n\n+👩‍🚀\n*** End Patch\n';

function callEvents(name: string, args: string, cuts: readonly number[]): ChatEvent[] {
  const at = [...new Set(cuts.map((cut) => cut % (args.length + 1)))].sort((a, b) => a - b);
  const pieces = [0, ...at].map((from, n) => args.slice(from, at[n]));
  return [
    { type: 'reply-start', id: 'r1', model: 'm' },
    { type: 'tool-start', id: 'c1', name },
    ...pieces.map((json): ChatEvent => ({ type: 'tool-delta', id: 'c1', json })),
    { type: 'reply-end', stop: 'tool-calls' },
  ];
}

describe('an encoded call for Codex', () => {
  it('is a custom_tool_call with the plain text, wherever the arguments are split', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom(freeformArguments, (input: string) =>
          JSON.stringify({ freeform_input: input }, null, 2),
        ),
        fc.array(fc.nat()),
        (input, write, cuts) => {
          const events = parseEvents(writeStream(wire, callEvents('exec', write(input), cuts)));
          const types = events.map((event) => event.type);
          expect(types.some((type) => String(type).includes('function_call'))).toBe(false);
          const deltas = events.flatMap(({ type, delta }) =>
            String(type).endsWith('input.delta') ? String(delta) : [],
          );
          expect(deltas.join('')).toBe(input);
          expect(events.at(-3)).toMatchObject({ type: 'response.custom_tool_call_input.done', input });
          expect(events.at(-2)).toMatchObject({
            item: { type: 'custom_tool_call', call_id: 'c1', name: 'exec', input },
          });
        },
      ),
      runsOf(100, 300),
    );
  });

  it('streams the text as it arrives (not all at its end)', () => {
    const events = parseEvents(writeStream(wire, callEvents('exec', freeformArguments(PATCH), [30, 60, 80])));
    const deltas = events.filter((event) => event.type === 'response.custom_tool_call_input.delta');
    expect(deltas.length).toBe(4);
  });

  it('is a function_call for any other arguments, unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), fc.array(fc.nat()), (args, cuts) => {
        fc.pre(args.trim() !== '' && typeof findFreeformText(args) !== 'number');
        const events = parseEvents(writeStream(wire, callEvents('f', args, cuts)));
        expect(outputOf(events)).toMatchObject([{ type: 'function_call', arguments: args }]);
      }),
      runsOf(100, 300),
    );
  });

  it('has the namespace the client gave the tool', () => {
    const events = parseEvents(writeStream(wire, callEvents('sleep__in__clock', '{}', [])));
    expect(events.at(-2)).toMatchObject({
      item: { type: 'function_call', name: 'sleep', namespace: 'clock' },
    });
    expect(events.at(-3)).toMatchObject({ type: 'response.function_call_arguments.done', name: 'sleep' });
  });

  it('keeps a freeform text that is truncated or not valid JSON', () => {
    const read = (...pieces: string[]) => {
      const reader = createFreeformReader();
      return pieces.map((piece) => reader.read(piece)).join('');
    };
    expect(read('a\\', 'nb', '\\u00', 'e9', '\\ud83d', '\\ude00', '"} "x"')).toBe('a\nbé😀');
    expect(read('raw\nline \\q \\uZZ', ' \\')).toBe('raw\nline q uZZ ');
  });
});

describe('a qualified name', () => {
  it('is split as it was joined, and a plain name is not split', () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/).filter((value) => !value.includes('__in__'));
    fc.assert(
      fc.property(word, word, (name, namespace) => {
        fc.pre(
          namespace !== 'functions' && !`${name}__in__${namespace}`.slice(name.length + 1).includes('__in__'),
        );
        expect(splitQualifiedName(joinQualifiedName({ name, namespace }))).toEqual({ name, namespace });
        expect(splitQualifiedName(joinQualifiedName({ name }))).toEqual({ name });
      }),
    );
    expect(splitQualifiedName(joinQualifiedName({ name: 'a__in__b' }))).toEqual({ name: 'a__in__b' });
    expect(joinQualifiedName({ name: 'exec', namespace: 'functions' })).toBe('exec');
  });

  it('comes back as it was, whatever marks another wire has in it', () => {
    const part = fc.constantFrom('__in__', '__in_', 'in__', '_', 'x', 'functions');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const flat = parts.join('');
        expect(joinQualifiedName(splitQualifiedName(flat))).toBe(flat);
        expect(splitQualifiedName(joinQualifiedName({ name: flat }))).toEqual({ name: flat });
      }),
    );
    const marks = 'x'.concat('__in__'.repeat(50_000));
    expect(joinQualifiedName(splitQualifiedName(marks))).toBe(marks);
  });
});

describe('a provider’s decoded freeform call', () => {
  const item = {
    id: 'ctc_1',
    type: 'custom_tool_call',
    status: 'completed',
    call_id: 'c1',
    name: 'exec',
    input: PATCH,
  };
  const place = { item_id: 'ctc_1', output_index: 0 };
  const delta = (text: string) => ({ type: 'response.custom_tool_call_input.delta', ...place, delta: text });
  const added = { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } };
  const done = { type: 'response.output_item.done', output_index: 0, item };

  it.each<[string, JsonObject[]]>([
    [
      'with deltas',
      [
        added,
        ...PATCH.split('').map(delta),
        { type: 'response.custom_tool_call_input.done', ...place, input: PATCH },
        done,
      ],
    ],
    ['without deltas', [added, done]],
    ['only at the end', []],
  ])('has its text as JSON arguments, %s', (_, events) => {
    const [begin, call, end] = joined(
      decodeEvents([created(), ...events, completed({ output: [item] })]),
    ).slice(1);
    expect(begin).toEqual({ type: 'tool-start', id: 'c1', name: 'exec' });
    expect(call?.type === 'tool-delta' && JSON.parse(call.json)).toEqual({ freeform_input: PATCH });
    expect(end).toEqual({ type: 'reply-end', stop: 'tool-calls' });
  });

  it('survives a round trip through the encoding for Codex', () => {
    const events = callEvents('apply_patch', freeformArguments(PATCH), [7, 40]);
    expect(joined(readStream(wire, writeStream(wire, events)))).toEqual(joined(events));
  });
});
