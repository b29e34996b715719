// A program that supervises an engine, as a process of its own that can be killed.

import { createEngineKey } from '../../build/src/config/engine-key.js';
import { openHome } from '../../build/src/config/home.js';
import { systemClock } from '../../build/src/core/clock.js';
import { createLog } from '../../build/src/redact/create-log.js';
import { superviseEngine } from '../../build/train/engine-process.js';

const [dir] = process.argv.slice(2);
const log = createLog({ format: 'json', level: 'info' });
const engine = await superviseEngine({
  home: openHome(dir),
  log,
  clock: systemClock,
  env: process.env,
  key: createEngineKey(),
});
await engine.ready();
process.stdout.write(`${engine.pid()} ${engine.url}\n`);
setInterval(() => undefined, 60_000);
