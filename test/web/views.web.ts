import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import {
  browserFile,
  findAxeFaults,
  openBrowser,
  openPage,
  settled,
  show,
  type WatchedPage,
} from './browser.ts';
import { SEEDED, seedHome } from './seeded-home.ts';

/** Each view, with words that it shows when it has read its data. */
const VIEWS: readonly (readonly [hash: string, words: string])[] = [
  ['#/home', 'Better?'],
  ['#/sessions', 'Write the invoice amounts'],
  [`#/sessions/${SEEDED.corrected}`, 'put the unit behind every amount'],
  ['#/lessons', 'Write dates as'],
  ['#/lessons?state=proposed', 'Ask first'],
  [`#/lessons/${SEEDED.lesson('dates-in-iso')}`, 'times as 14:02'],
  ['#/generations', 'in force'],
  ['#/generations?from=0&to=4', 'never force-push, others work on this branch'],
  ['#/lab', 'Sessions of practice'],
  ['#/lab/practice', 'six sessions went badly this week'],
  ['#/lab/practice/tuesday-night', 'Groups of attempts'],
  ['#/lab/training', 'Next 24 hours'],
  ['#/lab/adaptation', 'In force'],
  ['#/settings', 'instar connect claude-code'],
];

/** What makes the page wider than the screen. */
const findWide = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const over = document.documentElement.scrollWidth - innerWidth;
    if (over <= 0) return [];
    const wide = [...document.querySelectorAll('main *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth)
      .map((element) => `${element.tagName} ${element.className} ${element.textContent?.slice(0, 40)}`);
    return [`${over} pixels`, ...wide.slice(0, 8)];
  });

describe.skipIf(browserFile === undefined)('the page', () => {
  const home = makeHome({ library: { autonomy: 'manual' } });
  let daemon: RunningDaemon;
  let browser: Browser;
  let one: WatchedPage;
  beforeAll(async () => {
    seedHome(home.dir, Date.now(), { withPayloads: false });
    daemon = await startDaemon(home.dir);
    browser = await openBrowser();
    one = await openPage(browser, daemon);
  });
  afterAll(async () => {
    await browser?.close();
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    home.remove();
  });

  it.each(VIEWS)('shows %s without an error, and axe finds nothing serious', async (hash, words) => {
    const { page, faults } = one;
    await show(page, hash);
    await page.getByText(words).first().waitFor();
    expect(await page.title()).toMatch(/ – Instar$/);
    expect(await findAxeFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('answers three questions above the fold of Home, and leads from each answer to its evidence', async () => {
    const { page } = one;
    await show(page, '#/home');
    for (const name of ['Better?', 'Learned', 'Decide']) {
      const box = await page.getByRole('region', { name, exact: true }).boundingBox();
      expect(box?.y, name).toBeLessThan(600);
    }
    const better = page.getByRole('region', { name: 'Better?' });
    await better.getByRole('img', { name: /^Corrections and broken rules for ten sessions/ }).waitFor();
    await better.getByText('Never force-push').waitFor();
    const learned = page.getByRole('region', { name: 'Learned' });
    await learned
      .getByText(/^kept \d+ of \d+$/)
      .first()
      .waitFor();
    await learned.getByRole('link', { name: 'Never force-push' }).click();
    await page.getByRole('heading', { name: 'Never force-push' }).waitFor();
    await show(page, '#/home');
    await better.getByText('The same as a table').click();
    const day = better.getByRole('row').nth(1);
    const sessions = Number(await day.getByRole('cell').nth(1).textContent());
    await day.getByRole('link').click();
    await page.getByRole('button', { name: /^Remove the filter: / }).waitFor();
    await page.getByText('that is all.').waitFor();
    // The list has those that were active on that day, the table those that began on it.
    expect(await page.locator('tr[data-row]').count()).toBeGreaterThanOrEqual(Math.min(sessions, 10));
  });

  it('has five places to go, and a menu for them on a phone', async () => {
    const { page, faults } = await openPage(browser, daemon, { width: 390 });
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    expect(await links.count()).toBe(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Lab' }).waitFor();
    expect((await links.allTextContents()).map((words) => words.replace(/\d.*/, ''))).toEqual([
      'Home',
      'Lessons',
      'Sessions',
      'Lab',
      'Settings',
    ]);
    await links.nth(2).click();
    await page.waitForSelector('main[data-view="sessions/"]');
    expect(await links.count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)(
    'has the contrast of WCAG AA in the %s theme, and fits 390 pixels',
    async (theme) => {
      const { page, faults } = await openPage(browser, daemon, { width: 390, theme });
      for (const [hash] of VIEWS) {
        await show(page, hash);
        expect([hash, ...(await findWide(page))]).toEqual([hash]);
        expect([hash, ...(await findAxeFaults(page))]).toEqual([hash]);
      }
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  it('paints in less than a second, and is not larger than its budget', async () => {
    const { page } = await openPage(browser, daemon);
    const { paint, bytes } = await page.evaluate(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.POSITIVE_INFINITY,
      bytes: performance
        .getEntriesByType('resource')
        .filter((entry) => entry.name.includes('/assets/'))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    }));
    // The budget is a second; a machine that does other things at the same time gets five.
    expect(paint).toBeLessThan(5000);
    expect(bytes).toBeLessThan(400 * 1024);
    await page.context().close();
  });

  it('is used by keys alone: views, rows, search, help, and a visible focus', async () => {
    const { page } = one;
    await show(page, '#/home');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForFunction(() => location.hash === '#/sessions');
    await page.waitForSelector('tr[data-row="1"]');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement?.closest('tr')?.dataset.row === '1');
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement as Element).outlineStyle,
    );
    expect(outline).toBe('solid');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.startsWith('#/sessions/'));
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.querySelector('dialog[open]') === null);
    await page.keyboard.press('/');
    await page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'search');
    await page.keyboard.type('nightly import');
    await page.waitForFunction(() => location.hash.includes('q=nightly'));
    await page.getByText('Why does the nightly import fail').first().waitFor();
    await expect.poll(() => page.getByText('Rename the column').count()).toBe(0);
  });

  it('keeps only the rows in sight in the document, whatever the length of the list', async () => {
    const { page } = one;
    await show(page, '#/sessions');
    await page.waitForSelector('tr[data-row="20"]');
    const rows = (): Promise<number> => page.locator('tr[data-row]').count();
    expect(await rows()).toBeLessThan(60);
    await expect
      .poll(async () => {
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        return page.getByText('that is all.').count();
      })
      .toBe(1);
    expect(await rows()).toBeLessThan(60);
    const last = await page.locator('tr[data-row]').last().getAttribute('data-row');
    expect(Number(last)).toBeGreaterThan(150);
  });

  it('leads from the evidence of a lesson to the turn that it rests on', async () => {
    const { page } = one;
    await show(page, `#/lessons/${SEEDED.lesson('unit-behind-amount')}`);
    await page.getByRole('region', { name: 'Evidence' }).getByRole('link').first().click();
    await page.waitForSelector(`#turn-turn-${SEEDED.corrected}-1.is-wanted`);
    await settled(page);
  });

  it('opens a long session at the turn of the link, with one request, and gives it the focus', async () => {
    const { page } = one;
    const asked: string[] = [];
    const count = (request: Request): void => {
      if (request.url().includes(`/api/page/sessions/${SEEDED.long}`)) asked.push(request.url());
    };
    page.on('request', count);
    await show(page, `#/sessions/${SEEDED.long}?turn=turn-${SEEDED.long}-20`);
    const turn = page.locator(`#turn-turn-${SEEDED.long}-20`);
    await turn.waitFor();
    await page.waitForFunction((id) => document.activeElement?.id === id, `turn-turn-${SEEDED.long}-20`);
    expect(await turn.evaluate((element) => element.getBoundingClientRect().top)).toBeLessThan(200);
    expect(asked).toHaveLength(1);
    page.off('request', count);
    // From there it goes on in both directions.
    await page.getByRole('button', { name: 'Later turns' }).click();
    await page.locator(`#turn-turn-${SEEDED.long}-40`).waitFor();
    await show(page, `#/sessions/${SEEDED.long}?turn=turn-of-nobody`);
    await page.getByText('The turn turn-of-nobody is not in this session.').waitFor();
  });

  it('shows a sentence and nothing of the record to a browser without a code', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${daemon.port}/#/sessions`);
    await page.getByText('instar page', { exact: true }).waitFor();
    expect(await page.getByText('nightly import').count()).toBe(0);
    await context.close();
  });
});
