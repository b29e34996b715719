import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { browserFile, openBrowser, openPage, show, type WatchedPage } from './browser.ts';
import { PAYLOADS } from './payloads.ts';
import { SEEDED, seedHome } from './seeded-home.ts';

describe.skipIf(browserFile === undefined)('words of models, tools and people on the page', () => {
  const home = makeHome({ library: { autonomy: 'manual' } });
  let daemon: RunningDaemon;
  let browser: Browser;
  let one: WatchedPage;
  const requested: string[] = [];
  beforeAll(async () => {
    seedHome(home.dir, Date.now(), { withPayloads: true });
    daemon = await startDaemon(home.dir);
    browser = await openBrowser();
    one = await openPage(browser, daemon);
    one.page.on('request', (request) => requested.push(request.url()));
    await one.page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(window, { violations: seen });
      addEventListener('securitypolicyviolation', (event) => seen.push(event.blockedURI));
    });
  });
  afterAll(async () => {
    await browser?.close();
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    home.remove();
  });

  /** What would be in the document if a text had been taken for markup. */
  const findMarkup = (): Promise<readonly string[]> =>
    one.page.evaluate(() =>
      [...document.querySelectorAll('main *, body > *')]
        .filter(
          (element) =>
            [
              'IMG',
              'IFRAME',
              'OBJECT',
              'EMBED',
              'VIDEO',
              'AUDIO',
              'MARQUEE',
              'STYLE',
              'LINK',
              'META',
              'BASE',
            ].includes(element.tagName.toUpperCase()) ||
            (element.tagName === 'SCRIPT' && element.parentElement !== document.body) ||
            [...element.attributes].some(({ name }) => name.startsWith('on')) ||
            /^(?:javascript|data|vbscript|\/\/)/i.test(element.getAttribute('href') ?? '') ||
            (element.hasAttribute('href') && !/^#/.test(element.getAttribute('href') ?? '')),
        )
        .map((element) => element.outerHTML.slice(0, 120)),
    );

  const check = async (place: string): Promise<void> => {
    expect([place, ...(await findMarkup())]).toEqual([place]);
    const { ran, violations } = await one.page.evaluate(() => {
      const { ran, violations } = window as { ran?: unknown; violations?: readonly string[] };
      return { ran, violations };
    });
    expect(ran).toBeUndefined();
    expect(violations).toEqual([]);
    expect(one.faults).toEqual([]);
  };

  it('has a corpus of at least 100 texts', () => {
    expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(100);
  });

  it('runs nothing of any of them in a session: question, tool call and result, reasoning, answer, note, agent', async () => {
    for (const [index, payload] of PAYLOADS.entries()) {
      await show(one.page, `#/sessions/${SEEDED.payload(index)}`);
      await one.page.waitForSelector('.turn');
      await one.page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      await check(payload);
    }
  });

  it('runs nothing of them in the lists, in lessons, in generations and in events', async () => {
    for (const hash of [
      '#/sessions',
      '#/sessions?q=window.ran',
      '#/lessons',
      '#/generations',
      '#/lab/adaptation',
      '#/home',
    ]) {
      await show(one.page, hash);
      await check(hash);
    }
    // The library refuses some of them outright.
    const listed = await one.page.evaluate(async () => {
      const response = await fetch('/api/page/lessons?q=payload-&limit=500', {
        headers: { 'x-instar-page': localStorage.getItem('instar-page') ?? '' },
      });
      return (await response.json()) as { readonly lessons: readonly { readonly id: string }[] };
    });
    const ids = listed.lessons.map(({ id }) => id).filter((id) => id.includes('payload-'));
    expect(ids.length).toBeGreaterThan(60);
    for (const id of ids) {
      await show(one.page, `#/lessons/${id}`);
      await one.page.waitForSelector('.lesson-content');
      await check(id);
    }
    await show(one.page, '#/lessons?state=proposed');
    await one.page.waitForSelector('.queue-pane .lesson-content');
    await check('the queue');
    const elsewhere = requested.filter((url) => !url.startsWith(`http://127.0.0.1:${daemon.port}/`));
    expect(elsewhere).toEqual([]);
  });

  it('makes hidden and bidirectional characters visible', async () => {
    const bidi = PAYLOADS.findIndex((payload) => payload.includes('\u202E'));
    await show(one.page, `#/sessions/${SEEDED.payload(bidi)}`);
    await one.page.getByText('U+202E').first().waitFor();
    expect(await one.page.locator('main').textContent()).not.toContain('\u202E');
    const zero = PAYLOADS.findIndex((payload) => payload.includes('\u200B'));
    await show(one.page, `#/sessions/${SEEDED.payload(zero)}`);
    await one.page.getByText('U+200B').first().waitFor();
    expect(await one.page.locator('main').textContent()).not.toMatch(/[\u200B\uFEFF\u00AD\u2060]/);
  });
});
