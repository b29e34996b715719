import { createHash, createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSignIns } from '../../src/api/page/sign-ins.ts';
import { homeAt } from '../../src/config/home.ts';
import { newKey } from '../../src/config/key.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Browser, SAME_ORIGIN, signIn } from '../support/page.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const signIns = (...tokens: readonly string[]) =>
  tokens.map((token) => ({ token: hashOf(token), word: hashOf('word'), issuedAt: 1000, usedAt: 2000 }));

describe('the file of those who are signed in', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sign-ins-'));
  const file = path.join(folder, 'sign-ins.json');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const log = { warn: () => undefined };
  const open = (key: string | undefined, of = file) => openSignIns({ file: of, key: () => key, log });
  const owner = newKey('owner');

  it('(12) is private, and is read under the owner key that wrote it alone', () => {
    open(owner).write(signIns('a', 'b'));
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain(owner);
    expect(open(owner).read()).toEqual(signIns('a', 'b'));
    // A new owner key, another home, a key that the daemon cannot read.
    expect(open(newKey('owner')).read()).toEqual([]);
    expect(open(undefined).read()).toEqual([]);
  });

  it('(12) gains nobody who writes it without the owner key, and a changed file signs everybody out', () => {
    open(owner).write(signIns('a'));
    const whole = JSON.parse(readFileSync(file, 'utf8'));
    const list = JSON.stringify(signIns('forged'));
    const secrets = ['', hashOf(owner), newKey('caller'), newKey('owner')];
    const macs = [
      undefined,
      7,
      '',
      whole.mac,
      `${whole.mac}=`,
      ...secrets.map((secret) => signed(secret, list)),
    ];
    const forged = [
      ...macs.map((mac) => JSON.stringify({ mac, list })),
      JSON.stringify({ ...whole, list: whole.list.replace('1000', '9000') }),
      JSON.stringify(signIns('forged')),
      '{"mac":',
      '',
    ];
    for (const text of forged) {
      writeFileSync(file, text);
      expect(open(owner).read()).toEqual([]);
    }
    // The proof that these tests can fail.
    writeFileSync(file, JSON.stringify({ mac: signed(owner, list), list }));
    expect(open(owner).read()).toEqual(signIns('forged'));
  });

  it('(12) is removed where the owner key is protected: the daemon could not tell a forged one', () => {
    open(owner).write(signIns('a'));
    open(undefined).write(signIns('a'));
    expect(existsSync(file)).toBe(false);
  });

  it('a disk that refuses it signs nobody out', () => {
    const nowhere = open(owner, path.join(folder, 'missing', 'sign-ins.json'));
    expect(() => nowhere.write(signIns('a'))).not.toThrow();
    expect(nowhere.read()).toEqual([]);
  });
});

describe('a browser that is signed in', () => {
  let home: ReturnType<typeof makeHome>;
  let daemon: RunningDaemon;
  const stop = async (): Promise<void> => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  };
  /** The status of what it asks. Tests get another port with each start, and a cookie is named after its port. */
  const asks = async ({ cookie, word }: Pick<Browser, 'cookie' | 'word'>): Promise<number> => {
    const token = cookie.slice(cookie.indexOf('=') + 1);
    const headers = { ...SAME_ORIGIN, cookie: `instar_page_${daemon.port}=${token}`, 'x-instar-page': word };
    return (await ask(daemon.port, { method: 'GET', path: '/api/learning', headers })).status;
  };

  beforeAll(async () => {
    home = makeHome({ train: { engine: 'off' } });
    daemon = await startDaemon(home.dir);
  });
  afterAll(async () => {
    await stop();
    home.remove();
  });

  it('(12) stays so over a restart, with its cookie and its word and with no half of them, until all are signed out', async () => {
    const browser = await signIn(daemon);
    const { signInsFile } = homeAt(home.dir);
    const kept = readFileSync(signInsFile, 'utf8');
    for (const secret of [browser.word, browser.cookie.split('=')[1] ?? '', daemon.ownerKey])
      expect(kept).not.toContain(secret);
    await stop();
    daemon = await startDaemon(home.dir);
    expect(await asks(browser)).toBe(200);
    expect(await asks({ ...browser, word: 'guess' })).toBe(401);
    expect(await asks({ ...browser, cookie: `${browser.cookie}x` })).toBe(401);
    // What is in the file signs nobody in.
    const [{ token, word }] = JSON.parse(JSON.parse(kept).list);
    expect(await asks({ cookie: `x=${token}`, word })).toBe(401);

    const signOut = await runInProcess(['page', '--sign-out', '--home', home.dir]);
    expect(signOut).toMatchObject({ code: 0, stdout: expect.stringContaining('signed out') });
    expect(await asks(browser)).toBe(401);
    expect(existsSync(signInsFile)).toBe(false);
  });
});

/** As the daemon signs, under any secret. */
function signed(secret: string, list: string): string {
  const key = createHmac('sha256', secret).update('instar page sign-ins').digest();
  return createHmac('sha256', key).update(list).digest('base64url');
}
