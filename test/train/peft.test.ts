import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { type FloatTensor, readSafetensors, writeSafetensors } from '../../src/base/safetensors.ts';
import { createTar } from '../../src/base/tar.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { TrainingEngine, TrainingModel } from '../../src/core/training.ts';
import { type ExportPeftOptions, exportPeft } from '../../train/adapter-folders.ts';
import { startTinkerServer } from '../../train/nano/server/start-tinker-server.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import { runsOf } from '../support/counts.ts';
import { createEngine } from '../support/one-thread-engine.ts';
import { SMALL, smallWeights } from './nano/engine/small-model.ts';

const signal = new AbortController().signal;
const CHECKPOINT = 'tinker://run/sampler_weights/one';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'instar-peft-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const exporting = (url: string, folder: string, more: Partial<ExportPeftOptions> = {}) =>
  exportPeft({
    url,
    checkpoint: CHECKPOINT,
    folder,
    fetch,
    clock: systemClock,
    signal,
    packingMs: 1,
    ...more,
  });

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const tensor = (shape: readonly number[], value = 0.5): FloatTensor => ({
  shape,
  values: new Float32Array(shape.reduce((product, side) => product * side, 1)).fill(value),
});
const Q = 'base_model.model.model.layers.0.self_attn.q_proj';
const SOUND: ReadonlyMap<string, FloatTensor> = new Map([
  [`${Q}.lora_A.weight`, tensor([2, 8])],
  [`${Q}.lora_B.weight`, tensor([8, 2])],
]);
const CONFIG = {
  peft_type: 'LORA',
  base_model_name_or_path: 'small',
  r: 2,
  lora_alpha: 4,
  target_modules: ['q_proj'],
};
interface Parts {
  readonly config?: object | string;
  readonly tensors?: ReadonlyMap<string, FloatTensor>;
  readonly weights?: Uint8Array;
}
const filesOf = ({ config = CONFIG, tensors = SOUND, weights }: Parts) => [
  { name: './adapter/README.md', bytes: Buffer.from('read me') },
  {
    name: './adapter/adapter_config.json',
    bytes: Buffer.from(typeof config === 'string' ? config : JSON.stringify(config)),
  },
  {
    name: './adapter/adapter_model.safetensors',
    bytes: weights ?? writeSafetensors(tensors, { format: 'pt' }),
  },
];
const archiveOf = (parts: Parts): Uint8Array => gzipSync(createTar(filesOf(parts), 0));

/** A server that has one archive behind a link. */
const serve = (archive: Uint8Array): Promise<string> =>
  listen((request, response) => {
    if (request.url === '/download') response.end(archive);
    else if (request.url?.endsWith('/archive') === true)
      response.writeHead(302, { location: '/download' }).end();
    else response.writeHead(404).end('{}');
  });

/** Why it was refused. Nothing may be left of it. */
async function refusalOf(url: string, more: Partial<ExportPeftOptions> = {}): Promise<string> {
  const parent = await newFolder();
  const reason = await exporting(url, path.join(parent, 'v1'), more).then(
    () => 'taken',
    (error: Error) => `${error.name}: ${error.message}`,
  );
  if (reason !== 'taken') expect(await readdir(parent)).toEqual([]);
  return reason;
}

describe('an exported adapter', () => {
  it('is a valid PEFT folder with exactly the trained numbers, by archive and by single links', async () => {
    const home = await newFolder();
    const engine = createEngine({ weights: smallWeights(), shape: SMALL, name: 'small' });
    const server = await startTinkerServer({ engine, folder: home, port: 0, key: 'tml-test' });
    onTestFinished(() => server.close());
    const { url } = server;
    const client = await connectTinker({
      url,
      key: 'tml-test',
      baseModel: 'small',
      profile: 'nano',
      selfTest: false,
      fetch,
      clock: systemClock,
      random: createRandom('peft'),
    });
    onTestFinished(() => client.close());
    const model = await client.createModel({ rank: 4, seed: 3 });
    const data = [{ tokens: [1, 2, 3], targets: [2, 3, 4], weights: [1, 1, 1] }];
    const step = model.forwardBackward({ data, loss: 'cross_entropy' }, signal);
    const moved = model.optimStep({ learningRate: 0.01 }, signal);
    await Promise.all([step.done, moved.done]);
    const checkpoint = await model.saveForSampler('first');

    const parent = await newFolder();
    const folder = path.join(parent, 'v1');
    const given = { checkpoint, key: 'tml-test', expected: { rank: 4, baseModel: 'small' } };
    const adapter = await exporting(url, folder, given);
    expect(adapter).toMatchObject({ folder, rank: 4, alpha: 4, baseModel: 'small' });
    expect((await readdir(folder)).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    const written = readSafetensors(await readFile(path.join(folder, 'adapter_model.safetensors')));
    expect(written.tensors.size).toBe(adapter.tensors);
    const moves = [...written.tensors].filter(
      ([name, { values }]) => name.includes('lora_B') && values.some((value) => value !== 0),
    );
    expect(moves.length).toBeGreaterThan(3);

    const withoutArchive: typeof fetch = (to, init) =>
      String(to).endsWith('/archive')
        ? Promise.resolve(new Response('{"detail":"Not Found"}', { status: 404 }))
        : fetch(to, init);
    const other = await exporting(url, path.join(parent, 'v1-again'), { ...given, fetch: withoutArchive });
    expect(other.sha256).toBe(adapter.sha256);
    // The same once more is no conflict; another adapter in its place is.
    expect(await exporting(url, folder, given)).toEqual(adapter);
    await model.optimStep({ learningRate: 0.01 }, signal).done;
    const second = await model.saveForSampler('second');
    await expect(exporting(url, folder, { ...given, checkpoint: second })).rejects.toThrow(
      /holds another adapter/,
    );
    await expect(
      exporting(url, path.join(parent, 'v3'), { ...given, expected: { rank: 8 } }),
    ).rejects.toThrow(/rank is 4, but rank 8 was trained/);
    await expect(exporting(url, path.join(parent, 'v3'), { ...given, key: 'tml-wrong' })).rejects.toThrow();
    expect((await readdir(parent)).sort()).toEqual(['v1', 'v1-again']);
  });

  it('is the same again from a fresh server with the saved state: weights, samples and the next step', async () => {
    const home = await newFolder();
    const start = async (folder: string) => {
      const engine = createEngine({ weights: smallWeights(), shape: SMALL, name: 'small' });
      const server = await startTinkerServer({ engine, folder, port: 0, key: 'tml-test' });
      const client = await connectTinker({
        url: server.url,
        key: 'tml-test',
        baseModel: 'small',
        profile: 'nano',
        selfTest: false,
        fetch,
        clock: systemClock,
        random: createRandom(folder),
      });
      return { url: server.url, client, stop: () => client.close().then(() => server.close()) };
    };
    const data = [{ tokens: [1, 2, 3], targets: [2, 3, 4], weights: [1, 1, 1] }];
    const stepped = async (model: TrainingModel): Promise<readonly number[] | undefined> => {
      const pass = model.forwardBackward({ data, loss: 'cross_entropy' }, signal);
      await Promise.all([pass.done, model.optimStep({ learningRate: 0.05 }, signal).done]);
      return (await model.forward({ data, loss: 'cross_entropy' }, signal)).logprobs[0];
    };
    const draw = async (client: TrainingEngine, of: string) => {
      const request = { prompt: [1, 2], count: 3, maxTokens: 8, temperature: 1, stop: [], seed: 5 };
      return (await client.openSampler(of)).sample(request, signal);
    };

    const old = await start(home);
    const model = await old.client.createModel({ rank: 4, seed: 3 });
    for (let step = 0; step < 3; step++) await stepped(model);
    const state = await model.saveState('kept');
    const checkpoint = await model.saveForSampler('kept');
    const folder = path.join(await newFolder(), 'v1');
    const before = await exporting(old.url, folder, { checkpoint, key: 'tml-test' });
    const samples = await draw(old.client, checkpoint);
    const next = await stepped(model);
    await old.stop();

    // The protocol has no upload: a state is restored where the server's folder is.
    const moved = path.join(await newFolder(), 'engine');
    await cp(home, moved, { recursive: true });
    const fresh = await start(moved);
    onTestFinished(fresh.stop);
    expect(fresh.url).not.toBe(old.url);
    const again = path.join(await newFolder(), 'v1');
    expect((await exporting(fresh.url, again, { checkpoint, key: 'tml-test' })).sha256).toBe(before.sha256);
    expect(await draw(fresh.client, checkpoint)).toEqual(samples);
    expect(await stepped(await fresh.client.openModel(state))).toEqual(next);
    // An adapter from the fresh server takes the place of the exported one without a conflict.
    expect(await exporting(fresh.url, folder, { checkpoint, key: 'tml-test' })).toEqual(before);
  });

  it('is found where the server leaves the kind of a checkpoint out, as SkyRL does', async () => {
    const archive = archiveOf({});
    const asked: string[] = [];
    const url = await listen((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/download') return void response.end(archive);
      if (request.url === '/api/v1/training_runs/model_1/checkpoints/one/archive')
        return void response.writeHead(302, { location: '/download' }).end();
      response.writeHead(404).end('{"detail":"Not Found"}');
    });
    for (const checkpoint of ['tinker://model_1/one', 'tinker://model_1/sampler_weights/one'])
      expect(await exporting(url, path.join(await newFolder(), 'v1'), { checkpoint })).toMatchObject({
        rank: 2,
      });
    expect(asked.filter((route) => route === '/download')).toHaveLength(2);
    expect(await refusalOf(url, { checkpoint: 'model_1/one' })).toMatch(/is not the path of a checkpoint/);
  });

  it('is retried while the server packs it, and can come from a link in the body', async () => {
    let looks = 0;
    const archive = archiveOf({});
    const url = await listen((request, response) => {
      expect(request.headers['x-api-key']).toBe(request.url === '/download' ? undefined : 'secret');
      if (request.url === '/download') return void response.end(archive);
      if (++looks < 4) return void response.writeHead(503).end();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ url: `http://${request.headers.host}/download` }));
    });
    const folder = path.join(await newFolder(), 'v1');
    expect(await exporting(url, folder, { key: 'secret' })).toMatchObject({ rank: 2, alpha: 4, tensors: 2 });
    expect(looks).toBe(4);
  });

  it('is refused wherever it was truncated', async () => {
    const archive = archiveOf({});
    const weights = writeSafetensors(SOUND, {});
    let refused = 0;
    for (let at = 0; at < archive.length; at += 23) {
      expect(await refusalOf(await serve(archive.subarray(0, at)))).toMatch(/^TrainingError: /);
      refused++;
    }
    for (let at = 0; at < weights.length; at += 29) {
      const cut = await serve(archiveOf({ weights: weights.subarray(0, at) }));
      expect(await refusalOf(cut)).toMatch(/^TrainingError: adapter_model.safetensors is refused/);
      refused++;
    }
    expect(refused).toBeGreaterThan(20);
    const longer = await serve(archiveOf({ weights: Buffer.concat([weights, Buffer.alloc(3)]) }));
    expect(await refusalOf(longer)).toMatch(/3 bytes at its end belong to no tensor/);
    const broken = await listen((request, response) => {
      if (request.url !== '/download') return void response.writeHead(302, { location: '/download' }).end();
      response.writeHead(200, { 'content-length': archive.length });
      response.write(archive.subarray(0, 40), () => response.destroy());
    });
    expect(await refusalOf(broken)).toMatch(/download of the adapter failed/);
  });

  it('is refused for a single NaN, whatever its type and position', async () => {
    const entries = { F64: 8, F32: 4, F16: 2, BF16: 2 } as const;
    const write = (dtype: keyof typeof entries, odd: readonly number[], at: number): Uint8Array => {
      const bytes = entries[dtype];
      const side = 16 * bytes;
      const header = Buffer.from(
        JSON.stringify({
          [`${Q}.lora_A.weight`]: { dtype, shape: [2, 8], data_offsets: [0, side] },
          [`${Q}.lora_B.weight`]: { dtype, shape: [8, 2], data_offsets: [side, 2 * side] },
        }),
      );
      const file = Buffer.concat([Buffer.alloc(8), header, Buffer.alloc(2 * side)]);
      file.writeBigUInt64LE(BigInt(header.length));
      Buffer.from(odd).copy(file, 8 + header.length + at * bytes);
      return file;
    };
    const largest = {
      F64: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0x7f],
      F32: [0xff, 0xff, 0x7f, 0x7f],
      F16: [0xff, 0x7b],
      BF16: [0x7f, 0x7f],
    } as const;
    const odd = {
      F64: [0, 0, 0, 0, 0, 0, 0xf0, 0xff],
      F32: [1, 0, 0x80, 0x7f],
      F16: [0, 0x7c],
      BF16: [0xc0, 0xff],
    } as const;
    for (const dtype of ['F64', 'F32', 'F16', 'BF16'] as const) {
      expect(await refusalOf(await serve(archiveOf({ weights: write(dtype, largest[dtype], 5) })))).toBe(
        'taken',
      );
      for (const at of [0, 15, 16, 31])
        expect(await refusalOf(await serve(archiveOf({ weights: write(dtype, odd[dtype], at) })))).toMatch(
          new RegExp(`number ${at % 16} of .*lora_${at < 16 ? 'A' : 'B'}.* is not finite`),
        );
    }
  });

  it('is refused for invalid names, ranks and settings', async () => {
    const reasons = async (parts: Parts): Promise<string> => refusalOf(await serve(archiveOf(parts)));
    const renamed = (from: string, to: string): ReadonlyMap<string, FloatTensor> =>
      new Map([...SOUND].map(([name, one]) => [name.replace(from, to), one]));
    expect(await reasons({ tensors: renamed('base_model.model.', '') })).toMatch(
      /not a name of a LoRA factor/,
    );
    expect(await reasons({ tensors: renamed('lora_A.weight', 'lora_A') })).toMatch(
      /not a name of a LoRA factor/,
    );
    expect(await reasons({ tensors: renamed('q_proj', 'lm_head') })).toMatch(/not in target_modules/);
    expect(await reasons({ tensors: new Map([...SOUND].slice(0, 1)) })).toMatch(/only the factor A/);
    expect(await reasons({ tensors: new Map() })).toMatch(/has no tensors/);
    expect(await reasons({ config: { ...CONFIG, r: 4 } })).toMatch(
      /shape \[2,8\], which does not fit rank 4/,
    );
    expect(await reasons({ config: { ...CONFIG, r: 4, rank_pattern: { q_proj: 2 } } })).toBe('taken');
    expect(await reasons({ config: { ...CONFIG, peft_type: 'IA3' } })).toMatch(/peft_type/);
    expect(await reasons({ config: { ...CONFIG, lora_alpha: 0 } })).toMatch(/would do nothing/);
    expect(await reasons({ config: '{' })).toMatch(/not a JSON object/);
    expect(await refusalOf(await serve(gzipSync(createTar(filesOf({}).slice(0, 2), 0))))).toMatch(
      /without adapter_model/,
    );
    expect(await refusalOf(await serve(gzipSync(createTar([...filesOf({}), ...filesOf({})], 0))))).toMatch(
      /twice/,
    );
    expect(await refusalOf(await serve(archiveOf({})), { mostBytes: 64 })).toMatch(/more than 64 bytes/);
    expect(await refusalOf(await serve(archiveOf({})), { checkpoint: 'somewhere' })).toMatch(
      /not the path of a checkpoint/,
    );
  });

  it('is refused or complete, whatever byte of it was changed', async () => {
    const archive = createTar(filesOf({}), 0);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(archive.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Uint8Array.from(archive);
        changed[at] = (changed[at] ?? 0) ^ change;
        const reason = await refusalOf(await serve(gzipSync(changed)));
        refused += reason === 'taken' ? 0 : 1;
      }),
      runsOf(13, 40),
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('does not touch an existing folder with another adapter', async () => {
    const parent = await newFolder();
    await writeFile(path.join(parent, 'v1'), 'a file of somebody');
    await expect(exporting(await serve(archiveOf({})), path.join(parent, 'v1'))).rejects.toThrow(
      /another adapter/,
    );
    expect(await readFile(path.join(parent, 'v1'), 'utf8')).toBe('a file of somebody');
    expect(await readdir(parent)).toEqual(['v1']);
  });
});
