import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../../src/base/atomic-file.ts';
import { parseJson } from '../../../src/core/json.ts';
import { cardFrom, cardJson, type ModelCard } from './checkpoints.ts';
import { type Futures, failureOf } from './futures.ts';
import { HttpRefusal } from './http.ts';
import { fileNameOfId } from './model-journal.ts';
import type { RequestContext } from './model-request.ts';
import { createBrokenStore, openModelStore } from './model-store.ts';
import type { TinkerServerLimits } from './server-limits.ts';
import { createTrainedModel, type TrainedModel } from './trained-model.ts';

/** All models, and the runs of ended models that have checkpoints. */
export interface Models {
  /** Resolves with the id of the future once the request is durable; the model is created afterwards. */
  create(card: ModelCard): Promise<string>;
  /** Throws a Refusal (404). */
  get(id: string): TrainedModel;
  live(): readonly TrainedModel[];
  /** The newest first. */
  runs(): readonly ModelCard[];
  /** Finishes the accepted requests, then removes the model from the engine and its files, except for checkpoints. */
  end(model: TrainedModel): Promise<void>;
  close(): Promise<void>;
}

interface ModelsOptions extends RequestContext {
  readonly folder: string;
  readonly futures: Futures;
  readonly limits: TinkerServerLimits;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly onKey: (key: string, print: string, requestId: string, modelId: string) => void;
}

/** The future of a model's creation. */
const creationId = (id: string): string => `${id}:0`;

const creationReply = ({ id, from }: ModelCard) =>
  from === undefined
    ? { type: 'create_model', model_id: id }
    : { type: 'load_weights', model_id: id, path: from.path };

/** The cards of models, each in a folder with the model's files. */
async function openCards(folder: string, log: (line: string) => void) {
  const cards = new Map<string, ModelCard>();
  const folderFor = (id: string): string => path.join(folder, fileNameOfId(id));
  const write = async (card: ModelCard): Promise<void> => {
    await mkdir(folderFor(card.id), { recursive: true });
    await replaceFile(path.join(folderFor(card.id), 'model.json'), JSON.stringify(cardJson(card)));
    cards.set(card.id, card);
  };
  await mkdir(folder, { recursive: true });
  for (const card of await readCards(folder, log)) cards.set(card.id, card);
  return {
    folderFor,
    write,
    get: (id: string): ModelCard | undefined => cards.get(id),
    all: (): readonly ModelCard[] => [...cards.values()],
    /** Known, and not yet written. */
    put: (card: ModelCard): void => void cards.set(card.id, card),
    drop: (id: string): void => void cards.delete(id),
    /** Of a model that has ended the card stays while its checkpoints are kept, otherwise nothing. */
    clear: async (card: ModelCard, hasCheckpoints: boolean): Promise<void> => {
      if (hasCheckpoints) {
        await write({ ...card, isEnded: true });
        for (const file of await readdir(folderFor(card.id))) {
          if (file !== 'model.json') await rm(path.join(folderFor(card.id), file), { force: true });
        }
      } else {
        cards.delete(card.id);
        await rm(folderFor(card.id), { recursive: true, force: true });
      }
    },
  };
}

export async function openModels(options: ModelsOptions): Promise<Models> {
  const { folder, futures, limits, log } = options;
  const live = new Map<string, TrainedModel>();
  const cards = await openCards(folder, log);
  const making = new Map<string, Promise<void>>();
  const admit = createAdmission(limits.total);
  const start = async (card: ModelCard): Promise<void> => {
    const { id } = card;
    const modelFolder = cards.folderFor(id);
    const onKey = (key: string, print: string, requestId: string): void =>
      options.onKey(key, print, requestId, id);
    const store = await openModelStore(modelFolder).catch(createBrokenStore);
    const model = createTrainedModel({ ...options, folder: modelFolder, card, admit, onKey }, store);
    live.set(id, model);
    futures.open(creationId(id));
    model.made.then(
      () => futures.settle(creationId(id), { kind: 'json', body: creationReply(card) }),
      (error: unknown) => {
        const failure = failureOf(error);
        log(`model ${id} could not be created: ${failure.error}`);
        live.delete(id);
        cards.drop(id);
        // The client may use the number again, for a valid request.
        rm(modelFolder, { recursive: true, force: true })
          .catch((fault: Error) => log(fault.message))
          .finally(() => futures.settle(creationId(id), failure));
      },
    );
    // Clients may ask at once for earlier results of a model that existed before.
    if (store !== undefined) await model.made;
  };

  const clear = (card: ModelCard): Promise<void> =>
    cards.clear(card, options.checkpoints.list(card.id).length > 0);

  for (const card of cards.all()) {
    if (card.isEnded) await clear(card);
    else await start(card);
  }

  return {
    create: async (card) => {
      const id = creationId(card.id);
      const before = cards.get(card.id);
      if (before !== undefined) {
        if (before.print !== card.print)
          throw new HttpRefusal(409, `Model ${card.id} was requested with other parameters.`);
        await making.get(card.id);
        return id;
      }
      if (futures.peek(id) !== undefined) futures.forget(id);
      cards.put(card);
      const creation = cards.write(card).then(() => start(card));
      making.set(card.id, creation);
      try {
        await creation;
      } catch (error) {
        cards.drop(card.id);
        throw error;
      } finally {
        making.delete(card.id);
      }
      return id;
    },
    get: (id) => {
      const model = live.get(id);
      if (model === undefined) throw new HttpRefusal(404, `Model ${id.slice(0, 100)} does not exist.`);
      return model;
    },
    live: () => [...live.values()],
    runs: () => cards.all().toSorted((a, b) => b.created - a.created),
    end: async (model) => {
      await model.drained();
      live.delete(model.card.id);
      await model.close('The model was unloaded, or its session has ended.');
      await clear(model.card);
      if (model.state !== undefined) await options.engine.dispose(model.state.adapter);
    },
    close: async () => {
      await Promise.all([...live.values()].map((model) => model.close()));
    },
  };
}

/** Takes a place in the queue of all models; the result releases it. Throws a Refusal (429) when there is none. */
function createAdmission(most: number): () => () => void {
  let queued = 0;
  return () => {
    if (queued >= most) throw new HttpRefusal(429, 'Too many requests are queued.', 1);
    queued++;
    let isQueued = true;
    return () => {
      if (isQueued) queued--;
      isQueued = false;
    };
  };
}

async function readCards(folder: string, log: (line: string) => void): Promise<readonly ModelCard[]> {
  const cards: ModelCard[] = [];
  for (const name of await readdir(folder)) {
    const text = await readFile(path.join(folder, name, 'model.json'), 'utf8').catch(() => '');
    const card = cardFrom(parseJson(text));
    if (card !== undefined) cards.push(card);
    // The process died between creating the folder and its card: no client got a reply.
    else log(`model ${name} has no readable model.json and is skipped`);
  }
  return cards;
}
