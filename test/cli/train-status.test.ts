import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sayPolicyUse } from '../../src/cli/training-status.ts';
import { systemClock } from '../../src/core/clock.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { DEFAULT_PROMOTION } from '../../train/promotion.ts';
import { openPromotionLog } from '../../train/promotion-log.ts';
import { itInFull } from '../support/counts.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { runInProcess } from './run-cli.ts';

const home = makeHome({
  providers: { fake: { wire: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keyEnv: 'NO_SUCH_KEY' } },
  models: { default: 'fake/model', evolver: 'off', judge: 'off' },
});
afterAll(home.remove);

const status = async (dir = home.dir) => {
  const { code, stdout } = await runInProcess(['train', 'status', '--home', dir], { COLUMNS: '100' });
  expect(code).toBe(0);
  return stdout;
};
const statusJson = async () =>
  JSON.parse((await runInProcess(['train', 'status', '--json', '--home', home.dir])).stdout);

describe('train status without a daemon', () => {
  it('says that nothing serves (not: that instar/nano@0 does)', async () => {
    const text = await status();
    expect(text).toMatch(/^serves +nothing: Instar is not running\. Start it with: instar up$/m);
    expect(text).toMatch(/^weights +still the original ones$/m);
    expect(text).not.toContain('instar/nano@0');
    expect((await statusJson()).serves).toEqual({ requests: 'none', why: 'stopped' });
  });

  it('says that nothing serves when training is off, and how to turn it on', async () => {
    const off = makeHome({ train: { engine: 'off' } });
    expect((await status(off.dir)).replaceAll(/\s+/g, ' ')).toContain(
      'serves nothing: training is off. Set train.engine to "nano"',
    );
    off.remove();
  });
});

describe('train status with trained weights', () => {
  beforeAll(async () => {
    const store = openSqliteStore({ file: path.join(home.dir, 'instar.sqlite') });
    const log = await openPromotionLog({
      engine: 'nano',
      records: toRecords(store, systemClock.now),
      clock: systemClock,
      settings: DEFAULT_PROMOTION,
    });
    const propose = (version: number) =>
      log.tell({ type: 'proposed', served: { version, sampler: `weights/${version}` } });
    await propose(3);
    await log.tell({ type: 'person-promoted' });
    await log.tell({ type: 'person-promoted' });
    await propose(4);
    store.close();
  });

  it('tells the live version from a candidate that answers no request', async () => {
    const text = await status();
    expect(text).toMatch(/^weights +version 3$/m);
    expect(text).toMatch(/^on trial +version 4, candidate: answers no request yet;/m);
  });

  itInFull('beside a provider says that only requests by name are answered by the policy', async () => {
    const daemon = await startDaemon(home.dir);
    try {
      expect(await status()).toMatch(
        /^serves +requests for the model instar\/nano only; all others go to your provider$/m,
      );
      expect((await statusJson()).serves).toEqual({ requests: 'by-name', providers: 1 });
    } finally {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
    }
  });

  it('without a provider says that every request is answered by the policy', () => {
    expect(sayPolicyUse({ requests: 'all', providers: 0 }, { engine: 'nano' })).toBe(
      'every request, as instar/nano: no provider is configured',
    );
  });
});

describe('what train status says of an engine that nothing may be trained with', () => {
  const supplyOf = async (train: object, schedule: object = {}) => {
    const home = makeHome({ train, schedule });
    try {
      const args = ['train', 'status', '--json', '--home', home.dir];
      return JSON.parse((await runInProcess(args)).stdout).supply;
    } finally {
      home.remove();
    }
  };
  const server = { tinker: 'https://train.example', baseModel: 'acme/small-1', tokenizer: '/tmp' };

  it('names the price and the limit that a server of unknown price needs, and nothing is ready', async () => {
    const { ready, missing, most } = await supplyOf({ engine: server });
    expect(ready).toEqual([]);
    expect(missing[0].fix).toContain('train.engine.price');
    expect(missing[0].fix).toContain('schedule.budget.tokensPerDay');
    expect(most).toMatchObject({ tokens: 0, usd: 0, isPriced: false });
    const wantsPrice = ({ missing: all }: { missing: { fix: string }[] }) =>
      all.some(({ fix }) => fix.includes('train.engine.price'));
    // The value of the default counts once a person has written it down.
    expect(wantsPrice(await supplyOf({ engine: server }, { budget: { tokensPerDay: 2_000_000 } }))).toBe(
      false,
    );
    const price = { prefill: 1, sample: 2, train: 3 };
    expect(wantsPrice(await supplyOf({ engine: { ...server, price } }))).toBe(false);
  });

  it('names the tokenizer that a server needs, and that training is off', async () => {
    const { tokenizer: _, ...bare } = server;
    expect((await supplyOf({ engine: bare })).missing[0].fix).toContain('train.engine.tokenizer');
    expect((await supplyOf({ engine: 'off' })).missing[0].fix).toContain('train.engine');
  });
});
