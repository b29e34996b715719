// One process of the budget race: reserves, waits a moment, settles; prints each answer.
import { openJobs } from '../../build/src/jobs/open-jobs.js';

const [place, count, seed] = process.argv.slice(2);
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
let ids = 0;
let state = Number(seed);
const random = () => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state / 2147483648;
};
const jobs = openJobs({ place, clock, newId: (prefix) => `${prefix}-${process.pid}-${++ids}` });
const budget = await jobs.openBudget({
  budget: 'learning',
  limits: { usd: 1, tokens: 100_000 },
  setting: 'learn.budget',
});
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
say({ is: 'ready' });
await new Promise((resolve) => process.stdin.once('data', resolve));
const work = { kind: 'call', model: 'local/m', purpose: 'race' };
for (let nth = 0; nth < Number(count); nth++) {
  const most = {
    calls: 1,
    tokens: Math.round(random() * 900) + 100,
    usd: Math.round(random() * 90 + 10) / 10_000,
  };
  const held = await budget.reserve(most, work);
  if (!held.isGranted) {
    say({ is: 'refused' });
    continue;
  }
  say({ is: 'granted', most });
  const used = { calls: 1, tokens: Math.round(most.tokens * random()), usd: most.usd * random() };
  await held.settle(used);
  say({ is: 'settled', used });
}
say({ is: 'over' });
await jobs.close();
process.exit(0);
