import { parentPort } from 'node:worker_threads';
import { loadMiniLm, type MiniLm } from './minilm/encoder.ts';
import type { EmbedReply, EmbedRequest } from './minilm-embed.ts';

const port = parentPort;
if (!port) throw new Error('minilm-thread is a thread');

const say = (answer: EmbedReply): void => port.postMessage(answer);
const because = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a text is about stands in its beginning, and every token costs time. */
const MAX_TOKENS = 128;

let model: MiniLm | undefined;
try {
  model = await loadMiniLm(MAX_TOKENS);
  say({ type: 'ready' });
} catch (error) {
  say({ type: 'broken', why: because(error) });
}

port.on('message', ({ id, text, most }: EmbedRequest) => {
  if (model === undefined) return;
  try {
    const vector = most === undefined ? model.embed(text) : model.embedStart(text, most);
    say({ type: 'vector', id, vector });
  } catch (error) {
    say({ type: 'failed', id, why: because(error) });
  }
});
