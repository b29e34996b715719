import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { createLiveSettings, followSettings } from '../../src/config/live-settings.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { withFormerKeys } from '../../src/config/own-keys.ts';
import { describeRestart, describeSettingsState } from '../../src/config/settings-state.ts';

const SOON = { timeout: 100_000, interval: 10 };
const undo: (() => void)[] = [];
afterEach(() => {
  for (const run of undo.splice(0)) run();
});

function open(text: string) {
  const dir = mkdtempSync(join(tmpdir(), 'instar-live-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'config.json');
  const write = (next: string): void => {
    writeFileSync(`${file}.new`, next);
    renameSync(`${file}.new`, file);
  };
  write(text);
  const load = async () => loadConfig({ file, env: {} }).config;
  const settings = createLiveSettings({
    config: loadConfig({ file, env: {} }).config,
    source: { file, load },
  });
  return { file, write, settings };
}

describe('live settings', () => {
  it('are read through the section that was kept; a value that was taken out stays', async () => {
    const { write, settings } = open('{"library": {"topK": 3}}');
    const { library, gateway } = settings.config;
    const { topK } = library;
    const { allowedHosts } = gateway;
    write('{"library": {"topK": 5}, "gateway": {"allowedHosts": ["box"]}}');
    const report = await settings.reload();
    expect(report).toEqual({
      applied: ['gateway.allowedHosts', 'library.topK'],
      restart: [],
      unchanged: false,
    });
    expect([topK, library.topK]).toEqual([3, 5]);
    expect([allowedHosts, gateway.allowedHosts]).toEqual([[], ['box']]);
    expect({ ...library }).toMatchObject({ topK: 5, tokenBudget: 1500 });
    expect(structuredClone(settings.config.library)).toMatchObject({ topK: 5 });
    expect(settings.config.schedule.calendar).toBeUndefined();
  });

  it('stay as they are for an invalid file, and say why until it is valid again', async () => {
    const { write, settings } = open('{"library": {"topK": 3}}');
    write('{"library": {"topK": "many"}}');
    await expect(settings.reload()).rejects.toThrow('library.topK: must be a number');
    expect(settings.config.library.topK).toBe(3);
    expect(settings.describe()).toMatchObject({ problem: expect.stringContaining('library.topK') });
    expect(describeSettingsState(settings.describe())).toEqual([
      { what: expect.stringContaining('stay in force'), fix: 'instar config check' },
    ]);
    write('{}');
    await settings.reload();
    expect(settings.describe()).not.toHaveProperty('problem');
    expect(describeSettingsState(settings.describe())).toEqual([]);
  });

  it('tell their listeners in order, one change at a time, and not when nothing changed', async () => {
    const { write, settings } = open('{}');
    const heard: string[] = [];
    settings.onChange(async ({ before, applied }) => {
      await new Promise((resolve) => setImmediate(resolve));
      heard.push(`${applied.join()} ${before.library.topK} to ${settings.config.library.topK}`);
    });
    settings.onChange(async () => void heard.push('second'));
    write('{"library": {"topK": 1}}');
    await Promise.all([settings.reload(), settings.reload()]);
    expect(heard).toEqual(['library.topK 6 to 1', 'second']);
  });

  it('cannot be reloaded where a program gave them', async () => {
    const { config } = checkConfig({}, { env: {} });
    await expect(createLiveSettings({ config }).reload()).rejects.toThrow('come from the program');
  });

  it('keep the keys of former providers known to the redactor', async () => {
    const { write, settings } = open('{"log": {"level": "warn"}}');
    const keys = withFormerKeys(settings, ({ log }) => [`key-of-${log.level}`]);
    expect(keys()).toEqual(['key-of-warn']);
    write('{"log": {"level": "debug"}}');
    await settings.reload();
    expect(keys()).toEqual(['key-of-warn', 'key-of-debug']);
  });
});

describe('followSettings', () => {
  const follow = (text: string) => {
    const opened = open(text);
    const lines: string[] = [];
    const note = (fields: object | string) => void lines.push(String(fields));
    const log = { debug: note, info: note, warn: note, error: note };
    const { settings, file } = opened;
    const followed = followSettings({ settings, files: [file], log, everyMs: 10 });
    undo.push(followed.close);
    return { ...opened, lines, followed };
  };

  it('notices a file that was replaced, and one that came back', async () => {
    const { write, settings, file } = follow('{"library": {"topK": 3}}');
    write('{"library": {"topK": 4}}');
    await vi.waitFor(() => expect(settings.config.library.topK).toBe(4), SOON);
    rmSync(file);
    await vi.waitFor(() => expect(settings.config.library.topK).toBe(6), SOON);
    write('{"library": {"topK": 7}}');
    await vi.waitFor(() => expect(settings.config.library.topK).toBe(7), SOON);
  });

  it('logs one line for one problem, however often the file is looked at', async () => {
    const { write, settings, lines, followed } = follow('{}');
    write('{"library": }');
    await vi.waitFor(() => expect(settings.describe()).toHaveProperty('problem'), SOON);
    await followed.reloadNow();
    await followed.reloadNow();
    expect(lines).toEqual([
      expect.stringMatching(/stay in force: .*line 1, column 13.* instar config check$/),
    ]);
    write('{"gateway": {"port": 1}}');
    await vi.waitFor(() => expect(lines).toHaveLength(2), SOON);
    await followed.reloadNow();
    expect(lines[1]).toBe('gateway.port changes at the next start: instar stop && instar up');
    expect(lines).toHaveLength(2);
  });
});

it('says "change" for several settings', () => {
  expect(describeRestart(['a', 'b'])).toBe('a, b change at the next start: instar stop && instar up');
});
