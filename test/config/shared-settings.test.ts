import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openSettings } from '../../src/api/settings-api.ts';
import { describeSettings } from '../../src/config/describe-settings.ts';
import { followSharedSettings } from '../../src/config/follow-shared-settings.ts';
import { openHome } from '../../src/config/home.ts';
import { describeSettingsState } from '../../src/config/settings-state.ts';
import { checkWithShared, editShared } from '../../src/config/shared-settings.ts';
import type { StoredFact } from '../../src/core/fact.ts';
import type { Json } from '../../src/core/json.ts';
import { foldSharedSettings } from '../../src/core/shared-setting.ts';

const env = {};
const LOCAL = { providers: { local: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1' } } };
const stored = (seq: number, path: readonly string[], value?: Json): StoredFact => ({
  seq,
  at: seq,
  fact: { type: 'settings-changed', path, ...(value === undefined ? {} : { value }) },
});
const undo: (() => void)[] = [];
afterEach(() => {
  for (const run of undo.splice(0)) run();
});

describe('the fold of shared settings', () => {
  it('has the last value of each path, and nothing of what was taken back', () => {
    const facts = [
      stored(1, ['library', 'topK'], 4),
      stored(2, ['library', 'index', 'lines'], 2),
      stored(3, ['library', 'topK'], 5),
      stored(4, ['library', 'index', 'lines']),
    ];
    expect(foldSharedSettings(facts)).toEqual({ seq: 4, document: { library: { topK: 5 } } });
    expect(foldSharedSettings([...facts, stored(7, ['library'])])).toEqual({ seq: 7, document: {} });
  });

  it('passes over a fact in a shape that it does not know, and keeps names of prototypes as plain keys', () => {
    const odd = {
      seq: 1,
      at: 1,
      fact: { type: 'settings-changed', path: 'library.topK', value: 9 },
    } as never;
    expect(foldSharedSettings([odd])).toEqual({ seq: 1, document: {} });
    const { document } = foldSharedSettings([stored(2, ['__proto__', 'topK'], 9)]);
    expect(Object.hasOwn(document, '__proto__')).toBe(true);
    expect(({} as { topK?: number }).topK).toBeUndefined();
  });
});

describe('shared settings beside a file', () => {
  it('count where the file names nothing; where it does, the file wins', () => {
    const { config, shared } = checkWithShared(
      { library: { topK: 3 } },
      { library: { topK: 7, tokenBudget: 900 }, store: { keepDays: 30 } },
      { env },
    );
    expect([config.library.topK, config.library.tokenBudget, config.store.keepDays]).toEqual([3, 900, 30]);
    expect(shared).toEqual({
      used: ['library.tokenBudget', 'store.keepDays'],
      overruled: ['library.topK'],
      ignored: [],
    });
  });

  it('of a newer version or with a bad value are left out alone, with the reason', () => {
    const { config, shared } = checkWithShared(
      {},
      { library: { topK: 7, dreams: true }, learn: { failures: 'many' }, future: { x: 1 } },
      { env },
    );
    expect(config.library.topK).toBe(7);
    expect(shared.used).toEqual(['library.topK']);
    expect(shared.ignored.map(({ path }) => path).toSorted()).toEqual([
      'future.x',
      'learn.failures',
      'library.dreams',
    ]);
    expect(shared.ignored.find(({ path }) => path === 'library.dreams')?.why).toContain('is not a setting');
  });

  it('that name a provider which this gateway has not are left out, and the rest counts', () => {
    const document = { router: { cheap: 'local/a', strong: 'other/b' }, library: { topK: 2 } };
    const { config, shared } = checkWithShared(LOCAL, document, { env });
    expect([config.router, config.library.topK]).toEqual([undefined, 2]);
    expect(shared.ignored.map(({ path }) => path).toSorted()).toEqual(['router.cheap', 'router.strong']);
  });

  it('never set what is of one machine, whoever wrote the fact', () => {
    const document = {
      gateway: { host: '0.0.0.0' },
      store: { url: 'postgres://elsewhere/x' },
      providers: { local: { wire: 'openai-chat', baseUrl: 'http://203.0.113.1/v1' } },
      models: { default: 'local/m' },
      learn: { verifiers: [{ domain: 'x', kind: 'command', command: 'true' }] },
      practice: { tasks: ['/etc/passwd'] },
    };
    const { config, shared } = checkWithShared({}, document, { env });
    expect(config).toEqual(checkWithShared({}, {}, { env }).config);
    expect(shared.used).toEqual([]);
    expect(shared.ignored).toHaveLength(7);
  });

  it('do not excuse a file with a problem of its own', () => {
    expect(() =>
      checkWithShared({ library: { topK: 'x' } }, { library: { tokenBudget: 900 } }, { env }),
    ).toThrow('library.topK: must be a number');
  });
});

describe('an edit of the shared settings', () => {
  const edit = (path: readonly (string | number)[], value: Json, input: object = {}) =>
    editShared({ library: { topK: 4 } }, { path, value }, input, { env });

  it('is refused with the fix for what is of each gateway, and for a secret', () => {
    expect(() => edit(['gateway', 'port'], 4700)).toThrow(
      'gateway.port: is of each gateway alone (set it on each gateway, without --shared; these can be shared: library,',
    );
    expect(() => edit(['store'], { keepDays: 3, url: 'sqlite' })).toThrow('store.url: is of each gateway');
    expect(() => edit(['learn', 'verifiers'], [])).toThrow('programs and files of one machine');
    expect(() => edit(['schedule', 'calendar', 'ics'], 'https://x.example/private')).toThrow('secret');
    const key = `sk-proj-${'Ab3dEf6hIj9l'.repeat(4)}`;
    expect(() => edit(['router'], { cheap: `local/${key}`, strong: 'local/b' }, LOCAL)).toThrow(
      'has a secret in it',
    );
    expect(() => edit(['library', 'domains', 0], {})).toThrow('set the list as a whole');
  });

  it('is refused for a bad value, also where the file of this gateway would overrule it', () => {
    expect(() => edit(['library', 'topK'], 'many', { library: { topK: 3 } })).toThrow(
      'library.topK: must be a number',
    );
  });

  it('says when it changes nothing', () => {
    expect(edit(['library', 'topK'], 4).isSame).toBe(true);
    expect(edit(['library', 'topK'], 5)).toEqual({ document: { library: { topK: 5 } }, isSame: false });
  });
});

async function open(text: string) {
  const dir = mkdtempSync(join(tmpdir(), 'instar-shared-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  const home = openHome(join(dir, 'home'));
  writeFileSync(home.configFile, text);
  const { settings } = await openSettings({ file: home.configFile, env }, home);
  const warnings: unknown[] = [];
  const log = { warn: (...said: unknown[]) => void warnings.push(said.at(-1)) };
  return { home, settings, warnings, log: log as never };
}

describe('a gateway that follows the shared settings', () => {
  it('uses them at once, hears of each change, and warns once of what it ignores', async () => {
    const { home, settings, warnings, log } = await open('{"learn": {"failures": 9}}');
    const facts = [stored(1, ['library', 'topK'], 2), stored(2, ['learn', 'failures'], 4)];
    const listeners: (() => void | Promise<void>)[] = [];
    const shared = {
      on: (_: unknown, listen: never) => void listeners.push(listen),
      onBegun: () => undefined,
    };
    const applied: string[] = [];
    settings.onChange(async (change) => void applied.push(...change.applied));
    await followSharedSettings({ live: settings, records: { events: async () => facts }, shared, log });
    expect([settings.config.library.topK, settings.config.learn.failures]).toEqual([2, 9]);
    expect(settings.config.store.keepDays).toBe(180);

    facts.push(stored(3, ['library', 'topK'], 6), stored(4, ['library', 'dreams'], true));
    await listeners[0]?.();
    await listeners[0]?.();
    expect(settings.config.library.topK).toBe(6);
    expect(applied.filter((path) => path === 'library.topK')).toHaveLength(2);
    expect(warnings).toEqual([
      expect.stringContaining('the shared setting library.dreams is ignored here: is not a setting'),
    ]);
    expect(describeSettingsState(settings.describe())).toEqual([
      { what: expect.stringContaining('library.dreams'), fix: 'instar config get --shared' },
    ]);
    const { document } = foldSharedSettings(facts);
    const described = describeSettings({ file: home.configFile, env, shared: document });
    const from = (path: string) => described.settings.find((one) => one.path === path)?.from;
    expect([from('library.topK'), from('learn.failures'), from('library.tokenBudget')]).toEqual([
      'shared',
      'file',
      'default',
    ]);
    expect(described.shared.map(({ path, state }) => `${path} ${state}`)).toEqual([
      'learn.failures overruled',
      'library.dreams ignored',
      'library.topK used',
    ]);
  });

  it('erases nothing by age until it could read them', async () => {
    const { settings, warnings, log } = await open('{}');
    let isAway = true;
    const events = async () => {
      if (isAway) throw new Error('away');
      return [stored(1, ['store', 'keepDays'], 4_000)];
    };
    await followSharedSettings({ live: settings, records: { events }, shared: undefined, log, againMs: 10 });
    expect(settings.config.store.keepDays).toBe(0);
    expect(warnings[0]).toContain('the shared settings cannot be read');
    isAway = false;
    await vi.waitFor(() => expect(settings.config.store.keepDays).toBe(4_000), { timeout: 100_000 });
  });

  it('does not go back to what it read before', async () => {
    const { settings } = await open('{}');
    await settings.share({ seq: 5, document: { library: { topK: 5 } } });
    await settings.share({ seq: 4, document: { library: { topK: 4 } } });
    expect(settings.config.library.topK).toBe(5);
  });

  it('still waits for the owner’s word in its own home before it learns more freely', async () => {
    const { settings } = await open('{}');
    await settings.share({ seq: 1, document: { library: { autonomy: 'autonomous' } } });
    expect(settings.config.library.autonomy).toBe('guarded');
    expect(describeSettingsState(settings.describe())[0]?.fix).toBe('instar config check --confirm');
  });
});
