import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import { createAuthorizer } from '../../src/gateway/access-control.ts';

const showing = (key: string) =>
  ({
    headers: { authorization: `Bearer ${key}` },
    socket: { remoteAddress: '127.0.0.1' },
  }) as IncomingMessage;

describe('the check of Instar’s key', () => {
  it('uses the current key, whatever was presented before', () => {
    let key = 'first-key';
    const { forOwner } = createAuthorizer({ key: () => key, onLoopback: true, clock: createManualClock() });
    for (let look = 0; look < 3; look++) {
      expect(forOwner(showing('first-key'))).toBeUndefined();
      expect(forOwner(showing('second-key'))?.kind).toBe('unauthorized');
    }
    key = 'second-key';
    for (let look = 0; look < 3; look++) {
      expect(forOwner(showing('second-key'))).toBeUndefined();
      expect(forOwner(showing('first-key'))?.kind).toBe('unauthorized');
    }
  });

  it('accepts the key after any number of other keys, short and long', () => {
    const clock = createManualClock();
    const { forOwner } = createAuthorizer({ key: () => 'the-key', onLoopback: true, clock });
    for (let nth = 0; nth < 200; nth++) {
      expect(forOwner(showing(`other-${nth}`))?.status).toBeGreaterThanOrEqual(401);
      expect(forOwner(showing('x'.repeat(600 + nth)))?.status).toBeGreaterThanOrEqual(401);
      expect(forOwner(showing('the-key'))).toBeUndefined();
    }
  });
});
