import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import {
  browserFile,
  openBrowser,
  openPage,
  pageAddress,
  settled,
  show,
  type WatchedPage,
} from './browser.ts';
import { SEEDED, seedHome } from './seeded-home.ts';

describe.skipIf(browserFile === undefined)('decisions on the page', () => {
  const home = makeHome({ library: { autonomy: 'manual' } });
  let daemon: RunningDaemon;
  let browser: Browser;
  let one: WatchedPage;
  let page: Page;
  beforeAll(async () => {
    seedHome(home.dir, Date.now(), { withPayloads: false });
    daemon = await startDaemon(home.dir);
    browser = await openBrowser();
    one = await openPage(browser, daemon);
    page = one.page;
  });
  afterAll(async () => {
    await browser?.close();
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    home.remove();
  });

  const owner = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    const answer = await ask(daemon.port, {
      method: body === undefined ? 'GET' : 'POST',
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return JSON.parse(answer.text) as Record<string, unknown>;
  };
  const stateOf = async (name: string): Promise<unknown> =>
    (await owner(`/api/lessons/${SEEDED.lesson(name)}`)).state;
  const titleOf = async (name: string): Promise<string> =>
    String((await owner(`/api/lessons/${SEEDED.lesson(name)}`)).title);
  const review = async (name: string): Promise<void> => {
    await show(page, `#/lessons?state=proposed&lesson=${SEEDED.lesson(name)}`);
    await page.getByRole('heading', { level: 2, name: await titleOf(name) }).waitFor();
  };

  it('approves by the button, and the lesson is in use after a reload', async () => {
    await review('ask-before-migrations');
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText(`Kept: ${await titleOf('ask-before-migrations')}`).waitFor();
    expect(await stateOf('ask-before-migrations')).toBe('live');
    await page.reload();
    await show(page, '#/lessons?state=live');
    await page
      .getByRole('link', { name: await titleOf('ask-before-migrations') })
      .first()
      .waitFor();
  });

  it('edits and approves a lesson on Home, without leaving it', async () => {
    await show(page, '#/home');
    const card = page.locator('.card').filter({ hasText: await titleOf('quote-paths') });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('What it says').fill('Quote every path in a command, also in scripts.');
    await card.getByRole('button', { name: 'Save as a new revision' }).click();
    await page.getByText(/^Saved: /).waitFor();
    await card.getByText('also in scripts').first().waitFor();
    expect(await stateOf('quote-paths')).toBe('proposed');
  });

  it('rejects by the key r, goes on to the next lesson, and the rejection survives a reload', async () => {
    await review('quote-paths');
    await page.keyboard.press('r');
    await page.getByText(`Dropped: ${await titleOf('quote-paths')}`).waitFor();
    await page.getByRole('heading', { level: 2, name: await titleOf('unit-behind-amount') }).waitFor();
    await page.reload();
    await settled(page);
    expect(await stateOf('quote-paths')).toBe('rejected');
  });

  it('refuses a decision about a text that is no longer there, and shows what changed', async () => {
    await review('unit-behind-amount');
    // Another window revises it; this one is told by nobody, as when the feed is lost.
    await page.route('**/api/feed?*', (route) => route.abort());
    await page.route(`**/api/page/lessons/${SEEDED.lesson('unit-behind-amount')}`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    const id = SEEDED.lesson('unit-behind-amount');
    const { hash } = await owner(`/api/lessons/${id}`);
    const text = { content: 'The user said:\n\n> Put the unit in front of every amount.' };
    await owner(`/api/page/lessons/${id}`, { do: 'edit', shown: hash, text });
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText('It changed while you read it.').waitFor();
    await page.locator('.diff-line.is-added', { hasText: 'in front of every amount' }).waitFor();
    expect(await stateOf('unit-behind-amount')).toBe('proposed');
    await page.getByRole('button', { name: 'Go on with the new text' }).click();
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByText(`Kept: ${await titleOf('unit-behind-amount')}`).waitFor();
    expect(await stateOf('unit-behind-amount')).toBe('live');
    await page.unrouteAll();
    one.faults.length = 0;
  });

  it('edits, pins and retires a lesson, each on record', async () => {
    await show(page, `#/lessons/${SEEDED.lesson('small-commits')}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('What it says').fill('One change for each commit, and nothing else.');
    await page.getByRole('button', { name: 'Save as a new revision' }).click();
    await page.getByText(`Saved: ${await titleOf('small-commits')}`).waitFor();
    await page.getByRole('button', { name: 'Pin' }).click();
    await page.getByText(`Pinned: ${await titleOf('small-commits')}`).waitFor();
    await page.getByRole('button', { name: 'Drop', exact: true }).click();
    await page.getByText(`Dropped: ${await titleOf('small-commits')}`).waitFor();
    await page.reload();
    await page.getByText('One change for each commit, and nothing else.').first().waitFor();
    await page.getByRole('button', { name: 'Bring back' }).waitFor();
    await page.locator('.diff-line.is-added', { hasText: 'and nothing else' }).waitFor();
  });

  it('rolls back to a generation after it showed what that changes, and it survives a reload', async () => {
    await show(page, '#/generations');
    const before = Number((await owner('/api/page/generations')).generation);
    await page.getByRole('button', { name: 'Roll back to generation 2', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('is dropped').first().waitFor();
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled back to generation 2.').waitFor();
    await page.reload();
    await page.getByText(`generation ${before + 1} is in force`).waitFor();
    expect(await stateOf('no-force-push')).toBe('retired');
    expect(await stateOf('dates-in-iso')).toBe('live');
  });

  it('is asked on Home what was wrong with an answer that was rated bad, and teaches by the reply', async () => {
    await show(page, '#/home');
    const decide = page.getByRole('region', { name: 'Decide' });
    const ask = decide.locator('form').filter({ hasText: 'What was wrong?' }).first();
    const turn = (await ask.getByRole('link').first().getAttribute('href'))?.split('turn=')[1] ?? '';
    await ask.getByLabel('What was wrong?').fill('name the file that you changed');
    await ask.getByRole('button', { name: 'Teach' }).click();
    await page.getByText('Saved. Instar learns from it.').waitFor();
    const { rewards } = await owner(`/api/turns/${turn}`);
    expect(rewards).toContainEqual(
      expect.objectContaining({ source: 'person', score: -1, note: 'name the file that you changed' }),
    );
    await page.reload();
    await settled(page);
    await expect.poll(() => decide.locator(`a[href*="${turn}"]`).count()).toBe(0);
  });

  it('rates a turn with a note, marks a session for practice, and erases one for good', async () => {
    await show(page, '#/sessions/sess-0004');
    const turn = page.locator('#turn-turn-sess-0004-2');
    await turn.getByRole('button', { name: 'Bad' }).click();
    await turn.getByLabel('What should be different').fill('name the file');
    await turn.getByRole('button', { name: 'Rate' }).click();
    await turn.getByText('name the file').waitFor();
    await page.getByRole('button', { name: 'Mark for practice' }).click();
    await page.getByText('worth practising', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Erase' }).click();
    await page.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByText('This session is erased.').waitFor();
    await page.reload();
    await page.getByText('This session is erased.').waitFor();
    const { turns } = await owner('/api/page/sessions/sess-0004');
    expect(JSON.stringify(turns)).not.toContain('Explain what the scheduler');
  });

  it('turns learning off and on, and makes and revokes a key that is shown once', async () => {
    await show(page, '#/settings');
    await page.getByRole('switch', { name: 'Turn learning off' }).click();
    await page.getByRole('switch', { name: 'Turn learning on' }).waitFor();
    expect((await owner('/api/learning')).on).toBe(false);
    await page.getByRole('switch', { name: 'Turn learning on' }).click();
    await page.getByRole('switch', { name: 'Turn learning off' }).waitFor();
    await page.getByLabel('Name of a new key').fill('laptop');
    await page.getByRole('button', { name: 'Make a key' }).click();
    const dialog = page.getByRole('dialog', { name: 'The key of laptop' });
    expect(await dialog.locator('.command code').textContent()).toMatch(/\S{20,}/);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Revoke laptop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked laptop.').waitFor();
  });

  it('asks for a new code when the browser is signed out, and opens with it', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('opens with a code that works once').waitFor();
    expect(await page.getByText('instar connect').count()).toBe(0);
    await page.goto(await pageAddress(daemon));
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(new URL(page.url()).hash).not.toContain('code');
    expect(one.faults.filter((fault) => !/401|ERR_FAILED|409/.test(fault))).toEqual([]);
  });
});

describe.skipIf(browserFile === undefined)('a home that trains weights', () => {
  const home = makeHome({ train: { engine: 'nano' } });
  let daemon: RunningDaemon;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    daemon = await startDaemon(home.dir);
    browser = await openBrowser();
    ({ page } = await openPage(browser, daemon));
  });
  afterAll(async () => {
    await browser?.close();
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    home.remove();
  });

  it('turns training on live traffic on and off again, and the setting is in the config', async () => {
    await show(page, '#/lab/training');
    const isLive = async (): Promise<unknown> =>
      (JSON.parse(readFileSync(path.join(home.dir, 'config.json'), 'utf8')) as { train: { live?: boolean } })
        .train.live ?? false;
    const live = page.getByRole('switch', { name: /live traffic/ });
    expect(await live.getAttribute('aria-checked')).toBe('false');
    await live.click();
    await page.getByText('Live traffic trains too.').waitFor();
    await page.getByRole('switch', { name: 'Stop training on live traffic', checked: true }).waitFor();
    expect(await isLive()).toBe(true);
    await page.reload();
    await page.getByRole('switch', { name: 'Stop training on live traffic' }).click();
    await page.getByText('Live traffic no longer trains, from the next step on.').waitFor();
    await page.getByRole('switch', { name: 'Train on live traffic too', checked: false }).waitFor();
    expect(await isLive()).toBe(false);
  });
});
