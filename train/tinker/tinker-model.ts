import { asNumber, asObject, asString, compact, type JsonObject } from '../../src/core/json.ts';
import {
  type AdamSettings,
  type EngineProfile,
  type StepInput,
  type StepOutput,
  TrainingError,
  type TrainingModel,
} from '../../src/core/training.ts';
import { type BatchChunk, layOutBatch, withoutFilling } from './batch-layout.ts';
import { createOrderedRequests, type Submitted } from './ordered-requests.ts';
import { jsonCall } from './post.ts';
import { requestJson, type TinkerConnection } from './send-request.ts';
import { jsonBodyOf } from './server-replies.ts';
import { decodeJsonTrain, decodeProtoTrain, encodeTrainCall } from './train-messages.ts';
import type { ServerAnswer } from './transport.ts';

/** A model whose submissions can be followed after the caller has stopped waiting. */
export interface TinkerModel extends TrainingModel {
  forwardBackward(input: StepInput, signal: AbortSignal): Submitted<StepOutput>;
  optimStep(adam: AdamSettings, signal: AbortSignal): Submitted<Readonly<Record<string, number>>>;
  /** Why it can no longer be trained: its state on the server is uncertain. */
  readonly broken: TrainingError | undefined;
}

/** Some servers use the name as a file path without checking it. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const NEVER = new AbortController().signal;

const decodeTrain = (answer: ServerAnswer): StepOutput =>
  answer.type === 'protobuf' ? decodeProtoTrain(answer.bytes) : decodeJsonTrain(answer.bytes);

/** `firstSeq`: the number of its next request. Models count from 1. */
export function createTinkerModel(wiring: TinkerConnection, id: string, firstSeq: number): TinkerModel {
  const { profile } = wiring;
  const requests = createOrderedRequests(wiring, firstSeq);

  const { wire } = profile;
  const train = (input: StepInput, forwardOnly: boolean, signal: AbortSignal): Submitted<StepOutput> => {
    let chunks: readonly BatchChunk[] = [];
    const readPart = (answer: ServerAnswer, at: number): StepOutput => {
      const chunk = chunks[at];
      return chunk === undefined ? decodeTrain(answer) : withoutFilling(decodeTrain(answer), chunk);
    };
    return requests.submit(
      {
        route: forwardOnly ? 'forward' : 'forward_backward',
        parts: () => {
          checkStepInput(input, profile);
          const { traits, chunks: limits } = wiring;
          chunks = layOutBatch(input, { forwardOnly, wire, limits, traits });
          return chunks.map(({ data }) => (seq) => {
            const call = { modelId: id, seq, input: { ...input, data }, forwardOnly };
            return encodeTrainCall(call, wire, profile);
          });
        },
        isLarge: true,
        read: (answers) => checkStepOutput(mergeOutputs(answers.map(readPart)), input),
      },
      signal,
    );
  };
  const submitJson = <T>(
    route: string,
    body: JsonObject,
    read: (body: JsonObject) => T,
    signal: AbortSignal,
  ): Submitted<T> =>
    requests.submit(
      {
        route,
        parts: () => [(seq) => jsonCall(route, { ...body, model_id: id, seq_id: seq, type: route })],
        isLarge: false,
        read: ([answer]) => read((answer === undefined ? undefined : jsonBodyOf(answer)) ?? {}),
      },
      signal,
    );
  const save = async (route: string, name: string): Promise<string> => {
    if (!NAME.test(name)) throw new TrainingError('user', `${name} is not a name for a checkpoint`);
    return submitJson(route, { path: name }, (body) => pathIn(body, route), NEVER).done;
  };

  return {
    id,
    get broken() {
      return requests.broken;
    },
    forward: (input, signal) => train(input, true, signal).done,
    forwardBackward: (input, signal) => train(input, false, signal),
    optimStep: (adam, signal) =>
      submitJson('optim_step', { adam_params: adamParams(adam) }, metricsIn, signal),
    saveState: (name) => save('save_weights', name),
    saveForSampler: (name) => save('save_weights_for_sampler', name),
    close: async () => {
      await requests.sent();
      const call = jsonCall('unload_model', { model_id: id, type: 'unload_model' });
      await requestJson(wiring, call).catch((error: TrainingError) => {
        // The server drops the model with the session at the latest.
        wiring.log(`${id} was not unloaded: ${error.message}`);
      });
    },
  };
}

function adamParams(adam: AdamSettings): JsonObject {
  return compact({
    learning_rate: adam.learningRate,
    beta1: adam.beta1 ?? 0.9,
    beta2: adam.beta2 ?? 0.95,
    eps: adam.eps ?? 1e-12,
    weight_decay: adam.weightDecay ?? 0,
    grad_clip_norm: adam.gradClipNorm ?? 0,
  });
}

function metricsIn(body: JsonObject): Readonly<Record<string, number>> {
  const metrics = Object.entries(asObject(body.metrics)).flatMap(([name, value]): [string, number][] => {
    const number = asNumber(value);
    // SkyRL's `skyrl.ai/grad_norm` is what others call `grad_norm`.
    return number === undefined ? [] : [[name.slice(name.lastIndexOf('/') + 1), number]];
  });
  return Object.fromEntries(metrics);
}

function pathIn(body: JsonObject, route: string): string {
  const path = asString(body.path);
  if (path === undefined) throw new TrainingError('server', `${route}: the answer has no path`);
  return path;
}

const LARGEST_TOKEN = 2 ** 31 - 1;
const isToken = (token: number): boolean => Number.isInteger(token) && token >= 0 && token <= LARGEST_TOKEN;

/** Throws a TrainingError for a step that no server could do, before anything is sent. */
function checkStepInput(input: StepInput, profile: EngineProfile): void {
  const refuse = (detail: string): never => {
    throw new TrainingError('user', detail);
  };
  if (!profile.losses.includes(input.loss)) refuse(`${profile.name} has no loss ${input.loss}`);
  if (input.data.length === 0) refuse('there is no data');
  for (const [name, value] of Object.entries(input.config ?? {}))
    if (!Number.isFinite(value)) refuse(`${name} is ${value}`);
  input.data.forEach((datum, i) => {
    const { tokens, targets, weights, advantages, logprobs } = datum;
    if (tokens.length === 0) refuse(`datum ${i} has no tokens`);
    if (tokens.length > profile.contextLength)
      refuse(`datum ${i} has ${tokens.length} tokens; the context length is ${profile.contextLength}`);
    if (!tokens.every(isToken) || !targets.every(isToken)) refuse(`datum ${i} has tokens that are not ids`);
    if (input.loss !== 'cross_entropy' && (advantages === undefined || logprobs === undefined))
      refuse(`datum ${i} has no advantages or no logprobs, which ${input.loss} needs`);
    const rows = { targets, weights, advantages: advantages ?? tokens, logprobs: logprobs ?? tokens };
    for (const [name, row] of Object.entries(rows)) {
      if (row.length !== tokens.length)
        refuse(`datum ${i} has ${tokens.length} tokens and ${row.length} ${name}`);
      if (!row.every(Number.isFinite)) refuse(`datum ${i} has ${name} that are not finite`);
    }
  });
}

/** Throws when the answer does not match the data that was sent. */
function checkStepOutput(output: StepOutput, { data }: StepInput): StepOutput {
  const { logprobs } = output;
  if (logprobs.length !== data.length)
    throw new TrainingError(
      'server',
      `the server returned ${logprobs.length} outputs for ${data.length} data`,
    );
  data.forEach(({ tokens }, i) => {
    const length = logprobs[i]?.length;
    if (length !== tokens.length)
      throw new TrainingError(
        'server',
        `the server returned ${length} log-probabilities for the ${tokens.length} tokens of datum ${i}`,
      );
  });
  return output;
}

interface Part {
  readonly value: number;
  /** The number of data it covers. */
  readonly weight: number;
}

type Merge = (parts: readonly Part[]) => number;

const highest: Merge = (parts) =>
  parts.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
const mean: Merge = (parts) => {
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  return parts.reduce((sum, part) => sum + part.value * part.weight, 0) / weight;
};

/** The suffix after a metric's colon names the reduction. */
const MERGES: Readonly<Record<string, Merge>> = {
  mean,
  sum: (parts) => parts.reduce((sum, { value }) => sum + value, 0),
  min: (parts) => parts.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY),
  max: highest,
  slack: (parts) => highest(parts) - mean(parts),
};

/**
 * Merges the outputs of a request's chunks. A metric that some chunks lack, or without a known reduction, is dropped: a
 * partial value would be wrong. A single chunk is returned unchanged.
 */
export function mergeOutputs(outputs: readonly StepOutput[]): StepOutput {
  const [first] = outputs;
  if (first === undefined) return { logprobs: [], metrics: {} };
  if (outputs.length === 1) return first;
  const merged: [string, number][] = [];
  for (const name of Object.keys(first.metrics)) {
    const merge = MERGES[name.slice(name.lastIndexOf(':') + 1)];
    const parts = outputs.flatMap(({ metrics, logprobs }) => {
      const value = metrics[name];
      return value === undefined ? [] : [{ value, weight: logprobs.length }];
    });
    if (merge !== undefined && parts.length === outputs.length) merged.push([name, merge(parts)]);
  }
  return { logprobs: outputs.flatMap(({ logprobs }) => logprobs), metrics: Object.fromEntries(merged) };
}
