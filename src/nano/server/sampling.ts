import { randomInt, randomUUID } from 'node:crypto';
import { type Engine, EngineError } from '../engine.ts';
import { alignPromptLogprobs, type SampleAsk, toSampleRequest } from '../tinker/sample-ask.ts';
import type { Futures } from './futures.ts';
import type { Limits } from './limits.ts';
import { failureOf } from './outcome.ts';
import { Refusal } from './refusal.ts';
import type { Samplers } from './samplers.ts';

/** Runs sampling requests, a few at a time. They change nothing and are not stored: after a kill, clients send them again. */
export interface Sampling {
  /** The id of the future. A repeated sequence number of a session with the same content gets the same id. */
  submit(ask: SampleAsk, print: string): string;
  /** Cancels a request that has not ended. */
  cancel(requestId: string): void;
  /** Cancels all requests whose id has this prefix. */
  cancelAll(prefix: string): void;
  close(): Promise<void>;
}

export interface SamplingOptions {
  readonly engine: Engine;
  readonly samplers: Samplers;
  readonly futures: Futures;
  readonly limits: Limits;
  readonly endOfText: readonly number[];
  readonly log: (line: string) => void;
}

interface Queued {
  readonly id: string;
  readonly ask: SampleAsk;
  readonly controller: AbortController;
}

const SEEDS = 2 ** 32;

export function createSampling({
  engine,
  samplers,
  futures,
  limits,
  endOfText,
  log,
}: SamplingOptions): Sampling {
  const queue: Queued[] = [];
  const running = new Map<Queued, Promise<void>>();
  const prints = new Map<string, string>();

  const pathOf = ({ samplerId, path, baseModel }: SampleAsk): string | undefined => {
    if (samplerId !== undefined) {
      const sampler = samplers.find(samplerId);
      if (sampler === undefined)
        throw new EngineError(`Sampling session ${samplerId.slice(0, 100)} does not exist.`);
      return sampler.path;
    }
    if (path === undefined && baseModel !== engine.model.name)
      throw new EngineError(
        `Model "${String(baseModel).slice(0, 100)}" does not exist; the model is ${engine.model.name}.`,
      );
    return path;
  };

  const run = async ({ id, ask, controller }: Queued): Promise<void> => {
    const { signal } = controller;
    try {
      const request = toSampleRequest(ask, engine.model, endOfText, randomInt(SEEDS));
      const result = await samplers.withWeights(pathOf(ask), (weights) =>
        engine.sample(weights, request, signal),
      );
      futures.settle(id, { kind: 'sample', result: alignPromptLogprobs(result, ask) });
    } catch (error) {
      const failure = signal.aborted
        ? failureOf(new EngineError('The request was cancelled.'))
        : failureOf(error);
      if (failure.category === 'server') log(`sampling ${id} failed: ${failure.error}`);
      futures.settle(id, failure);
    }
  };
  const next = (): void => {
    while (running.size < limits.samplesAtOnce) {
      const one = queue.shift();
      if (one === undefined) return;
      const done = run(one).finally(() => {
        running.delete(one);
        next();
      });
      running.set(one, done);
    }
  };
  const cancelWhere = (isMeant: (id: string) => boolean): void => {
    for (const { id, controller } of running.keys()) if (isMeant(id)) controller.abort();
    for (let i = queue.length - 1; i >= 0; i--) {
      const one = queue[i];
      if (one === undefined || !isMeant(one.id)) continue;
      queue.splice(i, 1);
      futures.settle(one.id, failureOf(new EngineError('The request was cancelled.')));
    }
  };

  return {
    submit: (ask, print) => {
      const isNumbered = ask.samplerId !== undefined && ask.seqId !== undefined;
      const id = isNumbered ? `${ask.samplerId}:${ask.seqId}` : `sample:${randomUUID()}`;
      if (futures.peek(id) !== undefined) {
        if (prints.get(id) !== print)
          throw new Refusal(409, `Request ${ask.seqId} of this sampling session had other content.`);
        return id;
      }
      if (queue.length >= limits.samples) throw new Refusal(429, 'Too many sampling requests are queued.', 1);
      futures.open(id);
      if (isNumbered) {
        prints.set(id, print);
        for (const old of prints.keys()) {
          if (prints.size <= limits.kept) break;
          prints.delete(old);
        }
      }
      queue.push({ id, ask, controller: new AbortController() });
      next();
      return id;
    },
    cancel: (requestId) => cancelWhere((id) => id === requestId),
    cancelAll: (prefix) => cancelWhere((id) => id.startsWith(prefix)),
    close: async () => {
      cancelWhere(() => true);
      await Promise.all(running.values());
    },
  };
}
