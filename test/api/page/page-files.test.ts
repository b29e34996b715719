import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPageFiles } from '../../../src/api/page/page-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-web-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const build = (hash: string): void => {
  mkdirSync(path.join(folder, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'assets', `main-${hash}.js`), `// ${hash}`);
  writeFileSync(path.join(folder, 'favicon.svg'), '<svg/>');
  writeFileSync(path.join(folder, 'index.html'), `<script src="/assets/main-${hash}.js"></script>`);
};

describe('the files of the page', () => {
  it('are not there before they are built', () => {
    const files = openPageFiles(folder);
    expect(files.isBuilt()).toBe(false);
    expect(files.file('/')).toBeUndefined();
  });

  it('are kept for a year under a name with a hash, and never under another', async () => {
    build('a1');
    const files = openPageFiles(folder);
    const script = await files.file('/assets/main-a1.js');
    expect(script).toMatchObject({
      type: 'text/javascript; charset=utf-8',
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    });
    for (const place of ['/', '/favicon.svg'])
      expect(await files.file(place)).toMatchObject({ headers: { 'cache-control': 'no-store' } });
  });

  it('allow no script, style, frame or connection but their own', async () => {
    build('a1');
    const page = await openPageFiles(folder).file('/');
    expect(page).toMatchObject({
      type: 'text/html; charset=utf-8',
      headers: {
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      },
    });
  });

  it('are only those of the folder, whatever a path says', () => {
    build('a1');
    writeFileSync(path.join(folder, '..', 'outside.json'), '{}');
    const files = openPageFiles(path.join(folder));
    files.file('/');
    for (const place of [
      '/../outside.json',
      '/assets/../../outside.json',
      '/outside.json',
      '/index.html',
      '/assets/',
      '//',
    ])
      expect([place, files.file(place)]).toEqual([place, undefined]);
    rmSync(path.join(folder, '..', 'outside.json'));
  });

  it('are read again after a new build', async () => {
    build('a1');
    const files = openPageFiles(folder);
    expect(files.file('/')).toBeDefined();
    build('b2');
    utimesSync(path.join(folder, 'index.html'), new Date(), new Date(Date.now() + 5000));
    const page = await files.file('/');
    expect(page !== undefined && 'text' in page && page.text.toString()).toContain('main-b2.js');
    expect(files.file('/assets/main-b2.js')).toBeDefined();
  });
});
