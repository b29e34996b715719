import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { DecodeError } from '../src/base/decode-error.ts';
import { sleep } from '../src/base/sleep.ts';
import { extractTar, type TarSink } from '../src/base/tar.ts';
import { errorMessage } from '../src/core/failure.ts';
import { asObject, asString } from '../src/core/json.ts';
import { TrainingError } from '../src/core/training.ts';
import { CONFIG_FILE, TENSOR_FILE } from './peft-check.ts';
import { explainRefusal, jsonBodyOf } from './tinker/server-replies.ts';
import type { ServerAnswer, Transport } from './tinker/transport.ts';

interface DownloadOptions {
  readonly transport: Transport;
  /** The server's URL: links may be relative to it. */
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly packingMs: number;
  readonly mostBytes: number;
}

const REQUEST_MS = 60_000;
/** A server that is still packing an archive answers 503; the official client retries five times. */
const MOST_LOOKS = 6;
const MOST_CONFIG_BYTES = 2 ** 20;

/**
 * Downloads the two files of a checkpoint's adapter into a folder: as an archive, or by one link per file where the server
 * offers those. Links are followed without the key, because they lead to other hosts. Rejects with a TrainingError.
 */
export async function downloadPeft(
  checkpoint: string,
  folder: string,
  options: DownloadOptions,
): Promise<void> {
  const { route, other } = routesOf(checkpoint);
  const archive = await ask(`${route}/archive`, options);
  if (archive.status < 400) return unpack(linkIn(archive, options.url), folder, options);
  const elsewhere = archive.status === 404 ? await ask(`${other}/archive`, options) : archive;
  if (elsewhere.status < 400) return unpack(linkIn(elsewhere, options.url), folder, options);
  const links = await ask(`${route}/external_weights_urls`, options);
  if (links.status !== 200)
    throw links.status === 404 || links.status === 405 ? explainRefusal(archive) : explainRefusal(links);
  const urls = asObject(jsonBodyOf(links)?.urls);
  for (const name of [CONFIG_FILE, TENSOR_FILE]) {
    const link = asString(urls[name]);
    if (link === undefined) throw new TrainingError('server', `${checkpoint} is exported without ${name}`);
    const sink = await createFile(folder, name, options.mostBytes);
    try {
      for await (const part of bodyAt(new URL(link, options.url), options)) await sink.write(part);
    } finally {
      await sink.close();
    }
  }
}

/** `tinker://<run>/<weights|sampler_weights>/<name>`; SkyRL leaves the kind out, in paths and in routes. */
function routesOf(checkpoint: string): { readonly route: string; readonly other: string } {
  const [, run, kind, name] =
    /^tinker:\/\/([^/]+)\/(?:(weights|sampler_weights)\/)?([^/]+)$/.exec(checkpoint) ?? [];
  if (run === undefined || name === undefined)
    throw new TrainingError(
      'user',
      `${checkpoint} is not the path of a checkpoint (tinker://run/sampler_weights/name)`,
    );
  const all = `training_runs/${run}/checkpoints`;
  const named = `${all}/${kind ?? 'sampler_weights'}/${name}`;
  const plain = `${all}/${name}`;
  return kind === undefined ? { route: plain, other: named } : { route: named, other: plain };
}

async function ask(route: string, { transport, signal, packingMs }: DownloadOptions): Promise<ServerAnswer> {
  for (let looks = 1; ; looks++) {
    const reply = await transport.send({ route, method: 'GET', timeoutMs: REQUEST_MS }, signal);
    if (reply.kind === 'none') throw new TrainingError('server', `${route}: ${reply.detail}`);
    if (reply.status !== 503 || looks === MOST_LOOKS) return reply;
    await sleep(packingMs, signal);
  }
}

/** The target of a redirect, or the link in the body. */
function linkIn(answer: ServerAnswer, base: string): URL {
  const link = answer.header('location') ?? asString(jsonBodyOf(answer)?.url);
  const url = link !== undefined && URL.canParse(link, base) ? new URL(link, base) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new TrainingError('server', 'the server answered for the archive without a link to it');
  return url;
}

async function* bodyAt(url: URL, { fetch, signal }: DownloadOptions): AsyncGenerator<Uint8Array, undefined> {
  try {
    const response = await fetch(url, { signal });
    if (!response.ok)
      throw new TrainingError('server', `the link to the adapter answered ${response.status}`);
    if (response.body !== null) yield* response.body;
  } catch (error) {
    if (error instanceof TrainingError) throw error;
    const reason = errorMessage(error);
    throw new TrainingError('server', `the download of the adapter failed: ${reason}`);
  }
}

async function unpack(url: URL, folder: string, options: DownloadOptions): Promise<void> {
  const files = new Map<string, OpenFile>();
  const accept = async (name: string, size: number): Promise<TarSink | undefined> => {
    if (name !== CONFIG_FILE && name !== TENSOR_FILE) return undefined;
    if (size > options.mostBytes) throw tooLarge(name, options.mostBytes);
    if (files.has(name)) throw new TrainingError('server', `the archive has ${name} twice`);
    const file = await createFile(folder, name, options.mostBytes);
    files.set(name, file);
    return file.write;
  };
  const gunzip = createGunzip();
  // Both are waited for: what is still being written when the other has failed must be closed too.
  const [unpacked] = await Promise.allSettled([
    extractTar(gunzip, accept),
    pipeline(bodyAt(url, options), gunzip),
  ]);
  for (const file of files.values()) await file.close();
  if (unpacked.status === 'rejected') {
    const { reason } = unpacked;
    if (reason instanceof TrainingError) throw reason;
    const detail = reason instanceof Error ? reason.message : String(reason);
    if (reason instanceof DecodeError)
      throw new TrainingError('server', `the archive of the adapter is refused: ${detail}`);
    throw new TrainingError('server', `the archive of the adapter cannot be unpacked: ${detail}`);
  }
  for (const name of [CONFIG_FILE, TENSOR_FILE])
    if (!files.has(name)) throw new TrainingError('server', `the archive is without ${name}`);
}

interface OpenFile {
  readonly write: TarSink;
  readonly close: () => Promise<void>;
}

const tooLarge = (name: string, most: number): TrainingError =>
  new TrainingError('server', `${name} has more than ${most} bytes`);

/** What was written is on the disk when it is closed. */
async function createFile(folder: string, name: string, mostBytes: number): Promise<OpenFile> {
  const most = name === CONFIG_FILE ? MOST_CONFIG_BYTES : mostBytes;
  const handle: FileHandle = await open(path.join(folder, name), 'wx', 0o600);
  let size = 0;
  return {
    write: async (part) => {
      size += part.length;
      if (size > most) throw tooLarge(name, most);
      await handle.writeFile(part);
    },
    close: async () => {
      await handle.sync();
      await handle.close();
    },
  };
}
