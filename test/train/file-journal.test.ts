import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_GUARD } from '../../train/reward-guard.ts';
import { openFileJournal } from '../../train/run-files.ts';
import { createMemoryJournal, openRunLog, type RunEntry } from '../../train/run-journal.ts';
import { attempt } from './attempts.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-journal-'));
  file = path.join(folder, 'train', 'run-1.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const checkpoint = (version: number) => ({ version, state: `state/${version}`, sampler: `s/${version}` });
const begun: RunEntry = { type: 'run-begun', checkpoint: checkpoint(0) };
const collected = (batch: number, slot: number): RunEntry => ({
  type: 'group-collected',
  batch: `run/${batch}`,
  slot,
  group: {
    task: 't',
    policy: 0,
    generation: 1,
    rollouts: [attempt(`${batch}/${slot}/0`), attempt(`${batch}/${slot}/1`)],
  },
});
const ended = (batch: number): RunEntry => ({
  type: 'step-ended',
  batch: `run/${batch}`,
  checkpoint: checkpoint(batch + 1),
  rollouts: [`${batch}/0/0`],
  report: {
    seen: undefined,
    groups: 1,
    constantGroups: 0,
    rollouts: 1,
    live: 0,
    data: 1,
    overlong: 0,
    updates: 1,
    learningRate: 0.1,
    warnings: [],
  },
});
const stepBegun = (batch: number): RunEntry => ({
  type: 'step-begun',
  batch: `run/${batch}`,
  attempt: 1,
  from: batch,
});

async function write(entries: readonly RunEntry[]): Promise<void> {
  const journal = openFileJournal(file);
  let { places } = await journal.read();
  for (const entry of entries) await journal.append(entry, places++);
  journal.close();
}

const read = async () => {
  const journal = openFileJournal(file);
  const told = await journal.read();
  journal.close();
  return told;
};

describe('the file journal of a run', () => {
  it('is empty without a file, and then contains what was written, readable by its owner alone', async () => {
    expect(await read()).toEqual({ entries: [], places: 0 });
    await write([begun, collected(0, 0)]);
    expect(await read()).toEqual({ entries: [begun, collected(0, 0)], places: 2 });
  });

  it('refuses an entry at a place that another process has taken', async () => {
    await write([begun]);
    const one = openFileJournal(file);
    const { places } = await one.read();
    await one.append(stepBegun(0), places);
    await expect(one.append(ended(0), places)).rejects.toThrow('already exists');
    one.close();
    expect((await read()).entries).toEqual([begun, stepBegun(0)]);
  });

  it('loses at most its last entry when a kill truncates it anywhere, and continues after it', async () => {
    const whole = [begun, collected(0, 0), stepBegun(0)];
    await write(whole);
    const bytes = readFileSync(file);
    const [first = 0, second = 0] = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([at]) => at);
    let cuts = 0;
    for (let end = second + 1; end < bytes.length; end += 3) {
      rmSync(file);
      appendFileSync(file, bytes.subarray(0, end));
      // Whether the last byte of a line is a line's end says nothing of the line.
      const isWhole = end === bytes.length - 1;
      const told = await read();
      expect(told.entries, `cut at ${end}`).toEqual(isWhole ? whole : whole.slice(0, 2));
      await write([ended(0)]);
      expect((await read()).entries.at(-1)).toEqual(ended(0));
      cuts++;
    }
    expect(first).toBeLessThan(second);
    expect(cuts).toBeGreaterThan(10);
  });

  it('drops the attempts of closed batches, and continues its numbering', async () => {
    await write([begun, collected(0, 0), collected(0, 1), stepBegun(0), ended(0), collected(1, 0)]);
    const told = await read();
    expect(told.entries).toEqual([begun, stepBegun(0), ended(0), collected(1, 0)]);
    expect(told.places).toBe(6);
    const size = readFileSync(file).length;
    await write([stepBegun(1)]);
    expect((await read()).places).toBe(7);
    expect(size).toBeLessThan(readFileSync(file).length);
  });

  it('never contains attempts at recorded tasks (their text may be erased), but counts them while open', async () => {
    const own = collected(0, 0);
    if (own.type !== 'group-collected') throw new Error('no group');
    const recorded: RunEntry = { ...own, slot: 1, group: { ...own.group, task: 'recorded/s' } };
    await write([begun, own, recorded, stepBegun(0)]);
    expect((await read()).entries).toEqual([begun, own, stepBegun(0)]);
    expect(readFileSync(file, 'utf8')).not.toContain('recorded/');
  });

  it('survives a kill between writing the new file and renaming it', async () => {
    await write([begun, collected(0, 0), ended(0)]);
    appendFileSync(`${file}.new`, 'half a li');
    expect((await read()).entries).toEqual([begun, ended(0)]);
    truncateSync(file, readFileSync(file).length - 1);
    expect((await read()).entries).toEqual([begun, ended(0)]);
  });

  it('folds to the same run as a complete journal, however often it is opened', async () => {
    let opened = 0;
    const step = fc.record({
      groups: fc.integer({ min: 0, max: 3 }),
      end: fc.boolean(),
      reopen: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        rmSync(file, { force: true });
        const memory = createMemoryJournal();
        let journal = openFileJournal(file);
        const put = async (entry: RunEntry): Promise<void> => {
          await memory.append(entry, (await memory.read()).places);
          await journal.append(entry, (await memory.read()).places - 1);
        };
        await put(begun);
        let batch = 0;
        for (const { groups, end, reopen } of steps) {
          for (let slot = 0; slot < groups; slot++) await put(collected(batch, slot));
          if (end) await put(ended(batch++));
          if (!reopen) continue;
          journal.close();
          journal = openFileJournal(file);
          opened++;
          const [kept, all] = [
            await openRunLog(journal, DEFAULT_GUARD),
            await openRunLog(memory, DEFAULT_GUARD),
          ];
          expect([...kept.run.closed]).toEqual([...all.run.closed]);
          expect([...kept.run.trained]).toEqual([...all.run.trained]);
          expect(kept.run.lineage).toEqual(all.run.lineage);
          expect([...kept.run.collected(`run/${batch}`)]).toEqual([...all.run.collected(`run/${batch}`)]);
          expect((await journal.read()).places).toBe((await memory.read()).places);
        }
        journal.close();
      }),
      { numRuns: 40 },
    );
    expect(opened).toBeGreaterThan(30);
  });
});
