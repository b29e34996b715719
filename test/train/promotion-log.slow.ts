import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Records } from '../../src/core/store.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import type { PromotionEvent } from '../../train/promotion.ts';
import { DEFAULT_PROMOTION } from '../../train/promotion.ts';
import { openPromotionLog } from '../../train/promotion-log.ts';
import { countOf } from '../support/counts.ts';

const settings = { ...DEFAULT_PROMOTION, canaryShare: 0.5, canarySessions: 3 };
let folder = '';
let close = (): void => undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-promotions-'));
});
afterEach(() => {
  close();
  rmSync(folder, { recursive: true, force: true });
});

/** The record as another process would find it. */
function openRecords(): Records {
  close();
  const store = openSqliteStore({ file: path.join(folder, 'store.sqlite') });
  close = () => store.close();
  return toRecords(store, systemClock.now);
}
const open = (records: Records, engine = 'nano') =>
  openPromotionLog({ engine, records, clock: systemClock, settings });
const proposed = (version: number): PromotionEvent => ({
  type: 'proposed',
  served: { version, sampler: `weights/${version}` },
});

describe('the weights that serve', () => {
  it('are the base model before anything was trained', async () => {
    const promotions = await open(openRecords());
    expect(promotions.pointer()).toEqual({ live: { version: 0, sampler: undefined } });
    expect(promotions.turnedBack()).toEqual([]);
  });

  it('are written to disk before the pointer moves: a failed write does not move it', async () => {
    const records = openRecords();
    let seen: string | undefined;
    let isBroken = false;
    const watched = await open({
      ...records,
      append: async (...args) => {
        seen = JSON.stringify(watched.pointer());
        if (isBroken) throw new Error('the disk is full');
        return records.append(...args);
      },
    });
    await watched.tell(proposed(1));
    const before = JSON.stringify(watched.pointer());
    await watched.tell({ type: 'person-promoted' });
    expect(seen).toBe(before);
    expect(watched.pointer().canary?.served.version).toBe(1);

    isBroken = true;
    await expect(watched.tell({ type: 'person-promoted' })).rejects.toThrow('the disk is full');
    expect(watched.pointer().live.version).toBe(0);
    isBroken = false;
    expect(await watched.tell({ type: 'person-promoted' })).toMatchObject([{ version: 1, to: 'live' }]);
  });

  it('are restored from the record after a kill, at every point of a history', async () => {
    const event: fc.Arbitrary<PromotionEvent> = fc.oneof(
      fc.integer({ min: 1, max: 9 }).map(proposed),
      fc.record({
        type: fc.constant('session-scored' as const),
        session: fc.integer({ min: 0, max: 12 }).map((n) => `s${n}`),
        score: fc.constantFrom(0, 0.5, 1),
      }),
      fc.constantFrom({ type: 'person-promoted' as const }, { type: 'person-rolled-back' as const }),
    );
    const seen = { canary: 0, live: 0, back: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 20 }), async (events) => {
        close();
        rmSync(path.join(folder, 'store.sqlite'), { force: true });
        for (const rest of ['-wal', '-shm'])
          rmSync(path.join(folder, `store.sqlite${rest}`), { force: true });
        close = () => undefined;
        let promotions = await open(openRecords());
        for (const one of events) {
          await promotions.tell(one);
          const [state, back] = [promotions.state(), promotions.turnedBack()];
          promotions = await open(openRecords());
          expect(promotions.state()).toEqual(state);
          expect(promotions.turnedBack()).toEqual(back);
          if (state.trial?.stage === 'canary') seen.canary++;
          if (state.live.version > 0) seen.live++;
          if (back.length > 0) seen.back++;
        }
      }),
      { numRuns: countOf(7, 12), seed: 7 },
    );
    for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
  });

  it('are kept per engine: weights of another engine are ignored', async () => {
    const records = openRecords();
    const nano = await open(records);
    for (const event of [proposed(4), { type: 'person-promoted' }, { type: 'person-promoted' }] as const)
      await nano.tell(event);
    expect(nano.pointer().live.version).toBe(4);
    const other = await open(records, 'Qwen3-8B');
    expect(other.state().live).toEqual({ version: 0, sampler: undefined });
    await other.tell(proposed(2));
    expect((await open(records)).state()).toEqual(nano.state());
    expect((await open(records, 'Qwen3-8B')).state().trial?.served.version).toBe(2);
  });

  it('apply concurrent events one after another', async () => {
    const promotions = await open(openRecords());
    const moves = await Promise.all([
      promotions.tell(proposed(1)),
      ...Array.from({ length: 5 }, () => promotions.tell({ type: 'person-promoted' })),
    ]);
    expect(moves.flat().map(({ to }) => to)).toEqual(['candidate', 'canary', 'live']);
  });

  it('count session scores across restarts (they cannot be asked again)', async () => {
    const promotions = await open(openRecords());
    for (const event of [proposed(1), { type: 'person-promoted' }] as const) await promotions.tell(event);
    await promotions.tell({ type: 'session-scored', session: 'a', score: 1 });
    const after = await open(openRecords());
    expect(after.state().trial?.sessions).toEqual(['a']);
    await after.tell({ type: 'session-scored', session: 'a', score: 0 });
    expect(after.state().trial?.sessions).toEqual(['a']);
  });
});

describe('the error level of a checkpoint', () => {
  const pairOf = (version: number, at: number): PromotionEvent => ({
    type: 'pair-scored',
    version,
    pair: `p${at}`,
    candidate: 1,
    live: 0,
  });

  it('comes from the budget that all promotions share, and is lower for a later one (not: 5 % for each)', async () => {
    const records = openRecords();
    const promotions = await open(records);
    await promotions.tell(proposed(1));
    expect(promotions.state().trial?.level).toBeCloseTo(0.01);
    for (let at = 0; at < 60; at++) await promotions.tell(pairOf(1, at));
    expect(promotions.state().trial?.stage).toBe('canary');
    await promotions.tell({ type: 'person-promoted' });
    const again = await open(openRecords(), 'other-engine');
    await again.tell(proposed(2));
    expect(again.state().trial?.level).toBeCloseTo((0.02 * 2) / 6);
    const facts = (await openRecords().events('library/trials')).map(({ fact }) => fact);
    expect(facts).toMatchObject([
      { type: 'trial-opened', subject: 'policy/nano/1', place: 1 },
      { type: 'trial-ended', subject: 'policy/nano/1', outcome: 'helpful' },
      { type: 'trial-opened', subject: 'policy/other-engine/2', place: 2 },
    ]);
  });

  it('is that of its proposal after a restart', async () => {
    const promotions = await open(openRecords());
    await promotions.tell(proposed(1));
    const restored = await open(openRecords());
    expect(restored.state().trial?.level).toBe(promotions.state().trial?.level);
  });
});
