import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import { createSessionMatcher } from '../../src/gateway/session-matcher.ts';

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const request = (...messages: object[]) => Buffer.from(JSON.stringify({ model: 'm', messages }));

function open() {
  let n = 0;
  const clock = createManualClock();
  const matcher = createSessionMatcher(clock, (prefix) => `${prefix}_${n++}`);
  return { clock, sessions: matcher };
}

describe('a client without a session id', () => {
  it('is recognised by the history it sends', async () => {
    const { sessions } = open();
    const first = await sessions.byChain(request(user('a')), '');
    const second = await sessions.byChain(request(user('a'), assistant('b'), user('c')), '');
    const third = await sessions.byChain(
      request(user('a'), assistant('b'), user('c'), assistant('d'), user('e')),
      '',
    );
    expect([second.session, third.session]).toEqual([first.session, first.session]);
  });

  it('gets another session for other first words or another agent', async () => {
    const { sessions } = open();
    const ids = [
      await sessions.byChain(request(user('a')), 'agent-1'),
      await sessions.byChain(request(user('b')), 'agent-1'),
      await sessions.byChain(request(user('a')), 'agent-2'),
    ].map(({ session }) => session);
    expect(new Set(ids).size).toBe(3);
  });

  it('keeps its session in an immediate retry; the same words an hour later begin a new one', async () => {
    const { sessions, clock } = open();
    const first = await sessions.byChain(request(user('hello')), '');
    clock.advance(5_000);
    expect((await sessions.byChain(request(user('hello')), '')).session).toBe(first.session);
    clock.advance(3_600_000);
    expect((await sessions.byChain(request(user('hello')), '')).session).not.toBe(first.session);
  });

  it('is still recognised after a restart', async () => {
    const before = open();
    const { session, link } = await before.sessions.byChain(request(user('a')), '');
    const after = open();
    after.sessions.restore([{ session, link: link ?? '' }]);
    expect((await after.sessions.byChain(request(user('a'), assistant('b'), user('c')), '')).session).toBe(
      session,
    );
  });

  it('never mixes many parallel conversations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { minLength: 5, maxLength: 60 }), async (turns) => {
        const { sessions } = open();
        const histories = new Map<number, object[]>();
        const ids = new Map<number, string>();
        for (const [n, who] of turns.entries()) {
          const history = histories.get(who) ?? [user(`start ${who}`)];
          if (histories.has(who)) history.push(assistant(`answer ${n}`), user(`turn ${n}`));
          histories.set(who, history);
          const { session } = await sessions.byChain(request(...history), '');
          expect(ids.get(who) ?? session).toBe(session);
          ids.set(who, session);
        }
        expect(new Set(ids.values()).size).toBe(ids.size);
      }),
    );
  });
});
