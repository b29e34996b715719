import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { createTemporaryFolder, runInProcess } from '../cli/run-cli.ts';
import { start } from '../record/store/facts.ts';
import { ask } from '../support/client.ts';
import { startDaemon } from '../support/daemon.ts';
import { startProvider } from '../support/provider.ts';
import { requestBody, wholeReply } from '../support/samples.ts';
import { openOldHome, removeOldHomes } from '../upgrade/old-home.ts';

/** Deletes nearly all facts with the first one that is recorded. */
const TRIGGER =
  'create trigger keep_small after insert on facts begin delete from facts where seq < new.seq; end';
const FACTS = 400;

const folder = createTemporaryFolder();
afterAll(() => {
  folder.remove();
  removeOldHomes();
});
let home = '';
let count = 0;
const storeOf = (dir: string): string => path.join(dir, 'instar.sqlite');
const cli = (...args: readonly string[]) => runInProcess([...args, '--home', home]);
const plant = (file: string): void => {
  const db = new DatabaseSync(file);
  db.exec(TRIGGER);
  db.close();
};
const factsIn = (file: string): unknown => {
  const db = new DatabaseSync(file, { readOnly: true });
  const found = db.prepare('select count(*) as facts from facts').get();
  db.close();
  return found.facts;
};

beforeEach(() => {
  home = path.join(folder.dir, `home-${++count}`);
  mkdirSync(home, { mode: 0o700 });
  const store = openSqliteStore({ file: storeOf(home) });
  const facts = Array.from({ length: FACTS }, (_, nth) => ({ at: nth, fact: start(`t${nth}`, 's1') }));
  store.append({ facts });
  store.close();
});

describe('a backup with a trigger', () => {
  it('(S8) is not restored: the record stays, and the refusal names the trigger (the next turn deleted 821 of 822 facts)', async () => {
    const backup = path.join(folder.dir, 'backup.sqlite');
    expect((await cli('backup', backup)).code).toBe(0);
    plant(backup);
    const before = readFileSync(storeOf(home));
    const { code, stderr } = await cli('restore', backup);
    expect(code).toBe(1);
    expect(stderr).toContain('has the trigger "keep_small", which Instar did not create');
    expect(stderr).toContain('name a file that "instar data backup" wrote');
    expect(readFileSync(storeOf(home)).equals(before)).toBe(true);
  });

  it('(S8) is passed over by `doctor --restore` for an older copy without one', async () => {
    const copies = path.join(home, 'snapshots');
    mkdirSync(copies, { mode: 0o700 });
    const copy = (name: string): string => {
      const file = path.join(copies, name);
      copyFileSync(storeOf(home), file);
      return file;
    };
    const sound = copy('2026-03-16T00-00-00-000Z.1.400.sqlite');
    plant(copy('2026-03-17T00-00-00-000Z.2.400.sqlite'));
    writeFileSync(storeOf(home), 'x'.repeat(9000));
    const { code, stdout, stderr } = await cli('doctor', '--restore');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout + stderr).toContain(sound);
    expect(factsIn(storeOf(home))).toBe(FACTS);
  });

  it('(S8) in an older format is not upgraded, and keeps every fact', async () => {
    home = openOldHome('format-2');
    plant(storeOf(home));
    const before = factsIn(storeOf(home));
    const { code, stderr } = await cli('upgrade');
    expect(code).not.toBe(0);
    expect(stderr).toContain('has the trigger "keep_small"');
    expect(factsIn(storeOf(home))).toBe(before);
  });

  it('(S8) as the record of a home is named by doctor with its fix; requests are served and nothing is written into it', async () => {
    plant(storeOf(home));
    const provider = await startProvider((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(wholeReply('openai-chat'));
    });
    const config = {
      providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
      models: { default: 'local/m' },
    };
    writeFileSync(path.join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
    const daemon = await startDaemon(home);
    try {
      const answer = await ask(daemon.port, {
        path: '/v1/chat/completions',
        body: requestBody('openai-chat', false),
        headers: { authorization: `Bearer ${daemon.key}` },
      });
      expect(answer.status).toBe(200);
      const status = await ask(daemon.port, {
        method: 'GET',
        path: '/api/status',
        headers: { authorization: `Bearer ${daemon.ownerKey}` },
      });
      expect(status.text).toContain('keep_small');
    } finally {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      await provider.close();
    }
    expect(factsIn(storeOf(home))).toBe(FACTS);
    const doctor = await cli('doctor');
    expect(doctor.stdout + doctor.stderr).toContain('has the trigger "keep_small"');
    expect(doctor.stdout + doctor.stderr).toContain("'drop trigger keep_small'");
  });
});
