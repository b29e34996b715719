import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { ModelShape } from '../../../train/nano/model/decoder-weights.ts';
import { startTinkerServer } from '../../../train/nano/server/start-tinker-server.ts';
import { openThreadedEngine } from '../../../train/nano/threaded-engine.ts';
import { writeSection } from '../markdown.ts';

/** Starts the nano engine's server and drives it with each of the given versions of the official Python SDK. */
const { values: options } = parseArgs({
  options: {
    /** The python of a virtual environment with `tinker` in it. */
    python: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
  },
});

const KEY = 'tml-local';
const { name, shape } = JSON.parse(readFileSync('models/nano/config.json', 'utf8')) as {
  name: string;
  shape: ModelShape;
};
const weights = readFileSync('models/nano/weights.safetensors');
const reports: string[] = [];
let failures = 0;
for (const python of options.python) {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-engines-'));
  const engine = openThreadedEngine({ weights, shape, name });
  const server = await startTinkerServer({ engine, folder, port: 0, key: KEY });
  const env = { ...process.env, TINKER_API_KEY: KEY, TINKER_TELEMETRY: '0' };
  const run = promisify(execFile)(python, ['lab/measure/engines/drive_sdk.py', server.url], {
    env,
    timeout: 300_000,
  });
  const { stdout } = await run.catch((error: { stdout: string }) => {
    failures++;
    return error;
  });
  // Ids and ports differ from run to run.
  reports.push(
    stdout
      .trim()
      .replaceAll(/s-[0-9a-f-]{36}/g, 's-…')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:…'),
  );
  await server.close();
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
}
const text = reports.map((report) => `\`\`\`\n${report}\n\`\`\``).join('\n\n');
process.stdout.write(`${text}\n`);
if (options.write) {
  const when = new Date().toISOString().slice(0, 10);
  writeSection('docs/engines.md', 'bench:engines', `${when}, Node ${process.versions.node}.\n\n${text}`);
}
process.exitCode = failures === 0 ? 0 : 1;
