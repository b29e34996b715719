import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TurnIntent } from '../../src/core/recorder.ts';
import { createRecorder } from '../../src/record/recorder.ts';
import { openSqliteReader, openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { countOf } from '../support/counts.ts';
import { scratch } from './store/scratch.ts';

const LONG = 'the same long words again '.repeat(4_000);

const intentOf = (n: number): TurnIntent => ({
  turn: `t${n}`,
  session: `s${n % 50}`,
  agent: 'a',
  role: 'main',
  wire: 'openai-chat',
  model: 'm',
  generation: 0,
  policy: 'p/m',
  lessons: [],
  caller: 'k_test',
  body: Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `${n} ${LONG}` }] })),
});

describe('the recorder', () => {
  it('slows callers down when the writer cannot keep up, and loses no turn', async () => {
    const file = join(scratch(), 'store.db');
    const recorder = createRecorder({ place: file, keys: [], salt: 's' }, Date.now);
    const turns = countOf(300, 600);
    let waits = 0;
    for (let n = 0; n < turns; n++) {
      const intent = intentOf(n);
      const room = recorder.room(intent.body?.length ?? 0);
      if (room !== undefined) waits++;
      await room;
      recorder.start(intent).end({ status: 'complete', httpStatus: 200, policy: 'p/m', totalMs: 1 });
    }
    await recorder.close();
    expect(recorder.state()).toMatchObject({ lost: 0, recorded: turns });
    expect(waits).toBeGreaterThan(0);
    const store = openSqliteStore({ file });
    onTestFinished(() => store.close());
    expect(store.totals()).toMatchObject({ turns, sessions: 50 });
    expect(store.openTurns()).toEqual([]);
    expect(store.block(store.turn(`t${turns - 1}`)?.request ?? '')).toContain('"wire":"openai-chat"');
    expect(store.check()).toEqual([]);
  });

  it('tells of turns once they can be read, many at a time', async () => {
    const file = join(scratch(), 'store.db');
    const turns = countOf(200, 400);
    let told = 0;
    let calls = 0;
    const unread: number[] = [];
    const recorder = createRecorder({ place: file, keys: [], salt: 's' }, Date.now, (count) => {
      told += count;
      calls++;
      const ended = reader.facts(0, 3 * turns).filter(({ fact }) => fact.type === 'turn-end').length;
      if (ended < told) unread.push(told - ended);
    });
    await recorder.chains;
    const reader = openSqliteReader(file);
    onTestFinished(() => reader.close());
    for (let n = 0; n < turns; n++)
      recorder.start(intentOf(n)).end({ status: 'complete', httpStatus: 200, policy: 'p/m', totalMs: 1 });
    await vi.waitFor(() => expect(told).toBe(turns), { timeout: 100_000 });
    await recorder.close();
    expect(unread).toEqual([]);
    expect(calls).toBeLessThan(turns / 2);
  });

  it('does not make callers wait for a store that fails', async () => {
    const file = join(scratch(), 'store.db');
    mkdirSync(file);
    const recorder = createRecorder({ place: file, keys: [], salt: 's' }, Date.now);
    await recorder.chains;
    expect(recorder.state().degraded).toBeDefined();
    for (let n = 0; n < 200; n++) {
      expect(recorder.room(1024 * 1024)).toBeUndefined();
      recorder.start(intentOf(n));
    }
    await recorder.close();
  });
});
