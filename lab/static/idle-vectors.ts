import { writeFileSync } from 'node:fs';
import { writeSafetensors } from '../../src/base/safetensors.ts';
import { loadMiniLm } from '../../src/embed/minilm/encoder.ts';
import { MINILM, MOST_PIECES } from '../../src/embed/minilm-embed.ts';
import { IDLE_REQUESTS, idleRequestsHash } from '../../src/lessons/recall/idle-requests.ts';

/**
 * Writes the vectors of `IDLE_REQUESTS` by the sentence model, a row each; again whenever a sentence or the model changes.
 *
 *     node build/lab/static/idle-vectors.js
 */
const model = await loadMiniLm(MOST_PIECES);
const vectors = IDLE_REQUESTS.map((text) => model.embed(text));
const values = Float32Array.from(vectors.flatMap((vector) => [...vector]));
const shape = [vectors.length, model.dimensions];
const metadata = { model: MINILM, requests: idleRequestsHash() };
writeFileSync(
  'models/static/idle-requests.safetensors',
  writeSafetensors(new Map([['vectors', { shape, values }]]), metadata),
);
