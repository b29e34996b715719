import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportTrajectories } from '../../src/api/export-trajectories.ts';
import { createRemoteApi } from '../../src/api/remote-api.ts';
import { openHome } from '../../src/config/home.ts';
import { readOrCreateOwnerKey } from '../../src/config/owner-key.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';

const stage = createStage();
let instar: InstarHere;
const TOOLS = [
  { type: 'function', function: { name: 'run', parameters: { type: 'object', properties: {} } } },
];

beforeAll(async () => {
  const provider = await stage.provider('p', (_, response) => replyWith(response, 'The total is 42.00 EUR.'));
  instar = await stage.open('export', {
    providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1` } },
    models: { evolver: 'off', judge: 'off' },
  });
  await instar.addLesson({
    name: 'state-the-unit',
    description: 'When you write a total of money.',
    content: 'Write every total of money with its unit, such as EUR.',
  });
  const call = { id: 'c1', type: 'function', function: { name: 'run', arguments: '{"command":"sum"}' } };
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Write the total of money of May' }] },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: '42.00' },
  ];
  await instar.chat('', { session: 'good', messages, tools: TOOLS });
  await instar.chat('Write the total of money of June', { session: 'bad' });
  await instar.chat('Hello there', { session: 'silent' });
  await instar.daemon.settle();
  await instar.owner('POST', '/v1/feedback', { session: 'good', score: 1 });
  await instar.owner('POST', '/v1/feedback', { session: 'bad', score: -1, note: 'wrong month' });
  await instar.daemon.settle();
});
afterAll(() => stage.close());

async function rowsOf(format: 'trajectories' | 'trl' | 'art'): Promise<readonly JsonObject[]> {
  const rows: JsonObject[] = [];
  const { key } = readOrCreateOwnerKey(openHome(instar.dir), {});
  const { api } = createRemoteApi({ url: `http://127.0.0.1:${instar.port}` }, key);
  await exportTrajectories({
    api,
    hasSecret: () => false,
    write: (line) => void rows.push(asObject(JSON.parse(line))),
    format,
  });
  return rows;
}
const sessionOf = ({ id, session, metadata }: JsonObject): string =>
  String(id ?? session ?? asObject(metadata).session).replace(/^.*[:/]/, '');

describe('exported trajectories', () => {
  it('carry the verdict, its parts and judge, the generation, support or query, and the lessons shown', async () => {
    const rows = new Map((await rowsOf('trajectories')).map((row) => [sessionOf(row), row]));
    const turn = (session: string): JsonObject => asObject(asArray(rows.get(session)?.turns)[0]);
    expect(turn('good')).toMatchObject({
      verdict: 'success',
      reward: 1,
      judgedBy: 'person',
      data: 'query',
      lessons: ['lesson-1'],
    });
    expect(asArray(turn('good').parts)).toContainEqual({
      name: 'feedback',
      source: 'person',
      score: 1,
      weight: 1,
    });
    expect(turn('good').generation).toBeGreaterThan(0);
    expect(turn('bad')).toMatchObject({ verdict: 'failure', judgedBy: 'person', data: 'support' });
    expect(turn('silent')).not.toHaveProperty('verdict');
  });

  it('are rows of prompt, completion, label and reward for TRL, and messages with a reward for ART', async () => {
    const trl = await rowsOf('trl');
    expect(trl.map((row) => [sessionOf(row), row.label, row.reward]).sort()).toEqual([
      ['bad', false, 0],
      ['good', true, 1],
    ]);
    const good = trl.find((row) => row.label === true) ?? {};
    expect(good.prompt).toMatchObject([
      { role: 'user', content: 'Write the total of money of May' },
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'run' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '42.00' },
    ]);
    expect(good.completion).toEqual([{ role: 'assistant', content: 'The total is 42.00 EUR.' }]);
    const art = await rowsOf('art');
    expect(art.map(({ reward }) => reward).sort()).toEqual([0, 1]);
    expect(asArray(art[0]?.messages_and_choices).length).toBeGreaterThan(1);
  });

  // The path of a Python with `datasets`, and `trl` and `openpipe-art` where they are there.
  const python = process.env.INSTAR_LOADER_PYTHON;
  it.skipIf(python === undefined)(
    'come back unchanged from the loaders of training programs, one of which trains on them',
    { timeout: 300_000 },
    async () => {
      const folder = stage.folder();
      const rows = await rowsOf('trl');
      const files = (['trl', 'art'] as const).map(async (format) => {
        const file = path.join(folder, `${format}.jsonl`);
        writeFileSync(file, (await rowsOf(format)).map((row) => JSON.stringify(row)).join('\n'));
        return file;
      });
      const script = path.join(import.meta.dirname, 'train-on-rows.py');
      const ran = spawnSync(python ?? '', [script, ...(await Promise.all(files)), folder], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: folder, HF_HUB_OFFLINE: '1' },
      });
      expect(ran.status, ran.stderr.slice(-1200)).toBe(0);
      const told = asObject(JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? ''));
      expect(told.rows).toEqual(
        rows.map((row) => [
          row.label,
          row.reward,
          asObject(asArray(row.completion)[0]).content,
          asObject(asArray(row.prompt).at(-1)).role,
        ]),
      );
      if ('loss' in told) expect(Number(told.loss)).toBeGreaterThan(0);
      if ('art' in told) expect(asArray(told.art).map(Number).sort()).toEqual([0, 1]);
    },
  );
});
