import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compareVersions, readChangelog, releasesBetween } from '../../src/api/upgrade-home.ts';
import { VERSION } from '../../src/base/package.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { findRemoved, withoutRemoved } from '../../src/config/removed-settings.ts';
import { asObject, parseJson } from '../../src/core/json.ts';
import { formatOfStore, NEWEST_FORMAT } from '../../src/record/upgrade-store.ts';
import { runCli, runInProcess } from '../cli/run-cli.ts';
import { startDaemon } from '../support/daemon.ts';
import { startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import { backupsOf, emptyFolder, HOMES, OLD, openOldHome, removeOldHomes, storeOf } from './old-home.ts';

const root = path.resolve(import.meta.dirname, '../..');
afterEach(removeOldHomes);

const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
const json = (text: string): ReturnType<typeof asObject> => asObject(parseJson(text));

describe('instar upgrade', () => {
  it.each(OLD)('says what it would do to a home of $name, and changes nothing', async ({ name, format }) => {
    const home = openOldHome(name);
    const before = hashOf(storeOf(home));
    const { code, stdout } = await runInProcess(['upgrade', '--plan', '--json', '--home', home]);
    expect({ code, plan: json(stdout) }).toMatchObject({
      code: 0,
      plan: {
        from: '0.1.0',
        to: VERSION,
        isMigration: true,
        record: { is: 'file', format, newFormat: NEWEST_FORMAT },
      },
    });
    expect(json(stdout).configProblem).toBeUndefined();
    expect(hashOf(storeOf(home))).toBe(before);
    const { stdout: words } = await runInProcess(['upgrade', '--plan', '--home', home]);
    expect(words).toContain(`format ${format}; becomes format ${NEWEST_FORMAT}, after a backup`);
  });

  it.each(OLD)(
    'copies a home of $name as it is, changes the format, and keeps every fact',
    async ({ name, format, facts, lessons }) => {
      const home = openOldHome(name);
      const { code, stdout } = await runInProcess(['upgrade', '--json', '--home', home]);
      expect({ code, done: json(stdout) }).toMatchObject({ code: 0, done: { facts, damage: [] } });
      expect(formatOfStore(storeOf(home))).toBe(NEWEST_FORMAT);
      const [backup = '', ...more] = backupsOf(home);
      expect(more).toEqual([]);
      expect(formatOfStore(backup)).toBe(format);

      const { stdout: listed } = await runInProcess(['sessions', 'list', '--home', home]);
      for (const order of [1041, 1042, 1043, 1044, 1045])
        expect(listed).toContain(`When was order ${order} shipped?`);
      expect(listed.match(/\[bad\]/g)).toHaveLength(4);
      const { stdout: long } = await runInProcess(['sessions', 'show', 'long-1', '--full', '--home', home]);
      for (const words of ['Which orders are open?', 'Only those of November.', 'And their totals?'])
        expect(long).toContain(words);
      const { stdout: learned } = await runInProcess(['lessons', 'list', '--json', '--home', home]);
      for (const lesson of lessons) expect(learned).toContain(lesson);

      const again = await runInProcess(['upgrade', '--home', home]);
      expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to change') });
      expect(backupsOf(home)).toHaveLength(1);
    },
  );

  it('makes a backup that the restore of this version takes, too', async () => {
    const home = openOldHome('format-2');
    await runInProcess(['upgrade', '--home', home]);
    const [backup = ''] = backupsOf(home);
    const { code } = await runInProcess(['restore', backup, '--home', home]);
    expect(code).toBe(0);
    expect((await runInProcess(['sessions', 'list', '--home', home])).stdout).toContain('order 1045');
  });

  it('leaves no erased words in its backup', async () => {
    const home = openOldHome('format-2');
    await runInProcess(['upgrade', '--home', home]);
    const [backup = ''] = backupsOf(home);
    expect(readFileSync(backup, 'latin1')).toContain('order 1043');
    const { code } = await runInProcess(['sessions', 'erase', 'shop-2', '--yes', '--home', home]);
    expect(code).toBe(0);
    expect(readFileSync(backup, 'latin1')).not.toContain('order 1043');
  });

  it('does not touch a record of a newer format, a damaged one, or one whose config is wrong', async () => {
    const newer = openOldHome('format-2');
    const bytes = readFileSync(storeOf(newer));
    bytes.writeUInt32BE(NEWEST_FORMAT + 1, 60);
    writeFileSync(storeOf(newer), bytes);
    expect(await runInProcess(['upgrade', '--home', newer])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('newer Instar'),
    });
    expect(readFileSync(storeOf(newer)).equals(bytes)).toBe(true);

    const damaged = openOldHome('format-1');
    const torn = readFileSync(storeOf(damaged));
    torn.fill(0xa5, 4096 * 3, 4096 * 6);
    writeFileSync(storeOf(damaged), torn);
    expect((await runInProcess(['upgrade', '--home', damaged])).code).toBe(1);
    expect(readFileSync(storeOf(damaged)).readUInt32BE(60)).toBe(1);

    const wrong = openOldHome('format-1');
    writeFileSync(path.join(wrong, 'config.json'), '{"gatway": {}}');
    expect(await runInProcess(['upgrade', '--home', wrong])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('gatway'),
    });
    expect(formatOfStore(storeOf(wrong))).toBe(1);
  });

  it('changes the format without a copy when it is told to', async () => {
    const home = openOldHome('format-3');
    expect(await runInProcess(['upgrade', '--no-backup', '--home', home])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Upgraded: 32 facts, all of them checked.'),
    });
    expect(formatOfStore(storeOf(home))).toBe(NEWEST_FORMAT);
    expect(backupsOf(home)).toEqual([]);
  });

  it('has nothing to do for a home that nothing ran on', async () => {
    const home = path.join(emptyFolder(), 'none');
    expect(await runInProcess(['upgrade', '--home', home])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('needs no upgrade'),
    });
    // A command made its record: it is of this version.
    await runInProcess(['config', 'set', 'library.topK', '3', '--home', home]);
    expect((await runInProcess(['upgrade', '--home', home])).stdout).not.toContain('0.1.0');
  });
});

describe('a home of 0.1.0 under this version', () => {
  it.each([
    ['format-2', 'after instar upgrade', true],
    ['format-3', 'with instar up alone', false],
  ])(
    '(%s) serves with its old key and shows its lesson, %s',
    async (name, _how, isUpgraded) => {
      const provider = await startProvider((_request, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(wholeReply('openai-chat'));
      });
      try {
        const home = openOldHome(name, provider.port);
        const key = readFileSync(path.join(home, 'key'), 'utf8').trim();
        if (isUpgraded) await runInProcess(['upgrade', '--home', home]);
        const daemon = await startDaemon(home);
        try {
          expect(await runCli(['upgrade', '--home', home])).toMatchObject({
            code: 3,
            stderr: expect.stringContaining('instar stop'),
          });
          const reply = await fetch(`http://127.0.0.1:${daemon.port}/v1/chat/completions`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${key}`,
              'content-type': 'application/json',
              'x-instar-agent': 'clerk',
            },
            body: JSON.stringify({
              model: 'clerk-1',
              messages: [
                { role: 'user', content: 'When was order 1046 shipped? Write the shipping report.' },
              ],
            }),
          });
          expect(reply.status).toBe(200);
          const asked = provider.seen.filter(({ url }) => url.endsWith('/chat/completions'));
          expect(asked[0]?.body.toString()).toContain('ISO dates like 2026-11-16 in shipping reports');
        } finally {
          daemon.child.kill('SIGTERM');
          await daemon.exited;
        }
        expect(backupsOf(home).map(formatOfStore)).toEqual([name === 'format-2' ? 2 : 3]);
        const { stdout } = await runInProcess(['upgrade', '--plan', '--json', '--home', home]);
        expect(json(stdout)).toMatchObject({ from: VERSION, releases: [], isMigration: false });
      } finally {
        await provider.close();
      }
    },
    120_000,
  );

  it('keeps its config: every setting of 0.1.0 has the value that it was given, or its successor is named', () => {
    const input = JSON.parse(readFileSync(path.join(HOMES, 'config-0.1.json'), 'utf8'));
    const { config } = checkConfig(input, { env: {} });
    expect(config).toMatchObject(asObject(withoutRemoved(input, findRemoved(input))));
  });
});

describe('the changelog', () => {
  const text = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');

  it('has this version, newest first, each release with its day and known headings', () => {
    const releases = readChangelog(text);
    expect(releases.map(({ version }) => version)).toContain(VERSION);
    for (const [nth, { version, date, changes }] of releases.entries()) {
      expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
      const next = releases[nth + 1];
      if (next !== undefined) expect(compareVersions(version, next.version)).toBeGreaterThan(0);
      for (const [title, lines] of Object.entries(changes)) {
        expect(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security', 'Measured']).toContain(
          title,
        );
        expect(lines.length).toBeGreaterThan(0);
      }
    }
  });

  it('tells what is new since a version, and nothing of what that version had', () => {
    expect(releasesBetween('0.1.0', '0.2.0', text).map(({ version }) => version)).toEqual(['0.2.0']);
    expect(releasesBetween('0.2.0', '0.2.0', text)).toEqual([]);
    expect(compareVersions('0.10.0', '0.9.9')).toBeGreaterThan(0);
  });
});
