import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { scratch } from './scratch.ts';
import { startStoreProcess } from './store-process.ts';

const CYCLES = 10;

describe('a writer that is killed while it writes', () => {
  it('loses nothing that it acknowledged and writes nothing twice', async () => {
    const file = join(scratch(), 'store.db');
    const acked: string[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const child = startStoreProcess('append', file, `c${cycle}`);
      // After some acknowledgements, however slow the machine is, and at another moment in each cycle.
      await child.lines(30 + ((cycle * 7) % 20));
      await new Promise((resolve) => setTimeout(resolve, cycle));
      child.kill('SIGKILL');
      const { lines, signal, stderr } = await child.ended();
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
      expect(lines.length).toBeGreaterThan(0);
      acked.push(...lines);
    }
    const store = openSqliteStore({ file });
    const facts = store.facts(0, Number.POSITIVE_INFINITY);
    const kept = facts.map(({ seq, fact }) => `${seq} ${fact.type === 'turn-start' ? fact.turn : ''}`);
    expect(acked.length).toBeGreaterThanOrEqual(300);
    expect(acked.filter((line) => !kept.includes(line))).toEqual([]);
    expect(new Set(kept.map((line) => line.split(' ')[1])).size).toBe(kept.length);
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
    // At most one per cycle: the write in progress at the kill.
    expect(kept.length - acked.length).toBeLessThanOrEqual(CYCLES);
    expect(store.check()).toEqual([]);
    for (const line of acked) {
      const turn = line.split(' ')[1] ?? '';
      expect(store.block(Buffer.from(turn).toString('hex'))).toBe(`text of ${turn} `.repeat(60));
    }
    store.close();
  }, 300_000);
});
