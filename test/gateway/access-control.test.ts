import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import { createAuthorizer } from '../../src/gateway/access-control.ts';
import { accountOver, callersOf } from '../support/gateway.ts';

const showing = (key: string) =>
  ({
    headers: { authorization: `Bearer ${key}` },
    socket: { remoteAddress: '127.0.0.1' },
  }) as IncomingMessage;

const CALLER = { kind: 'caller', id: 'k_1', mayRate: false } as const;
const OWNER = { kind: 'owner', id: 'owner_1', mayRate: true } as const;
const NONE: ReadonlySet<'own'> = new Set(['own']);

const authorizer = (options: { readonly onLoopback?: boolean } = {}) => {
  const keys = callersOf({ 'caller-key': CALLER, 'owner-key': OWNER });
  const { onLoopback = true } = options;
  return createAuthorizer({ keys, onLoopback, clock: createManualClock(), account: accountOver() });
};

describe('who calls', () => {
  it('is known by the bearer token, by x-api-key, or by x-instar-key beside another credential', () => {
    const { callerOf } = authorizer();
    expect(callerOf(showing('caller-key'))).toBe(CALLER);
    expect(callerOf({ headers: { 'x-api-key': 'owner-key' } } as unknown as IncomingMessage)).toBe(OWNER);
    const beside = { authorization: 'Bearer sk-own', 'x-instar-key': 'caller-key' };
    expect(callerOf({ headers: beside } as unknown as IncomingMessage)).toBe(CALLER);
    expect(callerOf(showing('another'))).toBeUndefined();
  });

  it('is accepted after any number of other keys, short and long', () => {
    const { callerOf, forRoute } = authorizer();
    for (let nth = 0; nth < 200; nth++) {
      for (const wrong of [`other-${nth}`, 'x'.repeat(600 + nth)])
        expect(forRoute(showing(wrong), callerOf(showing(wrong)), 'owner')?.status).toBeGreaterThanOrEqual(
          401,
        );
      expect(forRoute(showing('owner-key'), callerOf(showing('owner-key')), 'owner')).toBeUndefined();
    }
  });
});

describe('the routes of people', () => {
  it('refuse a caller key with 403 (not 401: the key is valid) and name the way', () => {
    const { forRoute } = authorizer();
    const denied = forRoute(showing('caller-key'), CALLER, 'owner');
    expect(denied?.status).toBe(403);
    expect(denied?.message).toContain('owner key');
    expect(forRoute(showing('caller-key'), CALLER, 'caller')).toBeUndefined();
  });
});

describe('the headers of a request for a model', () => {
  it('decide alone where every target needs a key', () => {
    const { atHeaders } = authorizer();
    expect(atHeaders(showing('nope'), undefined, NONE)?.status).toBe(401);
    expect(atHeaders(showing('caller-key'), CALLER, NONE)).toBeUndefined();
  });

  it('let a request without a key pass only where a target may accept it, and only on loopback', () => {
    const open = new Set(['open', 'own'] as const);
    const passing = new Set(['caller', 'own'] as const);
    const bare = { headers: {}, socket: {} } as unknown as IncomingMessage;
    expect(authorizer().atHeaders(bare, undefined, open)).toBeUndefined();
    expect(authorizer().atHeaders(showing('sk-own'), undefined, passing)).toBeUndefined();
    expect(authorizer({ onLoopback: false }).atHeaders(bare, undefined, open)?.status).toBe(401);
    expect(authorizer({ onLoopback: false }).atHeaders(showing('sk-own'), undefined, passing)?.status).toBe(
      401,
    );
  });

  it('refuse the owner key: a client that holds it could approve its own lessons', () => {
    expect(authorizer().atHeaders(showing('owner-key'), OWNER, NONE)?.status).toBe(403);
  });

  it('refuse a key of ours that is revoked, cut or mistyped, also where a target needs none or takes callers’ own', () => {
    for (const wrong of [`instar_caller_${'x'.repeat(43)}`, 'instar_wrong', 'Instar_Caller_abc'])
      for (const kind of ['open', 'caller'] as const)
        expect(authorizer().atHeaders(showing(wrong), undefined, new Set([kind]))?.status).toBe(401);
  });
});
