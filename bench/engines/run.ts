import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { writeSection } from '../write-section.ts';

/** Puts the nano engine behind its server and lets the official Python SDK drive it, in each of the versions given. */
const { values: options } = parseArgs({
  options: {
    /** The python of a virtual environment with `tinker` in it. */
    python: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
  },
});

interface Closable {
  close(): Promise<void>;
}
const fromDist = (file: string): Promise<unknown> => import(pathToFileURL(`dist/nano/${file}.js`).href);
const { openEngineThreads } = (await fromDist('open-engine-threads')) as {
  openEngineThreads(options: { weights: Uint8Array; shape: object; name: string }): Closable;
};
const { startTinkerServer } = (await fromDist('server/start-tinker-server')) as {
  startTinkerServer(options: object): Promise<Closable & { readonly url: string }>;
};

const KEY = 'tml-local';
const { name, shape } = JSON.parse(readFileSync('models/nano/config.json', 'utf8')) as {
  name: string;
  shape: object;
};
const weights = readFileSync('models/nano/weights.safetensors');
const reports: string[] = [];
let failures = 0;
for (const python of options.python) {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-engines-'));
  const engine = openEngineThreads({ weights, shape, name });
  const server = await startTinkerServer({ engine, folder, port: 0, key: KEY });
  const env = { ...process.env, TINKER_API_KEY: KEY, TINKER_TELEMETRY: '0' };
  const run = promisify(execFile)(python, ['bench/engines/drive_sdk.py', server.url], {
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
