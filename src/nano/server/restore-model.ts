import { applyJob, type Tools } from './apply-job.ts';
import type { ModelState } from './checkpoints.ts';
import type { ModelCard } from './model-card.ts';
import type { History } from './model-store.ts';

/** Restores a model from its files: loads the snapshot, then repeats the requests since that changed the model. */
export async function restoreModel(history: History, card: ModelCard, tools: Tools): Promise<ModelState> {
  const { base, lora, saved, asked, ended } = history;
  let state: ModelState = { adapter: await tools.engine.load(saved, true), lora };
  for (const seq of [...ended.keys()].sort((a, b) => a - b)) {
    const job = asked.get(seq)?.job;
    if (seq <= base || job === undefined || ended.get(seq)?.outcome.kind === 'failed') continue;
    const changesModel =
      job.kind === 'optim_step' || job.kind === 'load_weights' || job.train?.forwardOnly === false;
    if (changesModel) state = (await applyJob(job, seq, card, state, tools)).state;
  }
  return state;
}
