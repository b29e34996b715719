import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIds } from '../../src/base/ids.ts';
import { systemClock } from '../../src/core/clock.ts';
import { chooseId, looksLikeId, matchesIdPattern, parseIdPattern, shortId } from '../../src/text/short-id.ts';

describe('a short id', () => {
  it('of an own id keeps the time and three random digits (not the beginning of the time alone)', () => {
    const newId = createIds({ ...systemClock, now: () => Date.UTC(2026, 10, 16) });
    const id = newId('t');
    expect(shortId(id)).toMatch(/^t_[0-9a-z]{8}[0-9a-f]{3}$/);
    const later = createIds({ ...systemClock, now: () => Date.UTC(2026, 10, 16) + 1 });
    expect(shortId(later('t'))).not.toBe(shortId(id));
  });

  it.each([
    ['0b9d8f9e-3c1f-4f6b-9d5c-0c2d5b1a7e11', '0b9d8f9e'],
    // A UUID of version 7 begins with the time: all of one minute begin alike.
    ['019a9d3e-7c1f-7f6b-9d5c-0c2d5b1a7e11', '019a9d..1a7e11'],
    ['0b9d8f9e-3c1f-4f6b-9d5c-0c2d5b1a7e11:agent-7', '0b9d8f..gent-7'],
    ['ses_5f1c2a3b4c5dAbCdEfGhIjKlMn', 'ses_5f..IjKlMn'],
    ['my-session', 'my-session'],
    ['one', 'one'],
    ['agent.one.of..two', 'agent...f..two'],
  ])('of %s is %s', (id, short) => {
    expect(shortId(id)).toBe(short);
  });

  it('means the id that it was made from, whatever the id', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ minLength: 4 }), fc.uuid()), (id) => {
        const pattern = parseIdPattern(shortId(id));
        return shortId(id) === id || (pattern !== undefined && matchesIdPattern(id, pattern));
      }),
    );
  });

  it('is too short to mean anything below four characters', () => {
    expect(parseIdPattern('t_1')).toBeUndefined();
    expect(matchesIdPattern('abcdef', { beginning: 'abcd', end: 'cdef' })).toBe(false);
  });
});

it('a beginning that several ids have means the one that the others continue, and nothing when there is none', () => {
  expect(chooseId(['uuid-1', 'uuid-1:agent-2', 'uuid-1:agent-3'])).toBe('uuid-1');
  expect(chooseId(['uuid-1', 'uuid-2'])).toBeUndefined();
  expect(chooseId([])).toBeUndefined();
});

it('a word of a language does not look like an id', () => {
  for (const id of ['t_mhxk2p9a3f2', 's_12345', '0b9d8f9e', '0b9d8f9e-3c1f', '019a9d3e..5b1a7e11'])
    expect([id, looksLikeId(id)]).toEqual([id, true]);
  for (const word of ['terse', 'use ISO dates', 'wait...', 'facade', '2026', 'snake_c'])
    expect([word, looksLikeId(word)]).toEqual([word, false]);
});
