import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseJson } from '../../core/json.ts';
import type { Tools } from './apply-job.ts';
import { writeDurably } from './durable-file.ts';
import { folderOf } from './folder-of.ts';
import type { Futures } from './futures.ts';
import type { Limits } from './limits.ts';
import { cardFrom, cardJson, type ModelCard } from './model-card.ts';
import { createBrokenStore, openModelStore } from './model-store.ts';
import { failureOf } from './outcome.ts';
import { Refusal } from './refusal.ts';
import { createTrainedModel, type TrainedModel } from './trained-model.ts';

/** All models, and the runs that are left of those that ended with checkpoints. */
export interface Models {
  /** Answers with the id of the future, at once and durably; the model is made afterwards. */
  create(card: ModelCard): Promise<string>;
  /** Refuses with 404. */
  get(id: string): TrainedModel;
  live(): readonly TrainedModel[];
  /** The newest first. */
  runs(): readonly ModelCard[];
  /** Out of the engine and off the disk, except for its checkpoints, when what was accepted is done. */
  end(model: TrainedModel): Promise<void>;
  close(): Promise<void>;
}

export interface ModelsOptions extends Tools {
  readonly folder: string;
  readonly futures: Futures;
  readonly limits: Limits;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly onKey: (key: string, print: string, requestId: string, modelId: string) => void;
}

export async function openModels(options: ModelsOptions): Promise<Models> {
  const { folder, futures, limits, log } = options;
  const live = new Map<string, TrainedModel>();
  const cards = new Map<string, ModelCard>();
  const making = new Map<string, Promise<void>>();
  let queued = 0;
  const folderFor = (id: string): string => path.join(folder, folderOf(id));
  const cardFile = (id: string): string => path.join(folderFor(id), 'model.json');
  const writeCard = async (card: ModelCard): Promise<void> => {
    await mkdir(folderFor(card.id), { recursive: true });
    await writeDurably(cardFile(card.id), JSON.stringify(cardJson(card)));
    cards.set(card.id, card);
  };
  const admit = (): (() => void) => {
    if (queued >= limits.total) throw new Refusal(429, 'Too many requests wait.', 1);
    queued++;
    let isHere = true;
    return () => {
      if (isHere) queued--;
      isHere = false;
    };
  };
  const idOfMaking = (id: string): string => `${id}:0`;

  const start = async (card: ModelCard): Promise<void> => {
    const { id } = card;
    const onKey = (key: string, print: string, requestId: string): void =>
      options.onKey(key, print, requestId, id);
    const store = await openModelStore(folderFor(id)).catch(createBrokenStore);
    const model = createTrainedModel({ ...options, folder: folderFor(id), card, admit, onKey }, store);
    live.set(id, model);
    futures.open(idOfMaking(id));
    model.made.then(
      () => {
        const type = card.from === undefined ? 'create_model' : 'load_weights';
        const from = card.from === undefined ? {} : { path: card.from.path };
        futures.settle(idOfMaking(id), { kind: 'json', body: { type, model_id: id, ...from } });
      },
      (error: unknown) => {
        const failure = failureOf(error);
        log(`model ${id} was not made: ${failure.error}`);
        live.delete(id);
        cards.delete(id);
        // Its number may be used again, for a request that can be done.
        rm(folderFor(id), { recursive: true, force: true })
          .catch((fault: Error) => log(fault.message))
          .finally(() => futures.settle(idOfMaking(id), failure));
      },
    );
    // Of a model that was there, clients may ask at once for answers of before.
    if (store !== undefined) await model.made;
  };

  const clear = async (card: ModelCard): Promise<void> => {
    const isPinned = options.checkpoints.list(card.id).length > 0;
    if (isPinned) {
      await writeCard({ ...card, isEnded: true });
      for (const file of await readdir(folderFor(card.id))) {
        if (file !== 'model.json') await rm(path.join(folderFor(card.id), file), { force: true });
      }
    } else {
      cards.delete(card.id);
      await rm(folderFor(card.id), { recursive: true, force: true });
    }
  };

  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const text = await readFile(path.join(folder, name, 'model.json'), 'utf8').catch(() => '');
    const card = cardFrom(parseJson(text));
    if (card === undefined) {
      // The folder was made and the card was not: nobody was told of it.
      log(`model ${name} has no readable card and was left out`);
      continue;
    }
    cards.set(card.id, card);
    if (card.isEnded) await clear(card);
    else await start(card);
  }

  return {
    create: async (card) => {
      const id = idOfMaking(card.id);
      const before = cards.get(card.id);
      if (before !== undefined) {
        if (before.print !== card.print)
          throw new Refusal(409, `The model ${card.id} was asked for otherwise.`);
        await making.get(card.id);
        return id;
      }
      if (futures.peek(id) !== undefined) futures.forget(id);
      cards.set(card.id, card);
      const made = writeCard(card).then(() => start(card));
      making.set(card.id, made);
      try {
        await made;
      } catch (error) {
        cards.delete(card.id);
        throw error;
      } finally {
        making.delete(card.id);
      }
      return id;
    },
    get: (id) => {
      const model = live.get(id);
      if (model === undefined) throw new Refusal(404, `There is no model ${id.slice(0, 100)}.`);
      return model;
    },
    live: () => [...live.values()],
    runs: () => [...cards.values()].sort((a, b) => b.created - a.created),
    end: async (model) => {
      await model.drained();
      live.delete(model.card.id);
      await model.close('The model was unloaded, or its session is over.');
      await clear(model.card);
      if (model.state !== undefined) await options.engine.dispose(model.state.adapter);
    },
    close: async () => {
      await Promise.all([...live.values()].map((model) => model.close()));
    },
  };
}
