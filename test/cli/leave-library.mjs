import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../../dist/src/index.js';

/** A program with Instar in it, which learns here: it closes it and ends with 7, or ends with 7 in the middle of its work. */
const [home, way, config] = process.argv.slice(2);
writeFileSync(join(home, 'config.json'), config, { mode: 0o600 });
const instar = await open({ home, learn: true, agent: 'program' });
let ended = 0;
const work = async (name) => {
  for (let nth = 0; ; nth++) {
    const episode = await instar.episode(`Compile part ${nth} of ${name}`);
    await episode.attempt({ action: `make part-${nth}`, result: `no rule for part-${nth}`, ok: false });
    await episode.attempt({ action: `make all part=${nth}`, result: 'done', ok: true });
    await episode.end({ success: true });
    ended++;
  }
};
const stopped = [1, 2, 3].map((name) => work(name).catch(() => undefined));
while (ended < 8) await new Promise((resolve) => setTimeout(resolve, 5));
process.exitCode = 7;
if (way === 'exit') process.exit(7);
await instar.close();
await Promise.all(stopped);
