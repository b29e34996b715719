import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plural } from '../../src/text/phrases.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { browserFile, openBrowser, openPage, show, type WatchedPage } from './browser.ts';

const RULE = 'Put the unit behind every amount, such as 12.50 EUR.';
/** A session whose lot is to be shown the first lesson: a number drawn from its name decides. */
const SHOWN = 'wednesday';
/** A difference of 1 is found after 12 sessions when half of them go without; chance may divide them worse. */
const MOST_SESSIONS = 40;
const TASK = 'Write the invoice amounts into report.md';

const LONG = { timeout: 30_000 };

/** The scored sessions that the page tells of: before it shows an interval, and with one. */
function counted(effect: string): number {
  const before = /(\d+) of about \d+ scored sessions/.exec(effect)?.[1];
  if (before !== undefined) return Number(before);
  return [...effect.matchAll(/ of (\d+) session/g)].reduce((sum, [, n]) => sum + Number(n), 0);
}

describe.skipIf(browserFile === undefined)('from a complaint to a lesson that is used', () => {
  let provider: Provider;
  let home: ReturnType<typeof makeHome>;
  let daemon: RunningDaemon;
  let browser: Browser;
  let one: WatchedPage;
  beforeAll(async () => {
    // It obeys what it is shown, and knows nothing else.
    provider = await startProvider((request, response) => {
      const content = `I wrote ${request.body.includes(RULE) ? '12.50 EUR' : '12.50'} into report.md.`;
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
      library: { autonomy: 'manual' },
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
  const last = (): string => provider.seen.at(-1)?.body.toString() ?? '';

  it('teaches what to do while there is nothing', async () => {
    const { page, faults } = one;
    await show(page, '#/sessions');
    await page.getByText('Nothing is recorded yet.').waitFor();
    await page.getByText('instar connect claude-code --write').waitFor();
    for (const [hash, words] of [
      ['#/now', 'Instar learns when a person corrects an agent'],
      ['#/growth', 'No work is recorded in this time.'],
      ['#/lessons', 'Nothing is learned yet.'],
      ['#/generations', 'The library has not changed yet.'],
      ['#/adaptation', 'No events yet.'],
      ['#/practice', 'There are no tasks yet.'],
      ['#/training', 'No training step has run yet.'],
      ['#/memory', 'Nothing is remembered yet.'],
    ] as const) {
      await show(page, hash);
      await page.getByText(words).first().waitFor();
    }
    expect(faults).toEqual([]);
  });

  it('shows the first request in the feed and in the list, without a reload', async () => {
    const { page } = one;
    await show(page, '#/now');
    await page.getByText('live', { exact: true }).waitFor();
    await say('monday', TASK);
    await page.getByText(/clerk got an answer/).waitFor();
    await show(page, '#/sessions');
    await page.getByRole('link', { name: /Write the invoice amounts/ }).waitFor();
    expect(last()).not.toContain('unit behind every amount');
  });

  it('lets the lesson of a complaint wait, and shows it nowhere', async () => {
    const { page } = one;
    await show(page, '#/now');
    await say('monday', TASK, 'I wrote 12.50 into report.md.', `No, that is wrong. From now on: ${RULE}`);
    await page.getByRole('link', { name: /Review 1 lesson/ }).waitFor({ timeout: 60_000 });
    await say('tuesday', `${TASK} again`);
    expect(last()).not.toContain('unit behind every amount');
  });

  it('is approved on the page for the words that were quoted, and shown in the next request', async () => {
    const { page, faults } = one;
    await page.getByRole('link', { name: /Review 1 lesson/ }).click();
    await page.locator('.queue-pane').getByText(RULE).first().waitFor();
    await page.keyboard.press('a');
    await page.getByText(/^Approved: /).waitFor();
    await page.getByText('Nothing waits for you.').waitFor();
    await say(SHOWN, TASK);
    await expect.poll(last).toContain('unit behind every amount');
    // A turn is in the record a moment after its last byte: the list shows it then.
    await show(page, '#/sessions');
    await page.locator(`a[href*="${SHOWN}"]`).first().waitFor();
    await show(page, `#/sessions/${SHOWN}`);
    await page.locator('.turn-lessons').getByRole('link').first().waitFor();
    await page.getByRole('button', { name: 'Why' }).click();
    await page.locator('.why').getByText('shown', { exact: true }).waitFor();
    await page.locator('.turn-lessons').getByRole('link').first().click();
    await page
      .getByRole('region', { name: 'Measured effect' })
      .getByText(/^not measured yet: /)
      .waitFor();
    expect(faults).toEqual([]);
  });

  it('measures the effect against sessions that went without it, and shows it with its interval', async () => {
    const { page, faults } = one;
    const effect = page.getByRole('region', { name: 'Measured effect' });
    const arms = { with: 0, without: 0 };
    const isKnown = (): Promise<boolean> => effect.getByText('It helps: ').isVisible();
    for (let n = 1; n <= MOST_SESSIONS && !(await isKnown()); n++) {
      const answer = await say(`work-${n}`, TASK);
      const isRight = answer.includes('12.50 EUR');
      arms[isRight ? 'with' : 'without']++;
      await say(`work-${n}`, TASK, answer, isRight ? 'instar: good' : 'instar: bad');
      await expect.poll(async () => counted(await effect.innerText()), LONG).toBe(arms.with + arms.without);
    }
    // What the page counts is what the provider answered: nobody else knows who was shown the lesson.
    await effect.getByText('It helps: ').waitFor();
    await effect.getByRole('link', { name: plural(arms.with, 'session'), exact: true }).waitFor();
    const [, low = '0'] = /\[\+([\d.]+), /.exec(await effect.innerText()) ?? [];
    expect(Number(low)).toBeGreaterThan(0);
    await effect.getByRole('link', { name: plural(arms.without, 'session'), exact: true }).click();
    await page.getByText('measured without').waitFor();
    await page.getByText(`${plural(arms.without, 'session')}, that is all.`).waitFor();
    await show(page, '#/lessons');
    await page.getByText(/^\+1\.00 \[\+/).waitFor();
    expect(faults).toEqual([]);
  });
});
