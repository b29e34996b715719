import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { runsOf } from '../../support/counts.ts';
import { steps } from './arbitraries.ts';
import { observe } from './observe.ts';
import { scratch } from './scratch.ts';

describe('the two stores', () => {
  it('give the same answers after any operations, also after a reopen, through a reader and after a rebuild', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (run) => {
        const file = join(scratch(), 'store.db');
        const memory = createMemoryStore();
        let disk = openSqliteStore({ file });
        for (const step of run) expect(await step.run(disk)).toEqual(await step.run(memory));
        expect(await observe(disk)).toEqual(await observe(memory));
        const reader = openSqliteReader(file);
        expect(await observe(reader)).toEqual(await observe(memory));
        reader.close();
        disk.close();
        disk = openSqliteStore({ file });
        expect(await observe(disk)).toEqual(await observe(memory));
        disk.rebuild();
        expect(await observe(disk)).toEqual(await observe(memory));
        expect(disk.check()).toEqual([]);
        disk.close();
      }),
      runsOf(20, 60),
    );
  });
});
