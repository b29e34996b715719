import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { FAST, HANGING, withScripted } from './connect-scripted.ts';
import type { Scripted } from './scripted-server.ts';

const ok = (body: JsonObject | string, type?: string): Scripted => ({
  status: 200,
  body,
  ...(type === undefined ? {} : { type }),
});
const done = ok({ metrics: { 'm:mean': 7 } });
const many = (count: number, answer: Scripted): Scripted[] => Array.from({ length: count }, () => answer);

interface Row {
  readonly name: string;
  readonly answers: readonly Scripted[];
  /** How many looks it takes, and how often the step itself was submitted. */
  readonly looks: number;
  readonly submissions?: number;
  readonly fails?: { readonly category: string; readonly message: RegExp };
}

/** The answers to the looks at one optim_step, in order; what is not named is the result. */
const ROWS: readonly Row[] = [
  { name: 'a result', answers: [done], looks: 1 },
  {
    name: 'try_again, at once',
    answers: [
      ok({ type: 'try_again', queue_state: 'active' }),
      ok({ type: 'try_again', queue_state: 'paused_capacity', queue_state_reason: 'full' }),
    ],
    looks: 3,
  },
  { name: '408', answers: many(5, { status: 408, body: { type: 'try_again' } }), looks: 6 },
  { name: '408 without a body', answers: [{ status: 408, body: '' }], looks: 2 },
  {
    name: 'an announced size',
    answers: [ok({ status: 'complete_metadata', response_payload_size: 90_000_000 })],
    looks: 2,
  },
  {
    name: '{error, category: user} (Tinker)',
    answers: [ok({ error: 'bad loss', category: 'user' })],
    looks: 1,
    fails: { category: 'user', message: /bad loss/ },
  },
  {
    name: '{error, category: server} (Tinker)',
    answers: [ok({ error: 'out of memory', category: 'server' })],
    looks: 1,
    fails: { category: 'server', message: /out of memory/ },
  },
  {
    name: '{error} without a category',
    answers: [ok({ error: 'odd' })],
    looks: 1,
    fails: { category: 'unknown', message: /odd/ },
  },
  {
    name: '{error, category: Application} (verl)',
    answers: [ok({ error: 'assert', category: 'Application' })],
    looks: 1,
    fails: { category: 'unknown', message: /assert/ },
  },
  {
    name: '400 {detail} (SkyRL)',
    answers: [{ status: 400, body: { detail: 'no such model' } }],
    looks: 1,
    fails: { category: 'unknown', message: /no such model/ },
  },
  {
    name: '408 {detail} of a server that ends a long poll (SkyRL)',
    answers: many(2, { status: 408, body: { detail: 'Timeout waiting for result' } }),
    looks: 3,
  },
  {
    name: '422 {detail} of a failed future (TuFT), which is not the caller’s fault',
    answers: [{ status: 422, body: { detail: 'Future failed: Server error: engine died' } }],
    looks: 1,
    fails: { category: 'unknown', message: /engine died/ },
  },
  {
    name: '408 of a future whose turn never came (TuFT), which more polls cannot change',
    answers: many(9, {
      status: 408,
      body: { detail: 'Failed to retrieve future: Timeout when waiting for sequence ID 4.' },
    }),
    looks: 1,
    fails: { category: 'unknown', message: /sequence ID 4/ },
  },
  {
    name: '409 of a future whose number was used before (TuFT)',
    answers: many(9, {
      status: 409,
      body: { detail: 'Failed to retrieve future: Sequence conflict: expected 3, got 2.' },
    }),
    looks: 1,
    fails: { category: 'unknown', message: /expected 3, got 2/ },
  },
  {
    name: '429 of a future for which there was no room (TuFT)',
    answers: many(9, { status: 429, body: { detail: 'Failed to retrieve future: no free slot' } }),
    looks: 1,
    fails: { category: 'unknown', message: /no free slot/ },
  },
  {
    name: '404 of a future whose checkpoint is missing (TuFT)',
    answers: [{ status: 404, body: { detail: 'Failed to retrieve future: Checkpoint x not found.' } }],
    looks: 1,
    fails: { category: 'user', message: /Checkpoint x not found.*404/ },
  },
  {
    name: '422 {detail: [place]} of a framework',
    answers: [{ status: 422, body: { detail: [{ loc: ['body', 'x'], msg: 'Field required' }] } }],
    looks: 1,
    fails: { category: 'user', message: /body\.x: Field required/ },
  },
  {
    name: '400 {type: RequestFailedResponse} (open-rl)',
    answers: [{ status: 400, body: { type: 'RequestFailedResponse', error_message: 'CUDA' } }],
    looks: 1,
    fails: { category: 'unknown', message: /CUDA/ },
  },
  {
    name: '5xx',
    answers: [{ status: 500, body: 'x' }, { status: 502, body: '<html>' }, { status: 503 }, { status: 504 }],
    looks: 5,
  },
  {
    name: '429 with retry-after-ms',
    answers: [{ status: 429, headers: { 'retry-after-ms': '2' } }],
    looks: 2,
  },
  { name: '429 without', answers: many(3, { status: 429 }), looks: 4 },
  { name: 'a dropped connection', answers: ['drop', 'drop'], looks: 3 },
  { name: 'a poll that is held too long', answers: ['hang'], looks: 2 },
  {
    name: 'three 400 of a proxy',
    answers: many(3, { status: 400, body: 'Bad Request', type: 'text/html' }),
    looks: 4,
  },
  {
    name: 'four 400 of a proxy',
    answers: many(4, { status: 400, body: 'Bad Request', type: 'text/html' }),
    looks: 4,
    fails: { category: 'unknown', message: /Bad Request/ },
  },
  {
    name: 'six 400 of a proxy with a 408 between them',
    answers: [
      ...many(3, { status: 400, body: 'no' }),
      { status: 408 },
      ...many(3, { status: 400, body: 'no' }),
    ],
    looks: 8,
  },
  { name: '402 until it is paid', answers: many(3, { status: 402, body: { detail: 'pay' } }), looks: 4 },
  { name: '410, so the request is made again', answers: [{ status: 410 }], looks: 2, submissions: 2 },
  {
    name: '410 forever',
    answers: many(9, { status: 410 }),
    looks: 3,
    submissions: 3,
    fails: { category: 'server', message: /expired/ },
  },
  {
    name: '401',
    answers: [{ status: 401, body: { detail: 'who are you' } }],
    looks: 1,
    fails: { category: 'user', message: /who are you.*401/ },
  },
  {
    name: '404',
    answers: [{ status: 404, body: 'nothing here', type: 'text/plain' }],
    looks: 1,
    fails: { category: 'user', message: /404: nothing here/ },
  },
  {
    name: 'a redirect, which is not followed',
    answers: [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    looks: 1,
    fails: { category: 'user', message: /302/ },
  },
  { name: '200 that is not JSON, then a result', answers: [ok('{"metr'), done], looks: 2 },
  {
    name: '200 that is never JSON',
    answers: many(9, ok('<html>')),
    looks: 4,
    fails: { category: 'unknown', message: /not JSON/ },
  },
];

describe('the answer to a poll of a future', () => {
  let lived = 0;
  it.each(ROWS)('$name', async ({ answers, looks, submissions = 1, fails }) => {
    await withScripted(
      {
        fault: (route, count) => {
          // The first look is at the model that is being made.
          const answer = route === 'retrieve_future' && count > 0 ? (answers[count - 1] ?? done) : undefined;
          return answer === undefined ? undefined : { when: 'before', answer };
        },
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, new AbortController().signal);
        if (fails === undefined) expect(await step.done).toEqual({ 'm:mean': 7 });
        else
          await expect(step.done).rejects.toMatchObject({
            name: 'TrainingError',
            category: fails.category,
            message: expect.stringMatching(fails.message),
          });
        expect(server.ofRoute('retrieve_future')).toHaveLength(1 + looks);
        expect(server.ofRoute('optim_step')).toHaveLength(submissions);
        expect(server.effects.filter((effect) => effect.startsWith('optim_step'))).toEqual(['optim_step/1']);
      },
      { pace: answers.includes('hang') ? HANGING : FAST },
    );
    lived++;
  });

  it('ran every row of the table', () => {
    expect(lived).toBe(ROWS.length);
    expect(lived).toBe(34);
  });

  it('gives up on a result that is announced and never sent (does not poll forever)', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'retrieve_future' && count > 0
            ? { when: 'before', answer: ok({ status: 'complete_metadata', response_payload_size: 5 }) }
            : undefined,
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, new AbortController().signal);
        await expect(step.done).rejects.toThrow(/announced and never sent/);
        expect(server.ofRoute('retrieve_future')).toHaveLength(6);
      },
    );
  });

  it('asks for the body of an announced result without allowing another announcement', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'retrieve_future' && count === 1
            ? { when: 'before', answer: ok({ status: 'complete_metadata', response_payload_size: 5 }) }
            : undefined,
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        await model.optimStep({ learningRate: 1e-4 }, new AbortController().signal).done;
        expect(server.ofRoute('retrieve_future').at(-1)?.body.allow_metadata_only).toBe(false);
      },
    );
  });

  it('gives up on a result when every poll fails, although heartbeats succeed', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'retrieve_future' && count > 0
            ? { when: 'before', answer: { status: 500, body: { detail: 'Unknown error' } } }
            : undefined,
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, new AbortController().signal);
        await expect(step.done).rejects.toMatchObject({
          category: 'server',
          message: expect.stringMatching(/every poll fails: the server answered 500/),
        });
        expect(server.ofRoute('session_heartbeat').length).toBeGreaterThan(0);
        expect(model.broken?.message).toMatch(/uncertain/);
      },
      { pace: { backoffMs: 1, longestMs: 4, lostAfterMs: 1_500, heartbeatMs: 5 } },
    );
  });

  it('gives up on a result when the server has not answered for too long (does not wait forever)', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'retrieve_future' && count > 0 ? { when: 'before', answer: { status: 502 } } : undefined,
      },
      async ({ engine }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, new AbortController().signal);
        expect(await step.fate).toMatchObject({ kind: 'unknown', error: { category: 'server' } });
        expect(model.broken?.message).toMatch(/open it again/);
        expect((await step.sent)[0]).toMatchObject({ route: 'optim_step', seq: 1 });
      },
      { pace: { backoffMs: 1, longestMs: 4, lostAfterMs: 60, heartbeatMs: 60_000 } },
    );
  });

  it('refuses an answer over the size limit', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'retrieve_future' && count > 0
            ? { when: 'before', answer: ok('x'.repeat(200_000)) }
            : undefined,
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, new AbortController().signal);
        await expect(step.done).rejects.toMatchObject({
          category: 'server',
          message: expect.stringMatching(/over 100000 bytes/),
        });
        expect(server.ofRoute('retrieve_future')).toHaveLength(2);
      },
      { mostBytes: 100_000 },
    );
  });
});
