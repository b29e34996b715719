// Uses the built store: a separate process cannot load TypeScript.
import { writeSync } from 'node:fs';
import { lockHome } from '../../../build/src/record/home-lock.js';
import { openSqliteStore } from '../../../build/src/record/store/sqlite-store.js';

const [job, file, name, count] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);
const startOf = (turn, session) => ({
  type: 'turn-start',
  turn,
  session,
  agent: 'agent',
  role: 'main',
  wire: 'anthropic',
  model: 'fast',
  generation: 1,
  policy: 'maker/fast',
  lessons: [],
});
const endOf = (turn) => ({ type: 'turn-end', turn, status: 'complete', httpStatus: 200, totalMs: 1 });
const untilReleased = (done) => {
  process.stdin.on('end', done).resume();
};

const jobs = {
  /** Appends facts one by one and prints each number once it is durable. */
  append: () => {
    const store = openSqliteStore({ file });
    const most = Number(count ?? Number.POSITIVE_INFINITY);
    for (let n = 1; n <= most; n++) {
      const turn = `${name}-${n}`;
      const [{ seq }] = store.append({
        facts: [{ at: n, fact: startOf(turn, `${name}-session`), key: turn }],
        blocks: [
          {
            hash: Buffer.from(turn).toString('hex'),
            text: `text of ${turn} `.repeat(60),
            session: `${name}-session`,
          },
        ],
      });
      say(`${seq} ${turn}`);
    }
    store.close();
  },
  lock: () => {
    const lock = lockHome(file);
    say(lock === undefined ? 'taken' : 'mine');
    untilReleased(() => lock?.release());
  },
  /** Writes and erases while the disk fails; prints what was acknowledged. */
  faults: () => {
    let store;
    const tried = (what, work) => {
      for (let attempt = 0; attempt < 4; attempt++) {
        try {
          store ??= openSqliteStore({ file });
          work(store);
          say(what);
          return;
        } catch (error) {
          say(`failed ${error.name} ${error.code} ${error.message}`);
          // Odd attempts reuse the connection that failed, even ones open a new one.
          if (attempt % 2 === 1) {
            store?.close();
            store = undefined;
          }
        }
      }
      say(`gave up ${what}`);
    };
    const text = (n) => `text ${n} of this session `.repeat(100);
    for (let n = 1; n <= 6; n++) {
      const turn = `t${n}`;
      tried(`start ${turn}`, (open) =>
        open.append({
          facts: [{ at: n, fact: startOf(turn, `s${n % 2}`), key: `start ${turn}` }],
          blocks: [{ hash: `0${n}`, text: text(n), session: `s${n % 2}` }],
        }),
      );
      tried(`end ${turn}`, (open) =>
        open.append({ facts: [{ at: n, fact: endOf(turn), key: `end ${turn}` }] }),
      );
      if (n === 4) tried('erase s1', (open) => open.erase('s1', 50, 'asked'));
    }
    tried('close', (open) => open.close());
  },
};
jobs[job]();
