import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayReportOn, sessionIdFor } from '../../src/core/caller.ts';
import {
  hasSessionPrefix,
  isUnattributed,
  isVisibleTo,
  principalOfSession,
  sessionPrefix,
} from '../../src/core/principal.ts';

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const tag = fc.option(
  fc.tuple(fc.constantFrom('m_', 'k_', 'c_', 'o_'), hex(10)).map(([kind, id]) => `${kind}${id}`),
  { nil: undefined },
);
const person = fc.option(
  hex(16).map((id) => `u_${id}`),
  { nil: undefined },
);

describe('whose a session is', () => {
  it('is read back from its id, whatever the client calls its conversation', () => {
    fc.assert(
      fc.property(
        tag,
        person,
        fc.string().filter((name) => !hasSessionPrefix(name)),
        (mark, user, name) => {
          const whose = [mark?.startsWith('o_') ? undefined : mark, user]
            .filter((part) => part !== undefined)
            .join('.');
          expect(principalOfSession(`${sessionPrefix(mark, user)}${name}`) ?? '').toBe(whose);
        },
      ),
    );
  });

  it('is of one key alone: two keys that use one name have two sessions, and neither reports on the other', () => {
    fc.assert(
      fc.property(tag, tag, fc.string({ minLength: 1 }), (one, other, name) => {
        fc.pre(one !== other);
        const caller = (mark: string | undefined) =>
          ({
            kind: 'caller',
            id: `k_of_${mark ?? 'first'}`,
            mayRate: false,
            ...(mark === undefined ? {} : { tag: mark }),
          }) as const;
        const [mine, theirs] = [sessionIdFor(caller(one), name), sessionIdFor(caller(other), name)];
        fc.pre(!hasSessionPrefix(name));
        expect(mine).not.toBe(theirs);
        expect(mayReportOn(caller(one), mine, undefined)).toBe(true);
        expect(mayReportOn(caller(other), mine, caller(one).id)).toBe(false);
      }),
    );
  });

  it('decides what is shown: an end user sees what the key was taught, and nobody sees an end user’s', () => {
    const [key, user, other] = [
      'k_0123456789',
      'k_0123456789.u_0123456789abcdef',
      'k_0123456789.u_fedcba9876543210',
    ];
    expect([isVisibleTo(key, user), isVisibleTo(user, user), isVisibleTo('*', user)]).toEqual([
      true,
      true,
      true,
    ]);
    for (const asker of [key, other, undefined, 'm_0123456789']) expect(isVisibleTo(user, asker)).toBe(false);
    expect(isVisibleTo(undefined, key)).toBe(false);
    expect(isVisibleTo(key, undefined)).toBe(false);
    expect(isVisibleTo(undefined, 'u_0123456789abcdef')).toBe(true);
  });

  it('is known to nobody in an application’s session without an end user, and in an unknown program’s', () => {
    const someone = { agent: 'support' };
    expect(isUnattributed('k_0123456789:a', someone)).toBe(true);
    expect(isUnattributed('k_0123456789.u_0123456789abcdef:a', someone)).toBe(false);
    expect(isUnattributed('k_0123456789:a', { ...someone, project: 'p' })).toBe(false);
    expect(isUnattributed('a', {})).toBe(true);
    expect(isUnattributed('a', { agent: 'claude-code' })).toBe(false);
    expect(isUnattributed('o_0123456789:a', {})).toBe(false);
  });
});
