import { appendFile, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { asString } from '../../../../src/core/json.ts';
import {
  createModelJournal,
  headOnly,
  openModelJournal,
  readModelJournal,
} from '../../../../train/nano/server/model-journal.ts';
import { startTinkerServer, type TinkerServer } from '../../../../train/nano/server/start-tinker-server.ts';
import { createBigramEngine } from './bigram-engine.ts';
import {
  createClient,
  createModel,
  createSession,
  newFolder,
  stepBody,
  TEST_KEY,
  trainBody,
} from './tinker-client.ts';

/** A server that can be closed and started again in the same folder, with a new engine that knows nothing. */
async function restartable(limits = {}) {
  const folder = await newFolder();
  const log: string[] = [];
  let server: TinkerServer | undefined;
  const start = async (): Promise<void> => {
    server = await startTinkerServer({
      engine: createBigramEngine(),
      folder,
      port: 0,
      key: TEST_KEY,
      limits,
      log: (line) => log.push(line),
    });
  };
  await start();
  return {
    ...createClient(() => server?.url ?? ''),
    folder,
    log,
    start,
    stop: async () => server?.close(),
    restart: async (between: () => Promise<void> = async () => undefined) => {
      await server?.close();
      await between();
      await start();
    },
  };
}

const filesIn = async (folder: string, part: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true }))
    .filter((name) => name.includes(part))
    .map((name) => path.join(folder, name));
const flipByte = async (file: string, at: number): Promise<void> => {
  const bytes = await readFile(file);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] ?? 0) ^ 0xff;
  await writeFile(file, bytes);
};

describe('a server that was stopped', () => {
  it('restores its sessions, models, samplers and results', async () => {
    const home = await restartable({ snapshotSteps: 2 });
    const session_id = await createSession(home);
    const model = await createModel(home, session_id);
    const answers = [];
    for (let seq = 1; seq <= 7; seq += 2) {
      answers.push(await home.outcome('forward_backward', trainBody(model, seq)));
      answers.push(await home.outcome('optim_step', stepBody(model, seq + 1)));
    }
    const passing = await home.outcome('save_weights_for_sampler', {
      model_id: model,
      seq_id: 9,
      sampling_session_seq_id: 0,
    });
    const ask = {
      sampling_session_id: passing.sampling_session_id,
      seq_id: 0,
      prompt: { chunks: [{ tokens: [1] }] },
      sampling_params: { max_tokens: 5, seed: 1 },
    };
    const drawn = await home.outcome('asample', ask);
    const before = (await home.outcome('forward_backward', trainBody(model, 10))).metrics;
    await home.restart();
    expect((await home.post('session_heartbeat', { session_id })).status).toBe(200);
    expect(await home.outcome('asample', { ...ask, seq_id: 1 })).toEqual(drawn);
    // All answers are there, those from before the last snapshot too, and nothing is done twice.
    for (const [i, answer] of answers.entries()) {
      const body = i % 2 === 0 ? trainBody(model, i + 1) : stepBody(model, i + 1);
      expect(await home.outcome(i % 2 === 0 ? 'forward_backward' : 'optim_step', body)).toEqual(answer);
    }
    expect((await home.outcome('forward_backward', trainBody(model, 10))).metrics).toEqual(before);
    expect((await home.outcome('forward_backward', trainBody(model, 11))).metrics).toEqual(before);
    await home.stop();
  });

  it('keeps a request that arrived ahead of its turn across a snapshot', async () => {
    const home = await restartable({ snapshotSteps: 1 });
    const model = await createModel(home);
    const early = await home.post('forward_backward', trainBody(model, 3));
    await home.outcome('optim_step', stepBody(model, 1));
    await home.restart();
    await home.outcome('optim_step', stepBody(model, 2));
    expect(await home.await(asString(early.body.request_id) ?? '')).toHaveProperty('metrics');
    await home.restart();
    expect(await home.outcome('forward_backward', trainBody(model, 3))).toHaveProperty('metrics');
    await home.stop();
  });

  it('keeps a request without a number by its idempotency key', async () => {
    const home = await restartable();
    const model = await createModel(home);
    const key = { 'x-idempotency-key': 'k-1' };
    const first = await home.post('optim_step', stepBody(model, undefined), key);
    await home.await(asString(first.body.request_id) ?? '');
    await home.restart();
    expect((await home.post('optim_step', stepBody(model, undefined), key)).body).toEqual(first.body);
    await home.stop();
  });

  it('truncates a request that was half written, and accepts it when it is sent again', async () => {
    const home = await restartable();
    const model = await createModel(home);
    await home.outcome('forward_backward', trainBody(model, 1));
    await home.restart(async () => {
      const [journal = ''] = await filesIn(home.folder, 'journal-');
      await appendFile(journal, Buffer.from([40, 0, 0, 0, 9, 0, 0, 0, 1, 2, 3]));
    });
    expect(await home.outcome('optim_step', stepBody(model, 2))).toHaveProperty('metrics');
    await home.stop();
  });

  it.each([
    ['a snapshot', 'snapshot-', 100],
    ['a journal', 'journal-', 30],
  ])(
    'says of a model with %s that was changed that it is damaged, and serves the others',
    async (_, part, at) => {
      const home = await restartable();
      const session = await createSession(home);
      const model = await createModel(home, session, 0);
      await home.outcome('forward_backward', trainBody(model, 1));
      const [file = ''] = await filesIn(home.folder, part);
      const other = await createModel(home, session, 1);
      await home.restart(() => flipByte(file, at));
      const { status, body } = await home.post('optim_step', stepBody(model, 2));
      expect(status).toBe(500);
      expect(body.error).toMatch(/damaged/);
      expect((await home.send('GET', `training_runs/${model}`)).body.corrupted).toBe(true);
      expect(await home.outcome('optim_step', stepBody(other, 1))).toHaveProperty('metrics');
      await home.stop();
    },
  );

  it('rejects a truncated or changed checkpoint with a clear message', async () => {
    const home = await restartable();
    const session = await createSession(home);
    const model = await createModel(home, session);
    const paths = [];
    for (const [seq, name] of ['torn', 'changed'].entries())
      paths.push((await home.outcome('save_weights', { model_id: model, seq_id: seq + 1, path: name })).path);
    const [torn = ''] = await filesIn(home.folder, 'torn.');
    const files = await filesIn(home.folder, '.bin');
    const bin = (name: string): string =>
      files.find((file) => path.basename(file).startsWith(`${name}.`)) ?? torn;
    await truncate(bin('torn'), (await stat(bin('torn'))).size - 7);
    await flipByte(bin('changed'), -1);
    for (const [i, from] of paths.entries()) {
      const failed = await home.outcome('load_weights', {
        session_id: session,
        model_seq_id: 9 + i,
        path: from,
        optimizer: true,
      });
      expect(failed).toMatchObject({ category: 'server', error: expect.stringMatching(/damaged/) });
    }
    await home.stop();
  });

  it('finishes creating a model that was requested', async () => {
    const home = await restartable();
    const session_id = await createSession(home);
    const model = await createModel(home, session_id);
    await home.restart(async () => {
      // As if it had died between the promise and the making.
      for (const part of ['journal-', 'snapshot-'])
        for (const file of await filesIn(home.folder, part)) await rm(file);
    });
    expect(await home.await(`${model}:0`)).toMatchObject({ model_id: model });
    expect(await home.outcome('optim_step', stepBody(model, 1))).toHaveProperty('metrics');
    await home.stop();
  });

  it('fails a request during which it died five times, and carries out the next', async () => {
    const home = await restartable();
    const model = await createModel(home);
    await home.outcome('forward_backward', trainBody(model, 1));
    await home.restart(async () => {
      const [file = ''] = await filesIn(home.folder, 'journal-');
      const [base, ask] = await readModelJournal(file);
      if (base === undefined || ask === undefined) throw new Error('no journal');
      const records = [base, ask, ...Array.from({ length: 5 }, () => headOnly({ t: 'begin', seq: 1 }))];
      const journal = await createModelJournal(file, records);
      await journal.close();
    });
    expect(await home.await(`${model}:1`)).toMatchObject({
      category: 'server',
      error: expect.stringContaining('died 5 times'),
    });
    expect(await home.outcome('optim_step', stepBody(model, 2))).toHaveProperty('metrics');
    await home.stop();
  });
});

describe('a journal', () => {
  const record = (n: number) => ({ head: { n }, bytes: Uint8Array.of(n, n, n) });

  it('returns what was appended, also after a rotation', async () => {
    const folder = await newFolder();
    const journal = await createModelJournal(path.join(folder, 'a'), [record(0)]);
    const first = [journal.append([record(1)], true), journal.append([record(2)], false)];
    const moved = journal.rotate(path.join(folder, 'b'), [record(9)]);
    const later = journal.append([record(3)], true);
    await Promise.all([...first, moved, later]);
    await journal.close();
    expect(await readdir(folder)).toEqual(['b']);
    expect((await readModelJournal(path.join(folder, 'b'))).map(({ head }) => head.n)).toEqual([9, 3]);
  });

  it('truncated at any byte returns the whole records before it, and can be appended to', async () => {
    const folder = await newFolder();
    const file = path.join(folder, 'j');
    await (await createModelJournal(file, [record(1), record(2), record(3)])).close();
    const whole = await readFile(file);
    const size = whole.length / 3;
    for (let cut = 0; cut < whole.length; cut++) {
      await writeFile(file, whole.subarray(0, cut));
      const kept = Math.floor(cut / size);
      expect(await readModelJournal(file)).toHaveLength(kept);
      const journal = await openModelJournal(file);
      await journal.append([record(7)], false);
      await journal.close();
      expect((await readModelJournal(file)).map(({ head }) => head.n)).toEqual([
        ...[1, 2, 3].slice(0, kept),
        7,
      ]);
    }
  });

  it('with a changed byte before its last record is rejected; zeros at its end are truncated', async () => {
    const folder = await newFolder();
    const file = path.join(folder, 'j');
    await (await createModelJournal(file, [record(1), record(2), record(3)])).close();
    const whole = await readFile(file);
    const size = whole.length / 3;
    let refused = 0;
    for (let at = 0; at < 2 * size; at++) {
      for (const bit of [0x01, 0x80]) {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ bit;
        await writeFile(file, changed);
        await expect(readModelJournal(file)).rejects.toThrow(/damaged/);
        refused++;
      }
    }
    expect(refused).toBe(4 * size);
    await writeFile(file, Buffer.concat([whole, Buffer.alloc(40)]));
    expect(await readModelJournal(file)).toHaveLength(3);
    expect((await stat(file)).size).toBe(whole.length);
  });
});
