import { describe, expect, it } from 'vitest';
import type { Log } from '../../../src/base/log.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Fact } from '../../../src/core/fact.ts';
import type { Tier, TurnOverlays } from '../../../src/core/overlay.ts';
import type { RoutedTurn } from '../../../src/core/routed-turn.ts';
import type { Store } from '../../../src/core/store.ts';
import type { Access, Target } from '../../../src/core/upstream.ts';
import { sketchOf } from '../../../src/lessons/similar/task-sketch.ts';
import { chooseTier } from '../../../src/overlays/router/choose-tier.ts';
import type { RoutableTurn } from '../../../src/overlays/router/router.ts';
import { serveRouter } from '../../../src/overlays/router/serve-router.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';

const TEXT = 'Rename the variable total in cart.ts everywhere';
const SKETCH = sketchOf(TEXT);
const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const OWN: Access = { kind: 'own', credentials: () => ({}) };
const target = (name: string, access: Access, isNear = false): Target => {
  const [provider = '', model] = name.split('/');
  return {
    provider,
    model,
    access,
    isNear,
    upstreams: [],
    chat: () => {
      throw new Error('never asked');
    },
  };
};
const HINT: TurnOverlays = { lessons: ['h'], bias: -0.2, flows: [], record: () => undefined };

interface Opened {
  readonly access?: Readonly<Record<string, Access>>;
  /** The provider of the strong model. */
  readonly other?: string;
  readonly isNear?: boolean;
  readonly isOff?: boolean;
  readonly usdPerDay?: number;
  readonly served?: () => number;
  readonly at?: number;
}

function open(
  store: Store,
  { access = {}, other = 'p', isNear, isOff = false, usdPerDay, served, at = 1_000 }: Opened = {},
) {
  const clock = createManualClock(at);
  const router = serveRouter({
    settings: () => ({
      cheap: 'p/cheap',
      strong: `${other}/strong`,
      for: 'auto',
      usdPerDay,
    }),
    isOff: () => isOff,
    catalogue: { resolve: (name = '') => [target(name, access[name.split('/')[0] ?? ''] ?? OWN, isNear)] },
    prices: () => ({
      p: { isLocal: false, price: { cheap: { input: 0.1, output: 1 }, strong: { input: 1, output: 10 } } },
    }),
    served: () => [{ usd: served?.() ?? 0 }],
    records: toRecords(store, clock.now),
    clock,
    log: silent,
  });
  return { router, clock };
}

const turn = (session: string, more: Partial<RoutableTurn> = {}): RoutableTurn => ({
  id: `t-${session}`,
  kind: 'chat',
  wire: { name: 'openai-chat' },
  body: Buffer.from(JSON.stringify({ model: 'instar/auto', messages: [{ role: 'user', content: TEXT }] })),
  outline: { model: 'instar/auto' },
  session: { session },
  identity: { agent: 'a', role: 'main', record: true },
  ...more,
});
const tierOf = async (routed: RoutedTurn | undefined | Promise<RoutedTurn | undefined>) =>
  (await routed)?.choice.tier;
const EMPTY = { cheap: { weight: 0, success: 0 }, strong: { weight: 0, success: 0 } };
let names = 0;
const plain = (): string => {
  for (;;) {
    const session = `n${++names}`;
    const asked = { session, evidence: EMPTY, saving: 0.9, pressure: 0, bias: 0, mayExplore: true };
    if (chooseTier(asked).tier === 'strong') return session;
  }
};
const put = (store: Store, ...facts: readonly Fact[]) =>
  store.append({ facts: facts.map((fact) => ({ at: 1, fact })) });
const scored = (session: string, tier: Tier, score: number): Fact => ({
  type: 'session-scored',
  session,
  score,
  lessons: [],
  heldOut: [],
  route: { tier, task: { agent: 'a', sketch: SKETCH } },
});
const appraised = (session: string, name: string, verdict: 'failure' | 'success'): Fact => ({
  type: 'turn-appraised',
  turn: name,
  session,
  scope: {},
  generation: 1,
  verdict,
  signals: [],
  digests: [],
});

describe('a served router', () => {
  it('chooses by recorded outcomes, and the same after a restart', async () => {
    const store = createMemoryStore();
    for (let nth = 0; nth < 150; nth++)
      put(store, scored(`c${nth}`, 'cheap', 1), scored(`s${nth}`, 'strong', 1));
    const session = plain();
    const first = await open(store).router.route(turn(session), undefined);
    expect(first?.choice.tier).toBe('cheap');
    const again = await open(store).router.route(turn(session), undefined);
    expect(again?.choice).toEqual(first?.choice);
    expect(await tierOf(open(createMemoryStore()).router.route(turn(session), undefined))).toBe('strong');
  });

  it('keeps the model of a session through a restart, also when the hint it was chosen by is gone', async () => {
    const store = createMemoryStore();
    const session = plain();
    const { router } = open(store);
    const routed = await router.route(turn(session), HINT);
    expect(routed?.choice.tier).toBe('cheap');
    expect(routed?.targets.map(({ model }) => model)).toEqual(['cheap', 'strong']);
    put(store, {
      ...{ type: 'overlays-applied', session, turn: 't', lessons: [], heldOut: [] },
      ...routed?.choice,
    });
    expect(await tierOf(router.route(turn(session), undefined))).toBe('cheap');
    expect(await tierOf(open(store).router.route(turn(session), undefined))).toBe('cheap');
  });

  it('records a choice once, without words of the request, and nothing where nothing may be recorded', async () => {
    const store = createMemoryStore();
    const { router } = open(store);
    const session = plain();
    for (let nth = 0; nth < 3; nth++) (await router.route(turn(session), undefined))?.record(`t${nth}`);
    const unrecorded = turn(plain(), { identity: { agent: 'a', role: 'main', record: false } });
    (await router.route(unrecorded, undefined))?.record('t9');
    const facts = store.facts(0, 100).map(({ fact }) => fact);
    expect(facts).toMatchObject([
      { type: 'overlays-applied', session, turn: 't0', tier: 'strong', target: 'p/strong' },
    ]);
    expect(JSON.stringify(facts)).not.toContain('Rename');
    store.erase(session, 5, 'asked');
    expect(JSON.stringify(store.recalls(session))).not.toContain('sketch');
  });

  it('moves upwards after two failed turns, not after one, and never back; a later success takes a failure back', async () => {
    const store = createMemoryStore();
    const session = plain();
    const { router, clock } = open(store);
    const next = async () => {
      clock.advance(1_000);
      await router.settle();
      return tierOf(router.route(turn(session), HINT));
    };
    expect(await next()).toBe('cheap');
    put(store, appraised(session, 'a', 'failure'), appraised(session, 'b', 'failure'));
    put(store, appraised(session, 'b', 'success'));
    expect(await next()).toBe('cheap');
    put(store, appraised(session, 'c', 'failure'));
    expect(await next()).toBe('strong');
    put(store, appraised(session, 'a', 'success'), appraised(session, 'c', 'success'));
    expect(await next()).toBe('strong');
  });

  it('gives a sub-agent a choice of its own, and a title the model of the conversation', async () => {
    const { router } = open(createMemoryStore());
    const session = plain();
    await router.route(turn(session), undefined);
    const side = turn(session, { identity: { agent: 'a', role: 'side', record: true } });
    const routed = await router.route(side, HINT);
    expect(routed?.choice).toMatchObject({ tier: 'cheap', thread: expect.any(String) });
    expect(routed?.choice.task).toBeUndefined();
    const title = turn(session, { identity: { agent: 'a', role: 'aux', record: true } });
    expect(await tierOf(router.route(title, HINT))).toBe('strong');
  });

  it("never sends a caller's credential to the other provider", async () => {
    const caller: Access = { kind: 'caller' };
    const shared = open(createMemoryStore(), { access: { p: caller } });
    expect((await shared.router.route(turn(plain()), undefined))?.targets[0]?.access.kind).toBe('caller');
    const apart = open(createMemoryStore(), { other: 'q', access: { q: caller } });
    expect(await apart.router.route(turn(plain()), undefined)).toBeUndefined();
    const near = open(createMemoryStore(), { other: 'q', access: { q: caller }, isNear: true });
    expect((await near.router.route(turn(plain()), undefined))?.targets[0]?.access.kind).toBe('open');
  });

  it('is asked for instar/auto alone, and not while everything learned is off', () => {
    const { router } = open(createMemoryStore());
    expect(router.isAsked(turn('s'), [target('p/strong', OWN)])).toBe(true);
    expect(router.isAsked(turn('s', { outline: { model: 'p/cheap' } }), [target('p/cheap', OWN)])).toBe(
      false,
    );
    expect(router.isAsked(turn('s', { kind: 'other' }), [target('p/strong', OWN)])).toBe(false);
    expect(open(createMemoryStore(), { isOff: true }).router.isAsked(turn('s'), [])).toBe(false);
  });

  it('counts what was served today against the budget, also before the start, and begins anew the next day', async () => {
    const noon = new Date(2026, 10, 17, 12).getTime();
    const store = createMemoryStore();
    const start = {
      type: 'turn-start',
      session: 's',
      agent: 'a',
      role: 'main',
      wire: 'openai-chat',
      model: 'm',
    } as const;
    const served = (name: string, at: number) =>
      store.append({
        facts: [
          { at, fact: { ...start, turn: name, generation: 1, policy: 'p/strong', lessons: [] } },
          {
            at,
            fact: {
              type: 'turn-end',
              turn: name,
              status: 'complete',
              httpStatus: 200,
              totalMs: 1,
              usage: { inputTokens: 1_000_000, outputTokens: 0 },
            },
          },
        ],
      });
    served('yesterday', noon - 24 * 3_600_000);
    served('today', noon - 3_600_000);
    let usd = 0;
    const { router, clock } = open(store, { usdPerDay: 10, served: () => usd, at: noon });
    await router.settle();
    usd = 2;
    await expect.poll(() => router.describe()?.line).toContain('$3.00 of $10.00 today');
    clock.advance(24 * 3_600_000);
    expect(router.describe()?.line).toContain('$0.00 of $10.00 today');
    usd = 9;
    expect(router.describe()?.line).toContain('$7.00 of $10.00 today');
  });
});
