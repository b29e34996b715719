import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { asNumber, asObject, asString, compact, type JsonObject, parseJson } from '../src/core/json.ts';

/** Of the newest journals together; a step has a few hundred bytes, what is before it is attempts. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_STEPS = 2000;

/** The steps of training, oldest first, from the journals of a policy's folder. Empty without any. */
export async function readTrainingSteps(folder: string): Promise<readonly JsonObject[]> {
  const names = await readdir(folder).catch(() => []);
  const files: { readonly file: string; readonly changedAt: number }[] = [];
  for (const name of names.filter((one) => one.endsWith('.jsonl'))) {
    const file = path.join(folder, name);
    const stats = await stat(file).catch(() => undefined);
    if (stats !== undefined) files.push({ file, changedAt: stats.mtimeMs });
  }
  files.sort((a, b) => b.changedAt - a.changedAt);
  let steps: readonly JsonObject[] = [];
  let left = MOST_BYTES;
  for (const { file } of files) {
    if (left <= 0 || steps.length >= MOST_STEPS) break;
    const text = await readEnd(file, left);
    left -= text.length;
    steps = [...text.split('\n').flatMap(describeStep), ...steps];
  }
  return steps.slice(-MOST_STEPS).map((step, index) => ({ n: index + 1, ...step }));
}

async function readEnd(file: string, most: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, most);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

const OUTCOMES: Readonly<Record<string, string>> = {
  'step-refused': 'refused',
  'rolled-back': 'rolled-back',
};

function describeStep(line: string): readonly JsonObject[] {
  const entry = asObject(asObject(parseJson(line)).entry);
  const type = asString(entry.type) ?? '';
  if (type !== 'step-ended' && OUTCOMES[type] === undefined) return [];
  const report = asObject(entry.report);
  const seen = asObject(type === 'step-ended' ? report.seen : entry.seen);
  const end = asObject(report.end);
  const [k1, k2] = [asNumber(end.k1), asNumber(end.k2)];
  const version = asNumber(asObject(entry.checkpoint).version) ?? asNumber(asObject(entry.to).version);
  return [
    compact({
      outcome: OUTCOMES[type] ?? (entry.checkpoint === undefined ? 'idle' : 'trained'),
      version: version ?? asNumber(seen.version),
      reward: asNumber(seen.reward),
      completion: asNumber(seen.completion),
      loss: asNumber(report.loss),
      kl: k1 === undefined || k2 === undefined ? undefined : Math.max(k1, k2),
      ratio: asNumber(end.meanRatio),
      clipShare: asNumber(end.clipShare),
      entropy: asNumber(end.entropy),
      gradNorm: asNumber(report.gradNorm),
      tokens: asNumber(end.tokens),
      groups: asNumber(report.groups),
      rollouts: asNumber(report.rollouts),
      why: asString(asObject(entry.refusal).why),
    }),
  ];
}
