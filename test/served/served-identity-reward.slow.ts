import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { PLANTED_IDENTITIES } from '../../src/evidence/judge/planted-identities.ts';
import { wires } from '../../src/wire/wires.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const wire = wires['openai-chat'];
const CAREFUL = 'You count every amount twice.';

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let sums = 0;

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const chat = wire.decodeRequest(asObject(parseJson(request.body.toString())));
    const system = chat.system.map(({ text }) => text).join('\n');
    const body = request.body.toString();
    if (system.startsWith('You check whether a reply')) {
      const isBroken = PLANTED_IDENTITIES.some(
        ({ reply, isKept }) => !isKept && body.includes(JSON.stringify(reply).slice(1, -1)),
      );
      return answer(
        response,
        JSON.stringify({ reason: 'read', score: isBroken || body.includes('Fine') ? -1 : 1 }),
        5,
      );
    }
    if (body.includes('Add up')) {
      const isEven = ++sums % 2 === 0;
      return answer(response, isEven ? 'RIGHT. Fine.' : 'RIGHT. Counted.', isEven ? 5 : 5000);
    }
    answer(response, 'Done.', 5);
  });
  home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
    library: { autonomy: 'guarded' },
    practice: { scheduled: 'off' },
  });
  mkdirSync(path.join(home.dir, 'identity', 'ada'), { recursive: true });
  write(CAREFUL);
  daemon = await startDaemon(home.dir);
  await vi.waitFor(async () => expect(await waiting()).toEqual(['soul-guarded']), SOON);
  expect((await identity(['approve', 'ada', '--unmeasured'], ['y'])).code).toBe(0);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const answer = (response: ServerResponse, content: string, tokens: number): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: 'r',
      object: 'chat.completion',
      model: 'm',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
      usage: { prompt_tokens: 10, completion_tokens: tokens },
    }),
  );
};
const write = (guarded: string): void =>
  writeFileSync(path.join(home.dir, 'identity', 'ada', 'SOUL.md'), `# Ada\n\n## Guarded\n\n${guarded}\n`);
const identity = (args: readonly string[], keys?: readonly string[]) =>
  runInProcess(['identity', ...args, '--home', home.dir], {}, keys && { keys });
const parts = async (): Promise<readonly JsonObject[]> =>
  JSON.parse((await identity(['show', 'ada', '--json'])).stdout);
const waiting = async (): Promise<readonly unknown[]> =>
  (await parts()).filter(({ state }) => state === 'proposed').map(({ name }) => name);
const practice = async (what: string, body: JsonObject): Promise<JsonObject> =>
  asObject(
    parseJson(
      (
        await ask(daemon.port, {
          path: `/api/practice/${what}`,
          headers: { authorization: `Bearer ${daemon.ownerKey}` },
          body: JSON.stringify(body),
        })
      ).text,
    ),
  );

describe('rewards of practice', () => {
  const set = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await runInProcess(['config', 'set', ...args, '--home', home.dir]);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  };
  /** Groups with better and worse attempts, of attempts that are all right. */
  const run = async (): Promise<{ readonly kept: number; readonly said: string }> => {
    await vi.waitFor(async () => {
      const begun = await practice('run', { kind: 'exploratory', domain: 'sums', tasks: 2, group: 4 });
      expect(begun).toEqual({ started: true });
    }, SOON);
    await vi.waitFor(async () => expect((await practice('status', {})).running).toBeUndefined(), SOON);
    const { counts, end, perTask } = await practice('report', {});
    expect([end, asObject(counts).groups]).toEqual(['done', 2]);
    const { stdout } = await runInProcess(['practice', 'report', '--home', home.dir]);
    return { kept: Number(asObject(counts).kept), said: `${JSON.stringify(perTask)} ${stdout}` };
  };
  const kept = async (): Promise<number> => (await run()).kept;

  it('are made of the parts that the owner weighs, and say of each attempt what they are made of', async () => {
    const lines = [
      'wheat',
      'sailing boats',
      'piano lessons',
      'blankets',
      'honey',
      'road signs',
      'chess sets',
      'umbrellas',
    ]
      .map((what) =>
        JSON.stringify({
          prompt: `Add up ${what}`,
          domain: 'sums',
          agent: 'ada',
          check: { kind: 'regex', pattern: 'RIGHT' },
        }),
      )
      .join('\n');
    await practice('add', { text: lines, file: 'sums.jsonl' });
    expect(await kept()).toBe(0);
    await set('learn.identity.reward.efficiency', '0.01');
    expect(await kept()).toBe(0);
    await set('learn.identity.reward.efficiency', '1');
    const timed = await run();
    expect(timed.kept).toBe(2);
    expect(timed.said).toMatch(/made of task 1\.00 × 1 \(verifier\), efficiency 0\.\d\d × 1 \(tokens\)/);
    await set('learn.identity.reward.efficiency', '0');
    await set('models.judge', 'local/judge');
    expect(await kept()).toBe(0);
    await set('learn.identity.reward.identity', '0.5');
    const judged = await run();
    expect(judged.kept).toBe(2);
    expect(judged.said).toMatch(
      /made of task 1\.00 × 1 \(verifier\), identity [01]\.00 × 0\.5 \(local\/judge\)/,
    );
  });
});
