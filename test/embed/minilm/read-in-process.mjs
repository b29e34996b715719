import { Worker } from 'node:worker_threads';

/*
 * Reads sentences in a process of its own, which finds the packages of NODE_PATH, on the built modules: prints the engine, the vectors and
 * the scores of the learned reader. With `ended` a thread reads until the process exits in the middle of it.
 */
const built = new URL('../../../build/src/', import.meta.url);
const { loadMiniLm } = await import(new URL('embed/minilm/encoder.js', built));
const [texts = '[]', ended] = process.argv.slice(2);
const sentences = JSON.parse(texts);
const model = await loadMiniLm();
if (ended === undefined) {
  const { scoreSentences } = await import(new URL('reader/learned-reader.js', built));
  const { engine, problem } = model;
  const vectors = sentences.map((text) => [...model.embed(text)]);
  const scores = sentences.map((text) => scoreSentences([text], 'Done, the page is deployed.'));
  process.stdout.write(JSON.stringify({ engine, problem, vectors, scores }));
} else {
  const { terminateWorker } = await import(new URL('base/sqlite-gate.js', built));
  const code = `import(${JSON.stringify(new URL('embed/minilm/encoder.js', built).href)}).then(async ({ loadMiniLm }) => {
    const model = await loadMiniLm();
    require('node:worker_threads').parentPort.postMessage(model.engine);
    for (;;) model.embed('the payment worker stops after the deployment');
  })`;
  const open = async () => {
    const worker = new Worker(code, { eval: true });
    await new Promise((resolve) => worker.once('message', resolve));
    return worker;
  };
  for (let round = 0; round < 5; round++) await terminateWorker(await open());
  await open();
  process.exit(Number(ended));
}
