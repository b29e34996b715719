import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createHttpModel } from '../../src/models/http-model.ts';
import { createVllmAdapters, type VllmAdapters, withAdapters } from '../../src/models/vllm-adapters.ts';
import { openaiChat } from '../../src/wire/openai-chat/openai-chat.ts';
import { openExchange, REQUEST } from './provider.ts';
import { startVllm, type VllmTraits } from './vllm-server.ts';

const signal = new AbortController().signal;
type Vllm = Awaited<ReturnType<typeof startVllm>>;

async function newFolders(): Promise<(version: number) => Promise<string>> {
  const parent = await mkdtemp(path.join(tmpdir(), 'instar-vllm-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  return async (version) => {
    const folder = path.join(parent, `v${version}`);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'adapter_config.json'), '{}');
    return folder;
  };
}

async function start(traits: VllmTraits = {}, key?: string) {
  const vllm = await startVllm(traits);
  const exchange = openExchange();
  const lines: string[] = [];
  const open = (): VllmAdapters =>
    createVllmAdapters({
      exchange,
      baseUrl: vllm.baseUrl,
      name: 'instar',
      log: (line) => lines.push(line),
      ...(key === undefined ? {} : { key: () => key }),
    });
  return { vllm, exchange, adapters: open(), open, lines, folderOf: await newFolders() };
}

async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; !isSo(); looks++) {
    if (looks > 4_000) throw new Error('the condition was not met within 20 s');
    await pause(5);
  }
}

const names = (vllm: Vllm): readonly string[] => [...vllm.adapters.keys()].sort();

describe('adapters in vLLM', () => {
  it('serve 200 streams across swaps: none fails, each is from one version, and the old one is unloaded after its last stream', async () => {
    const { vllm, exchange, adapters, folderOf } = await start();
    const upstream = { wire: 'openai-chat', origin: new URL(vllm.baseUrl).origin, basePath: '/v1' } as const;
    const http = createHttpModel({
      exchange,
      wire: openaiChat,
      upstream,
      access: { kind: 'open' },
      clock: systemClock,
    });
    let live = 1;
    const model: ChatModel = withAdapters({ model: http, adapters, versionOf: () => live });
    const random = createRandom('streams');
    const ended: { readonly words: readonly string[]; readonly failure: string | undefined }[] = [];
    const read = async (): Promise<void> => {
      let text = '';
      let failure: string | undefined;
      for await (const event of model(REQUEST, { signal: new AbortController().signal })) {
        if (event.type === 'text-delta') text += event.text;
        if (event.type === 'failure') failure = event.failure.message;
      }
      ended.push({ words: text.trim().split(' '), failure });
    };
    const swapTo = async (version: number): Promise<void> => {
      expect(await adapters.load(version, await folderOf(version), signal)).toEqual({
        ok: true,
        model: `instar-v${version}`,
      });
      live = version;
      adapters.keepOnly([version]);
    };
    expect((await adapters.load(1, await folderOf(1), signal)).ok).toBe(true);
    const reading = Array.from({ length: 200 }, read);
    await until(() => vllm.streams.size === 200);
    await swapTo(2);
    // No version in use was unloaded, and the new one is served beside it.
    expect(names(vllm)).toEqual(['instar-v1', 'instar-v2']);
    vllm.writeAll();
    reading.push(...Array.from({ length: 100 }, read));
    await until(() => vllm.streams.size === 300);
    vllm.end(199);
    await until(() => ended.length === 199);
    expect(names(vllm)).toEqual(['instar-v1', 'instar-v2']);
    vllm.end(1);
    await until(() => !vllm.adapters.has('instar-v1'));
    expect(vllm.seen).toEqual(['load instar-v1', 'load instar-v2', 'unload instar-v1']);
    // The same while streams start and end all the time.
    for (let version = 3; version <= 8; version++) {
      for (let burst = 0; burst < 5; burst++) {
        reading.push(...Array.from({ length: 10 }, read));
        vllm.writeAll();
        vllm.end(random.below(20));
        await pause(random.below(3));
      }
      await swapTo(version);
    }
    while (ended.length < reading.length) {
      vllm.end(50);
      await pause(2);
    }
    await Promise.all(reading);
    await adapters.settled();

    expect(ended).toHaveLength(600);
    expect(ended.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expect(ended.filter(({ words }) => new Set(words).size !== 1 || words.length < 2)).toEqual([]);
    expect(new Set(ended.map(({ words }) => words[0])).size).toBeGreaterThan(5);
    expect([vllm.broken(), names(vllm)]).toEqual([0, ['instar-v8']]);
    expect(vllm.mostAtOnce()).toBeGreaterThanOrEqual(300);
    expect(vllm.seen.filter((line) => line.startsWith('unload'))).toHaveLength(7);
  });

  it('keep a canary beside the live version, and release a reader that stops in the middle', async () => {
    const { vllm, adapters, folderOf } = await start();
    for (const version of [1, 2, 3]) await adapters.load(version, await folderOf(version), signal);
    const held = adapters.borrow(2);
    adapters.keepOnly([1, 3]);
    await adapters.settled();
    expect(names(vllm)).toEqual(['instar-v1', 'instar-v2', 'instar-v3']);
    // A turn that read the pointer before it moved may still borrow the old version.
    const late = adapters.borrow(2);
    expect(late?.model).toBe('instar-v2');
    held?.release();
    held?.release();
    await adapters.settled();
    expect(names(vllm)).toHaveLength(3);
    late?.release();
    await adapters.settled();
    expect(names(vllm)).toEqual(['instar-v1', 'instar-v3']);
    expect(adapters.borrow(2)).toBeUndefined();
  });

  it('fail for a version that is not loaded (instead of using another)', async () => {
    const { vllm, adapters } = await start();
    const model = withAdapters({
      model: () => {
        throw new Error('the model must not be called');
      },
      adapters,
      versionOf: () => 9,
    });
    const events = [];
    for await (const event of model(REQUEST, { signal })) events.push(event);
    expect(events).toMatchObject([{ type: 'failure', failure: { kind: 'overloaded', status: 503 } }]);
    expect(vllm.seen).toEqual([]);
  });

  it('of an earlier run are found again, and a different adapter of the same name is replaced', async () => {
    const { vllm, adapters, open, folderOf } = await start();
    const folder = await folderOf(1);
    await adapters.load(1, folder, signal);
    expect(await open().load(1, folder, signal)).toMatchObject({ ok: true });
    expect(vllm.seen).toEqual(['load instar-v1', 'load instar-v1']);
    const other = await folderOf(77);
    expect(await open().load(1, other, signal)).toMatchObject({ ok: true });
    expect(vllm.adapters.get('instar-v1')).toEqual({ folder: other, isInPlace: false });
    // An adapter that cannot be unloaded is replaced in place.
    vllm.change({ cannotRemove: true });
    expect(await open().load(1, folder, signal)).toMatchObject({ ok: true });
    expect(vllm.adapters.get('instar-v1')).toEqual({ folder, isInPlace: true });
    // A version is one set of weights.
    expect(await adapters.load(1, other, signal)).toMatchObject({
      ok: false,
      why: { kind: 'bad-request' },
    });
  });

  it('are replaced in an old vLLM without in-place loading', async () => {
    const { vllm, open, folderOf } = await start({ isOld: true });
    await open().load(1, await folderOf(5), signal);
    const folder = await folderOf(1);
    expect(await open().load(1, folder, signal)).toMatchObject({ ok: true });
    expect(vllm.adapters.get('instar-v1')).toEqual({ folder, isInPlace: false });
    vllm.change({ cannotRemove: true });
    expect(await open().load(1, await folderOf(5), signal)).toMatchObject({
      ok: false,
      why: { message: expect.stringContaining('has already been loaded') },
    });
  });

  it('that a restarted server has lost are loaded again, and only those', async () => {
    const { vllm, adapters, folderOf } = await start();
    const folder = await folderOf(1);
    await adapters.load(1, folder, signal);
    await adapters.load(1, folder, signal);
    expect(vllm.seen).toEqual(['load instar-v1']);
    vllm.adapters.clear();
    expect(await adapters.load(1, folder, signal)).toMatchObject({ ok: true });
    expect(vllm.seen).toEqual(['load instar-v1', 'load instar-v1']);
    expect(adapters.borrow(1)?.model).toBe('instar-v1');
  });

  it('that could not be unloaded are tried again, and missing ones count as unloaded', async () => {
    const { vllm, adapters, lines, folderOf } = await start({ cannotRemove: true });
    for (const version of [1, 2]) await adapters.load(version, await folderOf(version), signal);
    adapters.keepOnly([2]);
    await adapters.settled();
    expect([names(vllm).length, lines.length]).toEqual([2, 1]);
    expect(lines[0]).toMatch(/instar-v1 was not unloaded.*Failed to remove/);
    expect(adapters.borrow(1)).toBeUndefined();
    vllm.change({ cannotRemove: false });
    adapters.keepOnly([2]);
    await adapters.settled();
    expect(names(vllm)).toEqual(['instar-v2']);
    vllm.adapters.clear();
    adapters.keepOnly([]);
    await adapters.settled();
    expect(lines).toHaveLength(1);
    adapters.keepOnly([]);
    await adapters.settled();
    expect(vllm.seen.filter((line) => line === 'unload instar-v2')).toHaveLength(1);
  });

  it('that cannot be loaded fail with advice', async () => {
    const refusal = async (traits: VllmTraits, place?: string, key?: string) => {
      const { adapters, folderOf } = await start(traits, key);
      const loaded = await adapters.load(1, place ?? (await folderOf(1)), signal);
      expect(adapters.borrow(1)).toBeUndefined();
      return loaded.ok ? undefined : loaded.why;
    };
    expect(await refusal({ hasRoutes: false })).toMatchObject({
      kind: 'not-found',
      message: expect.stringMatching(/--enable-lora.*VLLM_ALLOW_RUNTIME_LORA_UPDATING=True/),
    });
    for (const isOld of [true, false]) {
      expect(await refusal({ hasLora: false, isOld })).toMatchObject({
        kind: isOld ? 'bad-request' : 'upstream-error',
        message: expect.stringMatching(/start it with --enable-lora/),
      });
      expect(await refusal({ rankOf: () => 64, isOld })).toMatchObject({
        message: expect.stringMatching(/larger --max-lora-rank.*64.*16/),
      });
      expect(await refusal({ isOld }, '/nowhere/v1')).toMatchObject({
        kind: 'not-found',
        message: expect.stringMatching(/does not find an adapter in \/nowhere\/v1.*on its machine/),
      });
    }
    expect(await refusal({ key: 'right' }, undefined, 'wrong')).toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('--api-key'),
    });

    const nobody = createVllmAdapters({
      exchange: openExchange(),
      baseUrl: 'http://127.0.0.1:9/v1',
      name: 'instar',
    });
    expect(await nobody.load(1, '/x', signal)).toMatchObject({ ok: false, why: { kind: 'unreachable' } });
    const left = AbortSignal.abort();
    expect(await nobody.load(1, '/x', left)).toMatchObject({ ok: false, why: { kind: 'aborted' } });
  });
});
