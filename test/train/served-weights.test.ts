import { setImmediate as nextTick } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServedWeights } from '../../src/core/training.ts';
import { TrainingError } from '../../src/core/training.ts';
import type { PolicyPointer } from '../../train/promotion.ts';
import type { PolicyVersion } from '../../train/promotion-stages.ts';
import { createOpenWeights } from '../../train/served-weights.ts';
import { runsOf } from '../support/counts.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const signal = new AbortController().signal;
const REQUEST = { prompt: [1, 1], count: 1, maxTokens: 3, temperature: 1, stop: [], seed: 7 };
const served = (version: number): PolicyVersion => ({
  version,
  sampler: version === 0 ? undefined : `weights/${version}`,
});

/** A real engine of tables with saved weights 1 to 4, and a count of what is open. */
async function openRoom(more: { readonly spares?: () => readonly PolicyVersion[] } = {}) {
  const server = createServer({ vocabulary: 4 });
  const engine = createTabularEngine(server);
  const model = await engine.createModel({ rank: 1 });
  for (let version = 1; version <= 4; version++) {
    const saved = await model.saveForSampler(`${version}`);
    const table = server.saved.get(saved);
    if (table !== undefined) server.saved.set(`weights/${version}`, table);
  }
  const open = new Map<string | undefined, number>();
  const probes: string[] = [];
  let opened = 0;
  let pointer: PolicyPointer = { live: served(0) };
  const state = { isDown: false, forgetsSamplers: false, life: 0 };
  const room = createOpenWeights({
    ...more,
    pointer: () => pointer,
    probed: ({ version }, isWell) => void probes.push(`${version} ${isWell ? 'well' : 'ill'}`),
    openSampler: async (path) => {
      if (state.isDown) throw new TrainingError('server', 'the engine is down');
      const sampler = await engine.openSampler(path);
      const { life } = state;
      opened++;
      open.set(path, (open.get(path) ?? 0) + 1);
      return {
        sample: (request, until) => {
          if (open.get(path) === 0) throw new Error('it is closed');
          if (life !== state.life) throw new TrainingError('user', 'no such sampler');
          return sampler.sample(request, until);
        },
        close: async () => void open.set(path, (open.get(path) ?? 0) - 1),
      };
    },
  });
  return {
    server,
    room,
    open,
    probes,
    state,
    opened: () => opened,
    point: (to: PolicyPointer) => {
      pointer = to;
      room.sweep();
    },
  };
}

describe('open weights', () => {
  it('stay open while a turn holds them, wherever the pointer moves, and are closed after the last turn', async () => {
    let heldOver = 0;
    const act = fc.oneof(
      fc.record({ act: fc.constant('take' as const), version: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ act: fc.constant('end' as const), which: fc.nat({ max: 9 }) }),
      fc.record({
        act: fc.constant('move' as const),
        live: fc.integer({ min: 0, max: 4 }),
        canary: fc.integer({ min: 0, max: 4 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        const { room, open, point } = await openRoom();
        let named = new Set<string | undefined>([undefined]);
        const turns: { readonly version: number; readonly weights: ServedWeights }[] = [];
        for (const one of acts) {
          if (one.act === 'take')
            turns.push({ version: one.version, weights: await room.take(served(one.version)) });
          else if (one.act === 'end') turns.splice(one.which, 1)[0]?.weights.release();
          else {
            const [live, canary] = [served(one.live), served(one.canary)];
            point({ live, canary: { served: canary, share: 0.5 } });
            named = new Set([live.sampler, canary.sampler]);
          }
          await nextTick();
          for (const { version, weights } of turns) {
            expect(weights.version).toBe(version);
            expect(await weights.sampler.sample(REQUEST, signal)).toHaveLength(1);
            if (!named.has(served(version).sampler)) heldOver++;
          }
          const inUse = new Set(turns.map(({ version }) => served(version).sampler));
          for (const [path, count] of open)
            expect(count, `${path}`).toBe(inUse.has(path) || (named.has(path) && count > 0) ? 1 : 0);
        }
      }),
      runsOf(20, 60),
    );
    expect(heldOver).toBeGreaterThan(50);
  });

  it('are opened once for concurrent turns', async () => {
    const { room, opened } = await openRoom();
    await Promise.all(Array.from({ length: 20 }, () => room.take(served(2))));
    expect(opened()).toBe(1);
  });

  it('are reopened, once, after an engine restart', async () => {
    const { room, state, opened } = await openRoom();
    const [one, two] = [await room.take(served(1)), await room.take(served(1))];
    const before = await one.sampler.sample(REQUEST, signal);
    state.life++;
    const [again, other] = await Promise.all([
      one.sampler.sample(REQUEST, signal),
      two.sampler.sample(REQUEST, signal),
    ]);
    expect(again).toEqual(before);
    expect(other).toEqual(before);
    expect(opened()).toBe(2);
  });

  it('that could not be opened are tried again by the next turn', async () => {
    const { room, state, point } = await openRoom();
    state.isDown = true;
    const both = await Promise.allSettled([room.take(served(1)), room.take(served(1))]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    state.isDown = false;
    const taken = await room.take(served(1));
    expect(await taken.sampler.sample(REQUEST, signal)).toHaveLength(1);
    taken.release();
    point({ live: served(1) });
  });

  it('that are damaged are replaced by the next fallback, whose version the turn reports', async () => {
    const { room, server, probes } = await openRoom({ spares: () => [served(2), served(1), served(0)] });
    server.saved.delete('weights/2');
    const taken = await room.take(served(2));
    expect(await taken.sampler.sample(REQUEST, signal)).toHaveLength(1);
    expect(taken.version).toBe(1);
    expect(probes).toEqual(['2 ill', '1 well']);
  });

  it('that fail during sampling are replaced, too, and released', async () => {
    const { room, server, open, probes, state, point } = await openRoom({ spares: () => [served(0)] });
    const taken = await room.take(served(3));
    server.saved.delete('weights/3');
    state.life++;
    expect(await taken.sampler.sample(REQUEST, signal)).toHaveLength(1);
    expect(taken.version).toBe(0);
    expect(probes).toEqual(['3 ill', '0 well']);
    taken.release();
    point({ live: served(4) });
    await nextTick();
    expect(open.get(undefined)).toBe(0);
  });

  it("are not blamed when the engine is down: the reported reason is the engine's", async () => {
    const { room, state, probes } = await openRoom({ spares: () => [served(1), served(0)] });
    state.isDown = true;
    await expect(room.take(served(2))).rejects.toThrow('the engine is down');
    expect(probes).toEqual([]);
  });

  it('are all closed at the end', async () => {
    const { room, open } = await openRoom();
    for (const version of [0, 1, 2]) await room.take(served(version));
    await room.close();
    await nextTick();
    expect([...open.values()]).toEqual([0, 0, 0]);
  });
});
