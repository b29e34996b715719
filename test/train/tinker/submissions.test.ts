import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import { datum, FAST, HANGING, withScripted } from './connect-scripted.ts';
import type { Fault, Scripted } from './scripted-server.ts';

const signal = new AbortController().signal;
const unread = (answer: Scripted): Fault => ({ when: 'before', answer });
const executed = (answer: Scripted): Fault => ({ when: 'after', answer });

interface Row {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly tries: number;
  readonly fate: 'done' | 'not-taken' | 'unknown';
}

const ROWS: readonly Row[] = [
  { name: 'accepted at once', faults: [], tries: 1, fate: 'done' },
  { name: 'executed, then the connection drops', faults: [executed('drop')], tries: 2, fate: 'done' },
  { name: 'executed, then 500', faults: [executed({ status: 500 })], tries: 2, fate: 'done' },
  {
    name: 'executed, then half an answer',
    faults: [executed({ status: 200, body: '{"reques' })],
    tries: 2,
    fate: 'done',
  },
  { name: 'executed, then no answer in time', faults: [executed('hang')], tries: 2, fate: 'done' },
  { name: 'dropped before it was executed', faults: [unread('drop')], tries: 2, fate: 'done' },
  {
    name: '408, 409, 429, 500, 502, 503, 504',
    faults: [408, 409, 429, 500, 502, 503, 504].map((status) => unread({ status })),
    tries: 8,
    fate: 'done',
  },
  {
    name: '429 with Retry-After: 0',
    faults: [unread({ status: 429, headers: { 'retry-after': '0' } })],
    tries: 2,
    fate: 'done',
  },
  {
    name: '402 until it is paid',
    faults: [unread({ status: 402 }), unread({ status: 402 })],
    tries: 3,
    fate: 'done',
  },
  {
    name: 'x-should-retry: true on a 400',
    faults: [unread({ status: 400, headers: { 'x-should-retry': 'true' } })],
    tries: 2,
    fate: 'done',
  },
  {
    name: 'x-should-retry: false on a 500',
    faults: [unread({ status: 500, headers: { 'x-should-retry': 'false' } })],
    tries: 1,
    fate: 'not-taken',
  },
  { name: '400', faults: [unread({ status: 400, body: { detail: 'no' } })], tries: 1, fate: 'not-taken' },
  { name: '401', faults: [unread({ status: 401 })], tries: 1, fate: 'not-taken' },
  { name: '404', faults: [unread({ status: 404 })], tries: 1, fate: 'not-taken' },
  {
    name: '409 forever',
    faults: Array.from({ length: 9 }, () => unread({ status: 409, body: { detail: 'another one' } })),
    tries: 4,
    fate: 'not-taken',
  },
  {
    name: 'refused after it may have been accepted',
    faults: [executed('drop'), unread({ status: 400, body: { detail: 'seq used' } })],
    tries: 2,
    fate: 'unknown',
  },
  {
    name: 'an answer without a request id',
    faults: [executed({ status: 200, body: {} })],
    tries: 1,
    fate: 'unknown',
  },
];

describe('a submission', () => {
  let lived = 0;
  it.each(ROWS)('$name', async ({ faults, tries, fate }) => {
    await withScripted(
      { fault: (route, count) => (route === 'optim_step' ? faults[count] : undefined) },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, signal);
        expect((await step.fate).kind).toBe(fate);
        const sent = server.ofRoute('optim_step');
        expect(sent).toHaveLength(tries);
        expect(new Set(sent.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(1);
        expect(server.effects.filter((effect) => effect.startsWith('optim_step')).length).toBeLessThanOrEqual(
          1,
        );
        if (fate === 'done') expect(server.effects).toContain('optim_step/1');
        expect(model.broken === undefined).toBe(fate !== 'unknown');
      },
      { pace: faults.some((fault) => fault?.answer === 'hang') ? HANGING : FAST },
    );
    lived++;
  });

  it('ran every row of the table', () => {
    expect(lived).toBe(17);
  });

  it.each([
    ['its answer is lost', executed('drop'), 1, 'unknown'],
    ['the server breaks', executed({ status: 500 }), 1, 'unknown'],
    ['its answer makes no sense', executed({ status: 200, body: 'nonsense' }), 1, 'unknown'],
    ['the server is away for a moment', unread({ status: 503 }), 2, 'done'],
    ['it comes too soon', unread({ status: 429 }), 2, 'done'],
  ] as const)('to a server that does repeats again: when %s', async (_, fault, tries, fate) => {
    await withScripted(
      { fault: (route, count) => (route === 'optim_step' && count === 0 ? fault : undefined) },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, signal);
        expect((await step.fate).kind).toBe(fate);
        expect(server.ofRoute('optim_step')).toHaveLength(tries);
        expect(model.broken === undefined).toBe(fate === 'done');
      },
      { profile: { ...PROFILES.generic, wire: 'json', knowsRepeats: false } },
    );
  });

  it('is not repeated after its result expired, on a server without idempotency', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'retrieve_future' && count === 1
            ? { when: 'before', answer: { status: 410 } }
            : undefined,
      },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, signal);
        expect(await step.fate).toMatchObject({ kind: 'unknown' });
        expect(server.ofRoute('optim_step')).toHaveLength(1);
      },
      { profile: { ...PROFILES.generic, wire: 'json', knowsRepeats: false } },
    );
  });

  it('is retried until its time limit', async () => {
    await withScripted(
      { fault: (route) => (route === 'optim_step' ? unread({ status: 503 }) : undefined) },
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const step = model.optimStep({ learningRate: 1e-4 }, signal);
        expect(await step.fate).toMatchObject({ kind: 'not-taken', error: { category: 'server' } });
        expect(server.ofRoute('optim_step').length).toBeGreaterThan(2);
        // The number is free: nothing waits for it.
        expect(model.broken).toBeUndefined();
      },
      { pace: { backoffMs: 1, longestMs: 4, submitForMs: 1_000, heartbeatMs: 60_000 } },
    );
  });

  it('takes effect exactly once, in order, whatever fails on the way', async () => {
    const faults = fc.constantFrom<Fault>(
      undefined,
      undefined,
      executed('drop'),
      executed({ status: 500 }),
      executed({ status: 200, body: 'nonsense' }),
      unread('drop'),
      unread({ status: 503 }),
      unread({ status: 429 }),
      unread({ status: 408 }),
    );
    let submissions = 0;
    let injected = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(faults, { maxLength: 24 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        async (script, kinds) => {
          const left = [...script];
          await withScripted(
            {
              fault: (route) => {
                if (route !== 'optim_step' && route !== 'forward_backward') return undefined;
                const next = left.shift();
                if (next !== undefined) injected++;
                return next;
              },
            },
            async ({ engine, server }) => {
              const model = await engine.createModel({ rank: 4 });
              const pending = kinds.map((isStep) =>
                isStep
                  ? model.optimStep({ learningRate: 1e-4 }, signal)
                  : model.forwardBackward({ data: [datum], loss: 'ppo' }, signal),
              );
              for (const { fate } of pending) expect((await fate).kind).toBe('done');
              submissions += kinds.length;
              expect(server.effects.slice(1)).toEqual(
                kinds.map((isStep, i) => `${isStep ? 'optim_step' : 'forward_backward'}/${i + 1}`),
              );
            },
          );
        },
      ),
      { numRuns: 25, seed: 9 },
    );
    expect(submissions).toBeGreaterThan(50);
    expect(injected).toBeGreaterThan(50);
  });

  it('arrives in the order of submission, however long each takes', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 2, maxLength: 8 }),
        async (delays) => {
          await withScripted(
            {
              fault: async (route, count) => {
                if (route === 'optim_step')
                  await new Promise((resolve) => setTimeout(resolve, delays[count] ?? 0));
                return undefined;
              },
            },
            async ({ engine, server }) => {
              const model = await engine.createModel({ rank: 4 });
              const all = delays.map(() => model.optimStep({ learningRate: 1e-4 }, signal));
              await Promise.all(all.map(({ done }) => done));
              expect(server.ofRoute('optim_step').map(({ body }) => body.seq_id)).toEqual(
                delays.map((_, i) => i + 1),
              );
              expect((await Promise.all(all.map(({ sent }) => sent))).flat().map(({ seq }) => seq)).toEqual(
                delays.map((_, i) => i + 1),
              );
              compared += delays.length;
            },
          );
        },
      ),
      { numRuns: 12, seed: 3 },
    );
    expect(compared).toBeGreaterThan(30);
  });
});
