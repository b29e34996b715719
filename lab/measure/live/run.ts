import { openNanoBench } from './nano-run.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [seed = '1', arm = 'lesson', steps = '10', rate = '8e-3', batch = '24'] = process.argv.slice(2);
const bench = await openNanoBench();
const t0 = Date.now();
const out = await bench.run(arm as 'lesson', {
  seed: Number(seed),
  steps: Number(steps),
  batch: Number(batch),
  heldOut: 40,
  rate: Number(rate),
  say,
});
say(`${(Date.now() - t0) / 1000} s`);
for (const telling of ['none', 'quote'] as const) {
  say(
    `${telling} before ${JSON.stringify(await bench.measure(undefined, out.heldOut, telling))} after ${JSON.stringify(await bench.measure(out.weights, out.heldOut, telling))}`,
  );
}
say(`${(Date.now() - t0) / 1000} s, saved ${bench.tokensSaved(out.heldOut)}`);
await bench.close();
