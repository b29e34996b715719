// A program that supervises an engine, as a process of its own that can be killed.
import { superviseEngine } from '../../../dist/app/engine/supervise-engine.js';
import { createLog } from '../../../dist/app/log.js';
import { openHome } from '../../../dist/config/home.js';
import { systemClock } from '../../../dist/core/clock.js';

const [dir] = process.argv.slice(2);
const log = createLog({ format: 'json', level: 'info' });
const engine = await superviseEngine({ home: openHome(dir), log, clock: systemClock, env: process.env });
await engine.ready();
process.stdout.write(`${engine.pid()} ${engine.url}\n`);
setInterval(() => undefined, 60_000);
