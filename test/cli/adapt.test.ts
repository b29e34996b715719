import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';

const folder = createTemporaryFolder();
afterAll(folder.remove);
const cli = (...args: readonly string[]) => runInProcess(['adapt', ...args, '--home', folder.dir]);

describe('instar adapt', () => {
  it('says where events come from while there are none', async () => {
    expect((await cli('events')).stderr).toContain('POST /v1/events');
    expect((await cli('candidates')).stderr).toContain('none of 0 events scores 60 or more');
    expect(JSON.parse((await cli('candidates', '--json')).stdout)).toEqual([]);
  });

  it('lists events and candidates, and says what a score is made of', async () => {
    const store = openSqliteStore({ file: path.join(folder.dir, 'instar.sqlite') });
    const records = toRecords(store, () => 0);
    const report = (session: string) => ({
      at: Date.now(),
      fact: {
        type: 'event-reported',
        kind: 'successful_heal',
        session,
        agent: 'builder',
        data: {},
        by: 'owner',
      } as const,
    });
    await records.append(['a', 'b', 'c', 'd'].map(report));
    store.close();
    const { stdout, stderr } = await cli('candidates');
    expect(stdout).toMatch(/fix_template +agent builder +successful_heal +78\.8 +3, mean 75 +incomplete/);
    expect(stderr).toContain('report error and repair');
    expect(stderr).toContain('0.85 of the mean score of other events');
    const [candidate] = JSON.parse((await cli('candidates', '--json')).stdout);
    expect(candidate).toMatchObject({
      id: 'fix_template:agent:builder:successful_heal',
      ...{ type: 'fix_template', scopeType: 'agent', scopeId: 'builder', status: 'incomplete' },
    });
    expect((await cli('overlays')).stderr).toContain('No change is in force');
    expect((await cli('events')).stdout.match(/successful_heal {2}/g)?.length).toBeGreaterThan(3);
  });
});
