// A real process of a shared record with scripted night work, which can be killed: `HOME JOURNAL NAME KINDS`, where KINDS is what a worker
// does, or `gateway`. Every job writes a line for each unit; sources of presence say that nobody is there.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { openHome } from '../../build/src/config/home.js';
import { loadConfig } from '../../build/src/config/load-config.js';
import { startDaemon } from '../../build/src/daemon/daemon.js';
import { createLog } from '../../build/src/redact/create-log.js';

const [dir, journal, name, kinds] = process.argv.slice(2);
const UNITS = 8;
/** From here on a job waits until the file `JOURNAL.go` is there. */
const HALF = 4;
const home = openHome(dir);
const { config } = loadConfig({ file: home.configFile, env: {} });
const note = (line) => appendFileSync(journal, `${line}\n`);
const isDone = (job) => existsSync(journal) && readFileSync(journal, 'utf8').includes(`done ${job} `);
const jobNamed = (job) => ({
  name: job,
  priority: 1,
  needsWindow: true,
  estimate: () => 1000,
  isReady: () => !isDone(job),
  run: async ({ run, from, signal, checkpoint }) => {
    note(`begin ${job} ${name} ${run} ${from ?? '-'}`);
    for (let unit = Number(from ?? 0); unit < UNITS; unit++) {
      do await new Promise((resolve) => setTimeout(resolve, 50));
      while (unit >= HALF && !signal.aborted && !existsSync(`${journal}.go`));
      if (signal.aborted) return { end: 'paused' };
      await checkpoint(String(unit + 1));
      note(`kept ${job} ${name} ${run} ${unit}`);
    }
    note(`done ${job} ${name} ${run}`);
    return { end: 'done', note: 'all units' };
  },
});
const away = {
  name: 'test',
  sees: 'nothing',
  read: async () => ({ source: 'test', state: 'away', why: 'said so' }),
};
const has = (kind) => kinds.split(',').includes(kind);
const daemon = await startDaemon({
  home,
  config,
  env: {},
  log: createLog({ format: 'json', level: 'info', stream: process.stderr }),
  port: 0,
  ...(kinds === 'gateway'
    ? {}
    : { work: { learning: has('learning'), attempts: has('attempts'), training: has('training') } }),
  slowWork: {
    // The name of the real job that trains, and one of those that are done where learning is.
    jobs: [jobNamed('training'), jobNamed('consolidation')],
    sources: [away],
    rules: { quietMs: 300, busyPaceMs: 100, idlePaceMs: 100, restMs: 500 },
  },
});
process.stdout.write(`ready ${daemon.port}\n`);
process.on('SIGTERM', () => void daemon.close().then(() => process.exit(0)));
