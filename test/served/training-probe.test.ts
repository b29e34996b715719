import { it } from 'vitest';
import { openTrainingBed, runWindow, TASK } from './training-bed.ts';
it('probe', async () => {
  const t0 = performance.now();
  const lap = (what: string) => process.stderr.write(`${what} ${Math.round(performance.now() - t0)}\n`);
  const bed = await openTrainingBed();
  lap('daemon');
  const c = await bed.chat(TASK);
  lap('chat'); process.stderr.write(JSON.stringify(c.headers) + c.text.slice(0, 300) + '\n');
  const c2 = await bed.chat(TASK);
  lap('chat2'); process.stderr.write(JSON.stringify(c2.headers['x-instar-policy']) + '\n');
  await runWindow(bed.training, { steps: 2 }, { onNews: (n) => { lap(n.type); process.stderr.write(JSON.stringify(n).slice(0,250)+'\n') } });
  process.stderr.write(JSON.stringify(await bed.desk.training()) + '\n');
  await bed.close(); lap('closed');
  process.stderr.write(bed.lines.map((l) => l.level + ' ' + l.msg).join('\n') + '\n' + bed.dir + '\n');
}, 120_000);
