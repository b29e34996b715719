import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createFeed, type Feed } from '../../../src/api/page/feed.ts';
import type { FeedEvent } from '../../../src/api/page/feed-events.ts';
import type { JsonObject } from '../../../src/core/json.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Opened {
  readonly port: number;
  readonly events: FeedEvent[];
  readonly looks: () => number;
  status: JsonObject;
  /** How many facts each look passes, where it is not its events. */
  passed?: number;
  readonly feed: Feed;
}

/** A feed behind a real server; `events` is its record, numbered from 1. */
async function openFeed(): Promise<Opened> {
  const events: FeedEvent[] = [];
  let looks = 0;
  const opened: Pick<Opened, 'events' | 'looks' | 'status' | 'passed'> = {
    events,
    looks: () => looks,
    status: { library: { generation: 4 }, waiting: [] },
  };
  const feed = createFeed({
    reads: {
      lastSeq: async () => events.length,
      feed: async (after) => {
        looks++;
        const page = events.slice(after);
        return { last: page.at(-1)?.id ?? after, passed: opened.passed ?? page.length, events: page };
      },
    },
    status: () => opened.status,
    log: { warn: () => undefined },
    lookMs: 5,
    patienceMs: 1000,
    waitingMs: 10,
  });
  const server = http.createServer((request, response) => {
    const last = Number(request.headers['last-event-id'] ?? Number.NaN);
    const joined = feed.join(Number.isSafeInteger(last) ? last : undefined);
    if ('stream' in joined) joined.stream(response);
    else response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    feed.close();
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(opened, { port: (server.address() as AddressInfo).port, feed });
}

const add = (events: FeedEvent[], count: number, data: JsonObject = {}): void => {
  for (let n = 0; n < count; n++) events.push({ id: events.length + 1, event: 'turn', data });
};

interface Page {
  text: string;
  isClosed: boolean;
  readonly response: http.IncomingMessage;
  leave(): void;
}

function visit(port: number, headers: Record<string, string> = {}): Promise<Page> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, host: '127.0.0.1', headers, agent: false }, (response) => {
      const page: Page = { text: '', isClosed: false, response, leave: () => request.destroy() };
      response.on('close', () => {
        page.isClosed = true;
      });
      response.on('error', () => undefined);
      resolve(page);
    });
    request.on('error', reject);
  });
}

const read = (page: Page): Page => {
  page.response.on('data', (chunk: Buffer) => {
    page.text += chunk.toString();
  });
  return page;
};

const idsIn = ({ text }: Page): number[] =>
  [...text.matchAll(/id: (\d+)\nevent: turn/g)].map((match) => Number(match[1]));

describe('the feed', () => {
  it('says where it begins, then what happens', async () => {
    const { port, events } = await openFeed();
    add(events, 3);
    const page = read(await visit(port));
    await expect.poll(() => page.text).toContain('id: 3\nevent: hello\ndata: {"generation":4');
    add(events, 2);
    await expect.poll(() => idsIn(page)).toEqual([4, 5]);
  });

  it('tells that learning has settled once it has read all that was told (not while it is at work, and once)', async () => {
    const opened = await openFeed();
    opened.status = { ...opened.status, learning: { pending: 1 } };
    const page = read(await visit(opened.port));
    await expect.poll(() => page.text).toContain('event: hello');
    add(opened.events, 1);
    await expect.poll(() => idsIn(page)).toEqual([1]);
    expect(page.text).not.toContain('settled');
    // What learning did is told first.
    add(opened.events, 1);
    opened.status = { ...opened.status, learning: { pending: 0 } };
    await expect.poll(() => page.text).toContain('event: settled');
    expect(page.text.indexOf('id: 2\n')).toBeLessThan(page.text.indexOf('event: settled'));
    const looked = opened.looks();
    await expect.poll(opened.looks).toBeGreaterThan(looked + 3);
    expect(page.text.split('event: settled')).toHaveLength(2);
  });

  it('resumes behind the last event that a page has seen, each once', async () => {
    const { port, events } = await openFeed();
    add(events, 20);
    const page = read(await visit(port, { 'last-event-id': '7' }));
    await expect.poll(() => idsIn(page).length).toBe(13);
    expect(idsIn(page)).toEqual(Array.from({ length: 13 }, (_, n) => n + 8));
  });

  it('tells a page that is too far behind, or comes from another record, to load again', async () => {
    const { port, events } = await openFeed();
    add(events, 6000);
    const behind = read(await visit(port, { 'last-event-id': '1' }));
    const other = read(await visit(port, { 'last-event-id': '999999' }));
    for (const page of [behind, other]) await expect.poll(() => page.text).toContain('event: reset');
    add(events, 1);
    for (const page of [behind, other]) await expect.poll(() => idsIn(page)).toEqual([6001]);
  });

  it('drops a page that does not read, and keeps the others', async () => {
    const { port, events } = await openFeed();
    const slow = await visit(port);
    slow.response.pause();
    const quick = read(await visit(port));
    await expect.poll(() => quick.text).toContain('hello');
    // More than the buffers of the system hold.
    for (let round = 0; round < 40 && !slow.isClosed; round++) {
      add(events, 400, { why: 'x'.repeat(1000) });
      await expect.poll(() => idsIn(quick).at(-1)).toBe(events.length);
    }
    slow.response.resume();
    await expect.poll(() => slow.isClosed).toBe(true);
    expect(quick.isClosed).toBe(false);
  });

  it('tells what waits when that has changed, and looks at nothing when no page is open', async () => {
    const opened = await openFeed();
    const page = read(await visit(opened.port));
    await expect.poll(() => page.text).toContain('event: waiting');
    opened.status = { library: { generation: 4 }, waiting: [{ code: 'needs-approval', count: 1 }] };
    opened.events.push({ id: opened.events.length + 1, event: 'library', data: {} });
    await expect.poll(() => page.text).toContain('"count":1,"items":[{"code":"needs-approval"');
    page.leave();
    await expect
      .poll(async () => {
        const before = opened.looks();
        await new Promise((resolve) => setTimeout(resolve, 50));
        return opened.looks() - before;
      })
      .toBe(0);
  });
});

describe('while much is recorded', () => {
  it('the record is looked at less often, and again once it is quiet', async () => {
    const opened = await openFeed();
    const page = await visit(opened.port);
    await expect.poll(() => page.text.length + opened.looks()).toBeGreaterThan(3);
    opened.passed = 100_000;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = opened.looks();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    // Every 20 ms at most, not every 5.
    expect(opened.looks() - before).toBeLessThanOrEqual(60);
    page.leave();
  });
});
