import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { toBytes } from '../../src/base/little-endian.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import {
  type BatchResult,
  type Engine,
  EngineError,
  type SampleRequest,
  type SampleResult,
  type TrainBatch,
} from '../../train/nano/engine.ts';

interface TorchEngineOptions {
  readonly python: string;
  /** A model of the Qwen2 family with its tokenizer, as Hugging Face stores it. */
  readonly folder: string;
  /** Passed on, see torch_engine.py. */
  readonly more: readonly string[];
}

interface Frame {
  readonly header: JsonObject;
  readonly payload: Buffer;
}

interface PendingFrame {
  resolve(frame: Frame): void;
  reject(error: Error): void;
}

const PROGRAM = path.resolve('lab/real-model/torch_engine.py');
const NOT_A_SAVE = 'These bytes are not weights that this engine saved.';

/** Cuts what a process writes into frames: a length, a JSON header, and as many bytes as the header says. */
export function createFrameReader(hear: (frame: Frame) => void): (bytes: Buffer) => void {
  let held: Buffer[] = [];
  let size = 0;
  let needed = 4;
  return (bytes) => {
    held.push(bytes);
    size += bytes.length;
    if (size < needed) return;
    let rest = Buffer.concat(held);
    for (;;) {
      const start = rest.length < 4 ? 4 : 4 + rest.readUInt32LE(0);
      needed = start;
      if (rest.length < start) break;
      const header = asObject(parseJson(rest.toString('utf8', 4, start)));
      const end = start + (asNumber(header.bytes) ?? 0);
      needed = end;
      if (rest.length < end) break;
      hear({ header, payload: rest.subarray(start, end) });
      rest = rest.subarray(end);
    }
    held = [rest];
    size = rest.length;
  };
}

/** Starts torch_engine.py, and waits until its model is loaded. */
export async function openTorchEngine({ python, folder, more }: TorchEngineOptions): Promise<Engine> {
  const child = spawn(python, [PROGRAM, folder, ...more], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, PendingFrame>();
  let calls = 1;
  let end: Error | undefined;
  const hello = new Promise<Frame>((resolve, reject) => waiting.set(0, { resolve, reject }));
  const fail = (error: Error): void => {
    end = error;
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  };
  child.once('error', fail);
  child.once('exit', (code) => fail(new Error(`the engine's process ended with ${code}`)));
  const hear = createFrameReader(({ header, payload }) => {
    const id = asNumber(header.id) ?? -1;
    const one = waiting.get(id);
    waiting.delete(id);
    const why = asString(header.error);
    if (why === undefined) one?.resolve({ header, payload });
    else one?.reject(header.isInvalid === true ? new EngineError(why) : new Error(why));
  });
  child.stdout.on('data', hear);
  const ask = (op: string, header: object, payload: readonly Uint8Array[] = []): Promise<Frame> => {
    if (end !== undefined) return Promise.reject(end);
    const id = calls++;
    const size = payload.reduce((sum, { length }) => sum + length, 0);
    const text = Buffer.from(JSON.stringify({ ...header, op, id, bytes: size }));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    const answer = new Promise<Frame>((resolve, reject) => waiting.set(id, { resolve, reject }));
    child.stdin.write(Buffer.concat([length, text, ...payload]));
    return answer;
  };
  const nameFrom = async (frame: Promise<Frame>): Promise<string> =>
    asString((await frame).header.name) ?? '';
  const { header } = await hello;
  const numberOf = (name: string): number => asNumber(header[name]) ?? 0;

  return {
    model: {
      name: path.basename(path.resolve(folder)),
      vocabulary: numberOf('vocabulary'),
      contextLength: numberOf('context'),
      layers: numberOf('layers'),
      width: numberOf('width'),
    },
    createAdapter: (options) => nameFrom(ask('create', { options })),
    forward: (adapter, batch) => train(ask, adapter, batch, false),
    forwardBackward: (adapter, batch) => train(ask, adapter, batch, true),
    optimStep: async (adapter, adam) => {
      const metrics = asObject((await ask('step', { adapter, adam })).header.metrics);
      return Object.fromEntries(
        Object.entries(metrics).map(([name, value]) => [name, asNumber(value) ?? Number.NaN]),
      );
    },
    freeze: (adapter) => nameFrom(ask('freeze', { adapter })),
    sample: (weights, request) => sample(ask, weights, request),
    save: async (adapter, withOptimizer) =>
      Buffer.from(await nameFrom(ask('save', { adapter, withOptimizer }))),
    load: (saved, withOptimizer) => {
      const name = Buffer.from(saved).toString('utf8');
      if (!/^saved-\d+$/.test(name)) throw new EngineError(NOT_A_SAVE);
      return nameFrom(ask('load', { saved: name, withOptimizer }));
    },
    dispose: async (name) => void (await ask('dispose', { name })),
    close: async () => {
      child.stdin.end();
      if (end === undefined) await once(child, 'exit');
    },
  };
}

type Ask = (op: string, header: object, payload?: readonly Uint8Array[]) => Promise<Frame>;

/** A batch travels as one array for each field, all sequences behind each other. */
async function train(
  ask: Ask,
  adapter: string | undefined,
  { loss, clip, data }: TrainBatch,
  backward: boolean,
): Promise<BatchResult> {
  const lengths = data.map(({ tokens }) => tokens.length);
  const isPolicy = loss !== 'cross_entropy';
  const ones = (length: number): Float32Array => new Float32Array(length).fill(1);
  const fields = [
    ['tokens', '<i4', data.map(({ tokens }) => tokens)],
    ['targets', '<i4', data.map(({ targets }) => targets)],
    ['weights', '<f4', data.map(({ weights, tokens }) => weights ?? ones(tokens.length))],
    [
      'advantages',
      '<f4',
      isPolicy ? data.map(({ advantages, tokens }) => advantages ?? new Float32Array(tokens.length)) : [],
    ],
    [
      'logprobs',
      '<f4',
      isPolicy ? data.map(({ logprobs, tokens }) => logprobs ?? new Float32Array(tokens.length)) : [],
    ],
  ] as const;
  const sent = fields.filter(([, , rows]) => rows.length > 0);
  const { header, payload } = await ask(
    'train',
    {
      adapter: adapter ?? null,
      loss,
      clip: clip ?? { low: 0.8, high: 1.2 },
      lengths,
      backward,
      fields: sent.map(([name, kind]) => [name, kind]),
    },
    sent.flatMap(([, , rows]) => rows.map((row) => toBytes(row))),
  );
  const flat = floatsOf(payload);
  let at = 0;
  const logprobs = lengths.map((length) => {
    at += length;
    return flat.subarray(at - length, at);
  });
  const lossSum = asNumber(asObject(header.metrics)['loss:sum']) ?? Number.NaN;
  return { logprobs, metrics: { 'loss:sum': lossSum } };
}

async function sample(ask: Ask, weights: string | undefined, request: SampleRequest): Promise<SampleResult> {
  const { prompt, count, maxTokens, temperature, topK, topP, stop, wantsPromptLogprobs } = request;
  if (wantsPromptLogprobs === true)
    throw new EngineError('This engine gives no log-probabilities of a prompt.');
  const wanted = { weights: weights ?? null, count, maxTokens, temperature, topK, topP, stop };
  const { header, payload } = await ask('sample', wanted, [toBytes(prompt)]);
  const lengths = asArray(header.lengths).map((length) => asNumber(length) ?? 0);
  const stops = asArray(header.stops);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const flat = floatsOf(payload);
  const ids = new Int32Array(flat.buffer, 0, total);
  const logprobs = flat.subarray(total);
  let at = 0;
  return {
    sequences: lengths.map((length, i) => {
      const from = at;
      at += length;
      return {
        tokens: ids.subarray(from, at),
        logprobs: logprobs.subarray(from, at),
        stop: stops[i] === 'stop' ? 'stop' : 'length',
      };
    }),
  };
}

/** A copy, since a frame need not begin at a multiple of four bytes. */
const floatsOf = (payload: Buffer): Float32Array => new Float32Array(new Uint8Array(payload).buffer);
