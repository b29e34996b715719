import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { browserFile, openBrowser, openPage, settled, show, type WatchedPage } from './browser.ts';

const RULE = 'We always use ISO dates in shipping reports.';
const TITLE = 'Use ISO dates in shipping reports';
const TASK = 'Write the shipping report for the parcels of last week.';
const KEPT = 'The parcels left on 2026-11-16.';
const BROKEN = 'The parcels left on 11/16/2026.';

describe.skipIf(browserFile === undefined)('from a complaint to a rule that is kept', () => {
  let provider: Provider;
  let home: ReturnType<typeof makeHome>;
  let daemon: RunningDaemon;
  let browser: Browser;
  let one: WatchedPage;
  let isDeaf = false;
  beforeAll(async () => {
    // It obeys what it is shown, and knows nothing else.
    provider = await startProvider((request, response) => {
      const content = !isDeaf && request.body.includes(RULE) ? KEPT : BROKEN;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [
            {
              index: 0,
              message: { role: 'assistant', content },
              finish_reason: 'stop',
            },
          ],
          usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
        }),
      );
    });
    home = makeHome({
      providers: { caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    });
    daemon = await startDaemon(home.dir);
    browser = await openBrowser();
    one = await openPage(browser, daemon);
  });
  afterAll(async () => {
    await browser?.close();
    daemon?.child.kill('SIGTERM');
    await daemon?.exited;
    await provider?.close();
    home?.remove();
  });

  const say = async (session: string, ...messages: readonly string[]): Promise<string> => {
    const body = JSON.stringify({
      model: 'caller/m',
      messages: messages.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
    });
    const headers = {
      'x-instar-key': daemon.key,
      'x-instar-session': session,
      'x-instar-agent': 'clerk',
      authorization: 'Bearer caller-credential-000',
      ...(/^instar: /.test(messages.at(-1) ?? '') ? { 'x-instar-session-done': '1' } : {}),
    };
    const { status, text } = await ask(daemon.port, { path: '/v1/chat/completions', body, headers });
    expect(status).toBe(200);
    return (JSON.parse(text) as { readonly choices: readonly [{ message: { content: string } }] }).choices[0]
      .message.content;
  };
  /** Counts are read with the page: it is loaded again until they are there. */
  const shows = (words: string): Promise<void> =>
    expect
      .poll(
        async () => {
          await one.page.reload();
          await settled(one.page);
          return one.page.locator('main').innerText();
        },
        { timeout: 60_000, interval: 500 },
      )
      .toContain(words);
  const last = (): string => provider.seen.at(-1)?.body.toString() ?? '';

  it('teaches what to do while there is nothing', async () => {
    const { page, faults } = one;
    await show(page, '#/sessions');
    await page.getByText('Nothing is recorded yet.').waitFor();
    await page.getByText('instar connect claude-code --write').waitFor();
    for (const [hash, words] of [
      ['#/home', 'Connect your agent.'],
      ['#/home', 'Say what was wrong in the chat'],
      ['#/home', 'Nothing needs your decision.'],
      ['#/lessons', 'Nothing is learned yet.'],
      ['#/generations', 'The library has not changed yet.'],
      ['#/lab', 'Nothing has run here yet.'],
    ] as const) {
      await show(page, hash);
      await page.getByText(words).first().waitFor();
    }
    // What nobody has used is no place to go.
    await show(page, '#/home');
    expect(await page.getByRole('navigation', { name: 'Views' }).getByRole('link').allTextContents()).toEqual(
      ['Home', 'Lessons', 'Sessions', 'Settings'],
    );
    expect(faults).toEqual([]);
  });

  it('draws the first request on Home and lists it, without a reload', async () => {
    const { page } = one;
    await show(page, '#/home');
    await page.getByText('live', { exact: true }).waitFor();
    await say('monday', TASK);
    await page.getByText('Too early to tell: 1 session so far.').waitFor();
    expect(await page.locator('.chart-line circle').count()).toBe(2);
    await show(page, '#/sessions');
    await page.getByRole('link', { name: /Write the shipping report/ }).waitFor();
    expect(last()).not.toContain(RULE);
  });

  it('keeps a rule that was said once: the next conversation has it, and the page says so', async () => {
    const { page, faults } = one;
    await say('monday', TASK, BROKEN, `No, that is wrong. ${RULE}`);
    // Wherever the person is, one line says what was learned, with a way back.
    await page.getByRole('status').getByText(`Learned: ${TITLE}`).waitFor({ timeout: 60_000 });
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).waitFor();
    await show(page, '#/lessons');
    await page.getByRole('link', { name: TITLE }).first().waitFor({ timeout: 60_000 });
    expect(await say('tuesday', TASK)).toBe(KEPT);
    expect(last()).toContain(RULE);
    // The list counts it without a reload.
    await page.getByText('1 of 1').first().waitFor({ timeout: 60_000 });
    await show(page, '#/home');
    await page.getByText('corrected once → kept 1 of 1').waitFor();
    await page.getByRole('link', { name: TITLE }).first().click();
    await page
      .getByText(/kept 1 of 1/)
      .first()
      .waitFor();
    await page.getByRole('region', { name: 'Evidence' }).getByText(RULE).first().waitFor();
    expect(faults).toEqual([]);
  });

  it('shows a broken rule again in the same conversation, and counts that it was told again', async () => {
    const { faults } = one;
    isDeaf = true;
    expect(await say('wednesday', TASK)).toBe(BROKEN);
    await shows('kept 1 of 2');
    await say('wednesday', TASK, BROKEN, 'And the week before?');
    expect(last()).toContain('the last answer did not keep to it');
    await say('wednesday', TASK, BROKEN, 'And the week before?', BROKEN, `No. ${RULE}`);
    await shows('kept 1 of 2, told again 1');
    await show(one.page, '#/sessions/wednesday');
    await one.page.getByText('rules: kept 0 of 1').first().waitFor();
    expect(faults).toEqual([]);
  });
});
