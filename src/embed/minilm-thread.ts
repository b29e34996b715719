import { parentPort } from 'node:worker_threads';
import { loadMiniLm, type MiniLm } from './minilm/encoder.ts';
import { type EmbedReply, type EmbedRequest, MOST_PIECES } from './minilm-embed.ts';

const port = parentPort;
if (!port) throw new Error('minilm-thread is a thread');

const say = (answer: EmbedReply): void => port.postMessage(answer);
const because = (error: unknown): string => (error instanceof Error ? error.message : String(error));

let model: MiniLm | undefined;
try {
  model = await loadMiniLm(MOST_PIECES);
  if (model.problem !== undefined) process.emitWarning(model.problem);
  say({ type: 'ready' });
} catch (error) {
  say({ type: 'broken', why: because(error) });
}

port.on('message', ({ id, text, most = MOST_PIECES }: EmbedRequest) => {
  if (model === undefined) return;
  try {
    say({ type: 'vector', id, ...model.embedStart(text, most) });
  } catch (error) {
    say({ type: 'failed', id, why: because(error) });
  }
});
