import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../../support/daemon.ts';
import { browserFile, openBrowser, openPage, show } from '../browser.ts';
import { SEEDED, seedHome } from '../seeded-home.ts';
import { toPalettePng } from './palette-png.ts';

const OUT = path.resolve(process.env.SCREENSHOTS_OUT ?? path.join(import.meta.dirname, '../../../docs/page'));

const VIEWS: readonly (readonly [name: string, hash: string])[] = [
  ['home', '#/home'],
  ['sessions', '#/sessions'],
  ['session', '#/sessions/sess-0112'],
  ['review', '#/lessons?state=proposed'],
  ['lessons', '#/lessons'],
  ['lesson', `#/lessons/${SEEDED.lesson('dates-in-iso')}`],
  ['history', '#/generations?from=1&to=3'],
  ['practice', '#/lab/practice'],
  ['practice-session', '#/lab/practice/tuesday-night'],
  ['training', '#/lab/training'],
  ['settings', '#/settings'],
];

/** `npm run docs:screenshots`: each view in both themes, and narrow, from a seeded home. */
describe.skipIf(browserFile === undefined)('screenshots of the page', () => {
  const home = makeHome({
    providers: {
      anthropic: { wire: 'anthropic', baseUrl: 'https://api.anthropic.com', keyEnv: 'ANTHROPIC_API_KEY' },
    },
    library: { autonomy: 'manual' },
  });
  let daemon: RunningDaemon;
  let browser: Browser;
  beforeAll(async () => {
    mkdirSync(OUT, { recursive: true });
    seedHome(home.dir, Date.now(), { withPayloads: false });
    daemon = await startDaemon(home.dir, [], { ANTHROPIC_API_KEY: 'k-000000000000' });
    browser = await openBrowser();
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    // The record is appraised when the daemon starts: pictures are taken behind it.
    await vi.waitFor(
      async () => {
        const { text } = await ask(daemon.port, { method: 'GET', path: '/api/status', headers });
        const { failures = 0, successes = 0 } = JSON.parse(text).learning?.appraised ?? {};
        expect(failures + successes).toBeGreaterThan(100);
      },
      { timeout: 60_000, interval: 200 },
    );
  });
  afterAll(async () => {
    await browser?.close();
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    home.remove();
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)('are taken in the %s theme, %d pixels wide', async (theme, width) => {
    const { page, faults } = await openPage(browser, daemon, { width, theme });
    for (const [name, hash] of VIEWS) {
      await show(page, hash);
      // A heading alone is a view that has not got its answer yet.
      await page.waitForFunction(() => (document.querySelector('main')?.innerText.length ?? 0) > 120);
      await page.waitForTimeout(400);
      const file = path.join(OUT, `${name}-${width < 500 ? 'narrow' : theme}.png`);
      writeFileSync(file, toPalettePng(await page.screenshot()));
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
