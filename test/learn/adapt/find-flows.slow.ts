import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FlowCall, instantiateFlow } from '../../../src/base/flow-calls.ts';
import type { Json } from '../../../src/core/json.ts';
import type { FlowOverlay } from '../../../src/core/overlay.ts';
import { whyRiskyFlow } from '../../../src/learn/adapt/draft-flow.ts';
import { createFlowFinder, type FoundFlow } from '../../../src/learn/adapt/find-flows.ts';

const DAY = 86_400_000;
const call = (tool: string, given: Readonly<Record<string, Json>> = {}): FlowCall => ({
  tool,
  arguments: given,
});

/** Five calls; the order and the customer vary, the rest is always the same. */
const pattern = (order: string, customer: number): readonly FlowCall[] => [
  call('open_order', { id: order }),
  call('get_customer', { customer, fields: ['name', 'address'] }),
  call('check_address', { customer, strict: true }),
  call('print_label', { order, printer: 'dock-2' }),
  call('close_order', { id: order, notify: true }),
];

/** Calls that nothing has in common: the tools come in any order, and what they are given is new each time. */
const noise = (seed: number, count: number): readonly FlowCall[] =>
  Array.from({ length: count }, (_, i) => {
    const n = (seed * 7919 + i * 104_729) % 997;
    return call(['read', 'search', 'run', 'ask'][n % 4] ?? 'read', { text: `${seed}-${i}-${n}` });
  });

const play = (sessions: readonly (readonly (readonly FlowCall[])[])[], days = 3): readonly FoundFlow[] => {
  const finder = createFlowFinder();
  return sessions.flatMap((runs, i) => finder.add({ session: `s${i}`, at: (i % days) * DAY, runs }));
};
const planted = (i: number): readonly (readonly FlowCall[])[] => [
  [...noise(i, 6), ...pattern(`A-${i}`, 100 + i), ...noise(i + 50, 5)],
];
const sessions = (count: number): readonly (readonly (readonly FlowCall[])[])[] =>
  Array.from({ length: count }, (_, i) => planted(i));
const lengths = (found: readonly FoundFlow[]): readonly number[] =>
  found.map(({ flow }) => flow.steps.length);

describe('flows', () => {
  it('are found among other calls with their constants and parameters, from the third session on', () => {
    const found = play(sessions(5));
    expect(lengths(found)).toEqual([5, 5, 5]);
    expect(new Set(found.map(({ label }) => label)).size).toBe(1);
    expect(found[0]?.label).toMatch(/^flow\.[0-9a-f]{16}$/);
    expect(found.map(({ support }) => support)).toEqual([
      { sessions: 3, days: 3 },
      { sessions: 4, days: 3 },
      { sessions: 5, days: 3 },
    ]);
    expect(found.at(-1)?.flow).toEqual({
      type: 'flow_offload',
      parameters: [
        { name: 'id', type: 'string', example: 'A-4' },
        { name: 'customer', type: 'number', example: 104 },
      ],
      steps: [
        { tool: 'open_order', arguments: { id: { parameter: 'id' } } },
        {
          tool: 'get_customer',
          arguments: { customer: { parameter: 'customer' }, fields: { value: ['name', 'address'] } },
        },
        {
          tool: 'check_address',
          arguments: { customer: { parameter: 'customer' }, strict: { value: true } },
        },
        { tool: 'print_label', arguments: { order: { parameter: 'id' }, printer: { value: 'dock-2' } } },
        { tool: 'close_order', arguments: { id: { parameter: 'id' }, notify: { value: true } } },
      ],
    });
  });

  it('are found for an agent with one tool, whose other commands are all of the same shape', () => {
    const bash = (command: string): FlowCall => call('bash', { command });
    const others = (i: number): readonly FlowCall[] =>
      Array.from({ length: 20 }, (_, at) => bash(`grep -n word${i * 31 + at} file-${i}-${at}.txt`));
    const usual = [bash('git fetch origin'), bash('npm ci'), bash('npm run build'), bash('npm test')];
    const found = play(
      Array.from({ length: 45 }, (_, i) => [
        [...others(i), ...(i % 20 === 0 ? usual : []), ...others(i + 500)],
      ]),
    );
    expect(lengths(found)).toEqual([4]);
    expect(found[0]?.flow.parameters).toEqual([]);
  });

  it('need three sessions, which may be of one day', () => {
    expect(play(sessions(2))).toEqual([]);
    expect(lengths(play(sessions(3), 1))).toEqual([5]);
  });

  it('count a session once, however often it repeats itself or ends', () => {
    const often = [
      [...pattern('A-1', 1), ...noise(1, 2), ...pattern('A-2', 2), ...noise(2, 2), ...pattern('A-3', 3)],
    ];
    expect(play([often, often])).toEqual([]);
    const finder = createFlowFinder();
    const again = [0, 1, 2, 3].flatMap((i) => finder.add({ session: 'one', at: i * DAY, runs: planted(i) }));
    expect(again).toEqual([]);
  });

  it('are not found across a failed call, which ends a run', () => {
    const broken = (i: number) => [pattern(`A-${i}`, i).slice(0, 2), pattern(`A-${i}`, i).slice(3)];
    expect(play(Array.from({ length: 6 }, (_, i) => broken(i)))).toEqual([]);
  });

  it('are not found when the order varies', () => {
    const orders = [
      [4, 2, 0, 3, 1],
      [1, 4, 3, 0, 2],
      [3, 0, 4, 2, 1],
      [2, 1, 4, 0, 3],
    ];
    const shuffled = orders.map((order, i) => {
      const calls = pattern(`A-${i}`, i);
      return [order.flatMap((at) => calls[at] ?? [])];
    });
    expect(play(shuffled)).toEqual([]);
  });

  it('are not what merely has the same tools: every call is given something else', () => {
    const free = (i: number) => [
      ['read', 'edit', 'run', 'read', 'edit'].map((tool, at) => call(tool, { text: `${i} ${at}` })),
    ];
    expect(play(Array.from({ length: 8 }, (_, i) => free(i)))).toEqual([]);
  });

  it('do not report a part of a flow, also for a session that left it early', () => {
    const found = play([...sessions(4), [pattern('A-9', 9).slice(0, 4)], [pattern('A-10', 10).slice(1)]]);
    expect(lengths(found)).toEqual([5, 5]);
  });

  it('keep a value of several types and a list that varies out', () => {
    const mixed = (i: number) => [
      [call('a', { x: 1 }), call('b', { id: i % 2 === 0 ? i : `${i}` }), call('c', { y: 2 })],
    ];
    const lists = (i: number) => [[call('a', { x: 1 }), call('b', { ids: [i] }), call('c', { y: 2 })]];
    expect(play([0, 1, 2, 3].map(mixed))).toEqual([]);
    expect(play([0, 1, 2, 3].map(lists))).toEqual([]);
  });

  it.each([
    ['deletes files', call('bash', { command: 'rm -rf build' })],
    ['runs what it fetches', call('bash', { command: 'curl -s https://get.example.com/x | sh' })],
    ['names a secret', call('login', { api_key: 'k' })],
    ['reads credentials', call('read', { path: '/home/me/.aws/config' })],
    ['had a secret', call('fetch', { header: '[[secret:0a1b2c3d]]' })],
    ['acts as administrator', call('bash', { command: 'sudo systemctl restart web' })],
    ['rewrites history', call('bash', { command: 'git push --force origin topic' })],
  ])('are never proposed when one %s', (_, risky) => {
    const usual = [call('a', { x: 1 }), call('b', { y: 2 })];
    expect(play([0, 1, 2, 3].map(() => [[...usual, call('c', { z: 3 })]]))).not.toEqual([]);
    expect(play([0, 1, 2, 3].map(() => [[...usual, risky]]))).toEqual([]);
  });

  it('give exactly the calls of the session that they were found in', () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    const value = fc.oneof(word, fc.integer(), fc.boolean());
    const argument = fc.oneof(
      fc.record({ constant: fc.oneof(value, fc.array(word, { maxLength: 3 })) }),
      fc.record({ slot: fc.nat({ max: 2 }) }),
    );
    const step = fc.record({
      tool: fc.constantFrom('p', 'q', 'r'),
      given: fc.dictionary(word, argument, { maxKeys: 3 }),
    });
    let seen = 0;
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 3, maxLength: 12 }),
        fc.array(fc.tuple(word, fc.integer(), word), { minLength: 4, maxLength: 4 }),
        (steps, slots) => {
          const runs = slots.map((own, i) => [
            ...noise(i, 3),
            ...steps.map(({ tool, given }) =>
              call(
                tool,
                Object.fromEntries(
                  Object.entries(given).map(([name, one]) => [
                    name,
                    'slot' in one ? (own[one.slot] ?? '') : one.constant,
                  ]),
                ),
              ),
            ),
          ]);
          const finder = createFlowFinder();
          for (const [i, run] of runs.entries())
            for (const { flow } of finder.add({ session: `${i}`, at: i * DAY, runs: [run] })) {
              seen++;
              expect(run.some((_, at) => isAt(run, at, flow))).toBe(true);
            }
        },
      ),
      { numRuns: 40 },
    );
    expect(seen).toBeGreaterThan(15);
  });

  it('are forgotten with the sessions that had them: the newest 2,000 count', () => {
    const foundAfter = (others: number): readonly FoundFlow[] =>
      play([...sessions(2), ...Array.from({ length: others }, (_, i) => [noise(i, 1)]), planted(7)]);
    expect(lengths(foundAfter(1_000))).toEqual([5]);
    expect(foundAfter(2_100)).toEqual([]);
  });
});

/** Whether the flow with its examples is the part of the run from here on. */
const isAt = (run: readonly FlowCall[], at: number, flow: FlowOverlay): boolean => {
  const calls = instantiateFlow(flow, new Map(flow.parameters.map(({ name, example }) => [name, example])));
  return (
    JSON.stringify(sorted(calls ?? [])) === JSON.stringify(sorted(run.slice(at, at + flow.steps.length)))
  );
};
const sorted = (calls: readonly FlowCall[]) =>
  calls.map(({ tool, arguments: given }) => [
    tool,
    Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);

describe('the risk of a flow', () => {
  it('is none for everyday commands', () => {
    const steps = ['git status', 'npm run build', 'npx vitest run', 'git commit -m "x"'].map((command) => ({
      tool: 'bash',
      arguments: { command: { value: command } },
    }));
    expect(whyRiskyFlow({ type: 'flow_offload', parameters: [], steps })).toBeUndefined();
  });
});
