import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ask } from '../support/client.ts';
import type { RunningDaemon } from '../support/daemon.ts';

const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser of this machine; undefined without one. */
export const browserFile: string | undefined = PLACES.find((file) => file !== undefined && existsSync(file));

if (browserFile === undefined)
  process.stderr.write(
    '\nSKIPPED: the tests of the page need chromium, and none was found. Install it (Debian: apt-get install chromium), or name it: CHROMIUM=/path/to/chromium npm run test:web\n\n',
  );

export function openBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: browserFile ?? '',
    // The browser's own sandbox does not start for root.
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...args],
  });
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors of the console, of scripts, and violations of the content security policy. */
  readonly faults: string[];
}

interface PageOptions {
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
}

/** A page that is signed in by a one-time code, as `instar page` prints it. */
export async function openPage(
  browser: Browser,
  daemon: RunningDaemon,
  { width = 1280, theme = 'light' }: PageOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width, height: 860 },
    colorScheme: theme,
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(await pageAddress(daemon));
  await page.waitForSelector('h1');
  return { page, faults };
}

/** The address with a fresh code. */
export async function pageAddress(daemon: RunningDaemon): Promise<string> {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const { text } = await ask(daemon.port, { path: '/api/code', headers, body: '{}' });
  return (JSON.parse(text) as { readonly url: string }).url;
}

/** Shows a view, and waits until nothing loads. */
export async function show(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  const [name = '', id = ''] = hash.replace('#/', '').split('?')[0]?.split('/') ?? [];
  await page.waitForSelector(`main[data-view="${name}/${id}"]`);
  await settled(page);
}

/** Until the heading is there and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main h1', { timeout: 60_000 });
  await page.waitForFunction(() => document.querySelector('.loading') === null, undefined, {
    timeout: 60_000,
  });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds of serious and critical impact, one line each. */
export async function findAxeFaults(page: Page): Promise<readonly string[]> {
  // The policy of the page forbids scripts from elsewhere; the debugger's own world is not bound by it.
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(
    () =>
      (window as { axe?: { run(): Promise<AxeResults> } }).axe?.run() ?? Promise.reject(new Error('no axe')),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
