import { describe, expect, it } from 'vitest';
import { call, delta, ended, grown, read, started } from './chunks.ts';

describe('tool calls as servers really send them', () => {
  it('are reported when the server sends "stop" (Ollama sends the complete call in one chunk)', () => {
    expect(read(call({ index: 0, id: 'call_x' }, 'f', '{"a":1}'), delta({ content: '' }, 'stop'))).toEqual([
      started('call_x', 'f'),
      grown('call_x', '{"a":1}'),
      ended('tool-calls'),
    ]);
  });

  it('stay one call when id and name are repeated in every chunk', () => {
    expect(
      read(
        call({ index: 0, id: 'c' }, 'f', ''),
        call({ index: 0, id: 'c' }, 'f', '{"a"'),
        call({ index: 0, id: 'c' }, 'f', ':1}'),
        call({ index: 0, id: 'c' }, 'f', ''),
        delta({}, 'tool_calls'),
      ),
    ).toEqual([started('c', 'f'), grown('c', '{"a"'), grown('c', ':1}'), ended('tool-calls')]);
  });

  it('stay one call when every chunk has a new id (older vLLM)', () => {
    expect(
      read(
        call({ index: 0, id: 'c1' }, 'f', ''),
        call({ index: 0, id: 'c2' }, undefined, '{}'),
        delta({}, 'tool_calls'),
      ),
    ).toEqual([started('c1', 'f'), grown('c1', '{}'), ended('tool-calls')]);
  });

  it('are separated when all have the index 0 (Gemini, older Ollama)', () => {
    expect(
      read(
        call({ index: 0, id: 'c1' }, 'f', '{"a":1}'),
        call({ index: 0, id: 'c2' }, 'f', '{"a":2}'),
        delta({}, 'stop'),
      ),
    ).toEqual([
      started('c1', 'f'),
      grown('c1', '{"a":1}'),
      started('c2', 'f'),
      grown('c2', '{"a":2}'),
      ended('tool-calls'),
    ]);
  });

  it('are separated when all have the index 0 and no arguments', () => {
    expect(
      read(call({ index: 0, id: 'c1' }, 'f', ''), call({ index: 0, id: 'c2' }, 'f', ''), delta({}, 'stop')),
    ).toEqual([started('c1', 'f'), started('c2', 'f'), ended('tool-calls')]);
  });

  it('are separated when they have neither index nor id, and get generated ids', () => {
    expect(
      read(
        delta({
          tool_calls: [
            { function: { name: 'f', arguments: '{}' } },
            { function: { name: 'g', arguments: '' } },
          ],
        }),
        call({}, undefined, '{"b":2}'),
        delta({}, 'tool_calls'),
      ),
    ).toEqual([
      started('call_made1', 'f'),
      grown('call_made1', '{}'),
      started('call_made2', 'g'),
      grown('call_made2', '{"b":2}'),
      ended('tool-calls'),
    ]);
  });

  it.each([
    ['the same index', { index: 0 }, { index: 0 }],
    ['the same id', { id: 'dup' }, { id: 'dup' }],
    ['the same id under two indices', { index: 0, id: 'dup' }, { index: 1, id: 'dup' }],
  ])('get different ids for two complete calls with %s', (_, first, second) => {
    const events = read(call(first, 'f', '{"a":1}'), call(second, 'f', '{"a":2}'), delta({}, 'stop'));
    const starts = events.filter((event) => event.type === 'tool-start');
    expect(new Set(starts.map((event) => event.id)).size).toBe(2);
    expect(events.filter((event) => event.type === 'tool-delta').map((event) => event.json)).toEqual([
      '{"a":1}',
      '{"a":2}',
    ]);
  });

  it('are held back until the name arrives, and dropped if it never does', () => {
    expect(
      read(
        call({ index: 0, id: 'c' }, undefined, '{"a"'),
        call({ index: 1, id: 'd' }, undefined, '{}'),
        call({ index: 0 }, 'f', ':1}'),
        delta({}, 'tool_calls'),
      ),
    ).toEqual([started('c', 'f'), grown('c', '{"a":1}'), ended('tool-calls')]);
  });

  it('get a name that arrives without index and id', () => {
    expect(read(call({ id: 'c' }, undefined, '{"a"'), call({}, 'f', ':1}'), delta({}, 'tool_calls'))).toEqual(
      [started('c', 'f'), grown('c', '{"a":1}'), ended('tool-calls')],
    );
  });

  it('may have an object as arguments, or the legacy form function_call', () => {
    const object = delta({
      tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: { a: 1 } } }],
    });
    expect(read(object, delta({}, 'stop'))).toEqual([
      started('c', 'f'),
      grown('c', '{"a":1}'),
      ended('tool-calls'),
    ]);
    expect(
      read(
        delta({ content: null, function_call: { name: 'f', arguments: '' } }),
        delta({ function_call: { arguments: '{}' } }),
        delta({}, 'function_call'),
      ),
    ).toEqual([started('call_made1', 'f'), grown('call_made1', '{}'), ended('tool-calls')]);
  });
});
