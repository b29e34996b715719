import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 25_000, interval: 50 };

const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let client: Client;

beforeAll(async () => {
  home = makeHome({ learn: { failures: 1 } });
  daemon = await startDaemon(home.dir);
  client = new Client({ name: 'tester', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', '--home', home.dir],
      stderr: 'pipe',
    }),
  );
});
afterAll(async () => {
  await client.close();
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
});

const call = async (name: string, args: Record<string, unknown>) => {
  const { structuredContent, isError } = await client.callTool({ name, arguments: args });
  return { told: structuredContent as JsonObject, isError };
};
const owner = async (where: string): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  return JSON.parse((await ask(daemon.port, { method: 'GET', path: where, headers })).text);
};

describe('instar mcp', () => {
  it('offers its six tools', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'end_episode',
      'give_feedback',
      'list_lessons',
      'log_attempt',
      'pull_experiences',
      'report_event',
      'start_episode',
    ]);
  });

  it("records an episode as a failure and learns from a person's feedback on it", async () => {
    const started = await call('start_episode', { task: 'Book the invoice of May', agent: 'booker' });
    const episode = String(started.told.episode);
    await call('log_attempt', {
      episode,
      action: 'book --month 5',
      result: 'exit code 2: no such month',
      ok: false,
    });
    const second = await call('log_attempt', {
      episode,
      action: 'book --month 05',
      result: 'booked',
      ok: true,
    });
    expect(second.told).toMatchObject({ attempts: 2, failed: 1 });
    await call('end_episode', { episode, outcome: 'failure' });
    const late = await call('log_attempt', { episode, action: 'again', result: 'x', ok: true });
    expect(late.isError).toBe(true);
    await vi.waitFor(
      async () => expect((await owner('/api/status')).learning).toMatchObject({ appraised: { failures: 1 } }),
      SOON,
    );
    const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({
      session: episode,
      score: -1,
      note: 'Always write the month with two digits, such as 05.',
    });
    expect((await ask(daemon.port, { path: '/v1/feedback', body, headers })).status).toBe(200);
    const lessons = await vi.waitFor(async () => {
      const { told } = await call('list_lessons', {});
      const list = told.lessons as readonly JsonObject[];
      expect(list.some(({ kind }) => kind === 'skill')).toBe(true);
      return list;
    }, SOON);
    // Beside what the contrast of its attempts taught, which is on trial.
    expect(lessons.find(({ kind }) => kind === 'skill')).toMatchObject({ state: 'live' });
    const pulled = await call('pull_experiences', {
      task: 'Book the invoice: write the month',
      agent: 'booker',
    });
    expect(JSON.stringify(pulled.told)).toContain('two digits');
    // An episode has no tokens, so it gives no training sample.
    expect((await owner('/api/status')).learning).toMatchObject({ buffer: { query: 0 } });
  });

  it('reports an event with its agent: the one that is named, that of its episode, or the client', async () => {
    const { told } = await call('start_episode', { task: 'Close the till', agent: 'cashier' });
    const report = (data: Record<string, unknown>) => call('report_event', { kind: 'agent_error', ...data });
    await report({ agent: 'porter', data: { error: 'E1' } });
    await report({ session: told.episode, data: { error: 'E2' } });
    await report({ data: { error: 'E3' } });
    await vi.waitFor(async () => {
      const { stdout } = await runInProcess(['adapt', 'events', '--json', '--home', home.dir]);
      const events: readonly JsonObject[] = JSON.parse(stdout);
      const about = events
        .filter(({ kind }) => kind === 'agent_error')
        .map(({ scopeType, scopeId }) => `${scopeType} ${scopeId}`);
      expect(about.sort()).toEqual(['agent cashier', 'agent porter', 'agent tester']);
    }, SOON);
  });

  it('returns an error while the daemon is stopped, and works after its restart', async () => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    const { isError } = await call('start_episode', { task: 'anything' });
    expect(isError).toBe(true);
    daemon = await startDaemon(home.dir);
    expect((await call('start_episode', { task: 'anything' })).isError).toBeFalsy();
  });
});
