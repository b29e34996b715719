import { asNumber, asObject, asString, compact, type JsonObject } from '../../core/json.ts';
import {
  type AdamSettings,
  type StepInput,
  type StepOutput,
  TrainingError,
  type TrainingModel,
} from '../../core/training.ts';
import { checkStepInput, checkStepOutput } from './check-step.ts';
import { decodeJsonTrain, decodeProtoTrain } from './decode-train.ts';
import { encodeTrainCall } from './encode-train.ts';
import { bodyOf } from './explain-refusal.ts';
import { mergeOutputs } from './merge-outputs.ts';
import { jsonCall } from './post.ts';
import { requestJson } from './send-request.ts';
import { splitData } from './split-data.ts';
import { createOrderedRequests } from './submit-in-order.ts';
import type { Submitted } from './submitted.ts';
import type { Answer } from './transport.ts';
import type { Wiring } from './wiring.ts';

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

const decodeTrain = (answer: Answer): StepOutput =>
  answer.type === 'protobuf' ? decodeProtoTrain(answer.bytes) : decodeJsonTrain(answer.bytes);

/** `firstSeq`: the number of its next request. Models count from 1. */
export function createTinkerModel(wiring: Wiring, id: string, firstSeq: number): TinkerModel {
  const { profile } = wiring;
  const requests = createOrderedRequests(wiring, firstSeq);

  const train = (input: StepInput, forwardOnly: boolean, signal: AbortSignal): Submitted<StepOutput> =>
    requests.submit(
      {
        route: forwardOnly ? 'forward' : 'forward_backward',
        parts: () => {
          checkStepInput(input, profile);
          return splitData(input.data, profile.wire, wiring.chunks).map((data) => (seq) => {
            const call = { modelId: id, seq, input: { ...input, data }, forwardOnly };
            return encodeTrainCall(call, profile.wire, profile);
          });
        },
        isLarge: true,
        read: (answers) => checkStepOutput(mergeOutputs(answers.map(decodeTrain)), input),
      },
      signal,
    );
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
        read: ([answer]) => read((answer === undefined ? undefined : bodyOf(answer)) ?? {}),
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
