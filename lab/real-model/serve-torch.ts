/**
 * npm run serve-torch -w lab -- --model FOLDER [--port 10700] [--python python3] [--folder STATE] [-- OPTIONS OF torch_engine.py]
 *
 * The Tinker protocol in front of torch_engine.py, on loopback: a real model on one GPU for the benches of `lab/real-model`. Weights that were
 * saved live as long as the process; the newest is also a file (`--keep`). The key is in INSTAR_TORCH_KEY.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startTinkerServer } from '../../train/nano/server/start-tinker-server.ts';
import { openTorchEngine } from './torch-engine.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string' },
    port: { type: 'string', default: '10700' },
    python: { type: 'string', default: 'python3' },
    folder: { type: 'string' },
  },
});
const { model, python } = values;
const key = process.env.INSTAR_TORCH_KEY ?? '';
if (model === undefined || key === '')
  throw new Error('name the model and set a key: INSTAR_TORCH_KEY=… serve-torch --model FOLDER');
const engine = await openTorchEngine({ python, folder: model, more: positionals });
const server = await startTinkerServer({
  engine,
  key,
  folder: values.folder ?? mkdtempSync(path.join(tmpdir(), 'serve-torch-')),
  port: Number(values.port),
  log: (line) => process.stderr.write(`${line}\n`),
  limits: {
    samples: 16_384,
    samplesAtOnce: 4096,
    kept: 32_768,
    keptBytes: 2 ** 30,
    snapshotSteps: 1e9,
    journalBytes: 2 ** 40,
    sessionMs: 3_600_000,
  },
});
process.stdout.write(`${engine.model.name} at ${server.url}\n`);
const stop = async (): Promise<void> => {
  await server.close();
  await engine.close();
};
process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
