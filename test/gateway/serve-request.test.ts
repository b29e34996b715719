import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApiRouter } from '../../src/api/router/api-router.ts';
import { findRoute, findTurnRoute } from '../../src/gateway/serve-request.ts';
import { runsOf } from '../support/counts.ts';

const api = createApiRouter();
const request = { headers: {} } as IncomingMessage;
const segment = fc.constantFrom(
  'v1',
  'chat',
  'completions',
  'responses',
  'messages',
  'count_tokens',
  'models',
  '',
);
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);

describe('the routes of the models', () => {
  it('are the same in the fast lookup and the full one, and never an operation', () => {
    let found = 0;
    fc.assert(
      fc.property(path, fc.constantFrom('', '?beta=true', '?'), (asked, query) => {
        const turn = findTurnRoute(asked, query);
        if (turn === undefined) return;
        found++;
        expect(turn).toStrictEqual(findRoute('POST', asked, query, request));
        expect(api.find('POST', asked)).toBeUndefined();
      }),
      runsOf(1670, 5000),
    );
    expect(found).toBeGreaterThan(100);
  });

  it('are found with /v1, without it and with it twice', () => {
    expect(findTurnRoute('/v1/messages', '')).toMatchObject({ kind: 'chat', path: '/messages' });
    expect(findTurnRoute('/messages', '?beta=true')).toMatchObject({
      kind: 'chat',
      path: '/messages?beta=true',
    });
    expect(findTurnRoute('/v1/v1/messages', '')).toBeUndefined();
    expect(findRoute('POST', '/v1/v1/messages', '', request)).toMatchObject({ path: '/messages' });
  });
});

describe('the routes for what clients report', () => {
  it.each(['/feedback', '/events'])('%s is found with /v1, without it and with it twice', (name) => {
    const wanted = api.find('POST', `/v1${name}`);
    expect(wanted).toBeDefined();
    expect(api.find('POST', name)).toEqual(wanted);
    expect(api.find('POST', `/v1/v1${name}`)).toEqual(wanted);
    expect(api.find('GET', name)).toBeUndefined();
    expect(api.find('POST', `/v1${name}/more`)).toBeUndefined();
    expect(api.find('POST', `/v2${name}`)).toBeUndefined();
  });
});
