// A real daemon with one slow job, as a process of its own that can be killed.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openHome } from '../../build/src/config/home.js';
import { loadConfig } from '../../build/src/config/load-config.js';
import { startDaemon } from '../../build/src/daemon/daemon.js';
import { createLog } from '../../build/src/redact/create-log.js';

const [dir, journal] = process.argv.slice(2);
const UNITS = 12;
const home = openHome(dir);
const { config } = loadConfig({ file: home.configFile, env: {} });
const note = (line) => appendFileSync(journal, `${line}\n`);
const job = {
  name: 'slow-test',
  priority: 1,
  needsWindow: true,
  estimate: () => 1000,
  isReady: () => {
    const isDone = existsSync(journal) && readFileSync(journal, 'utf8').includes('done');
    // The scheduler asks a job that runs for nothing: it knows of the end.
    if (isDone) writeFileSync(`${journal}.over`, '');
    return !isDone;
  },
  run: async ({ run, from, signal, checkpoint }) => {
    note(`begin ${run} ${from ?? '-'}`);
    for (let unit = Number(from ?? 0); unit < UNITS; unit++) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      if (signal.aborted) {
        note(`stop ${run} ${unit}`);
        return { end: 'paused' };
      }
      note(`unit ${run} ${unit}`);
      await checkpoint(String(unit + 1));
      note(`kept ${run} ${unit}`);
    }
    note(`done ${run} ${UNITS}`);
    return { end: 'done', note: 'all units' };
  },
};
const away = {
  name: 'test',
  sees: 'nothing',
  read: async () => ({ source: 'test', state: 'away', why: 'said so' }),
};
const daemon = await startDaemon({
  home,
  config,
  env: {},
  log: createLog({ format: 'json', level: 'silent' }),
  port: 0,
  slowWork: {
    jobs: [job],
    sources: [away],
    rules: { quietMs: 300, busyPaceMs: 100, idlePaceMs: 100, restMs: 60_000 },
  },
});
process.stdout.write(`ready ${daemon.port}\n`);
process.on('SIGTERM', () => void daemon.close().then(() => process.exit(0)));
