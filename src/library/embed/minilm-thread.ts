import { parentPort } from 'node:worker_threads';
import type { ModelAnswer, ModelQuestion } from './minilm-jobs.ts';
import { loadMiniLm, type MiniLmModel } from './minilm-model.ts';

const port = parentPort;
if (!port) throw new Error('minilm-thread is a thread');

const say = (answer: ModelAnswer): void => port.postMessage(answer);
const because = (error: unknown): string => (error instanceof Error ? error.message : String(error));

let model: MiniLmModel | undefined;
try {
  model = await loadMiniLm();
  say({ type: 'ready' });
} catch (error) {
  say({ type: 'broken', why: because(error) });
}

port.on('message', ({ id, text }: ModelQuestion) => {
  if (model === undefined) return;
  model.embed(text).then(
    (vector) => say({ type: 'vector', id, vector }),
    (error: unknown) => say({ type: 'failed', id, why: because(error) }),
  );
});
