import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPipeline } from '../../src/pipeline/pipeline.ts';
import { createHttpReport } from '../../src/pipeline/stage-report.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
beforeAll(async () => {
  home = makeHome({ train: { engine: 'off' }, models: { evolver: 'off', judge: 'off' } });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
});

describe('the figures of pipelines that reported their stages', () => {
  it('are told by the command line, the page and the API, by run, and are those of the library', async () => {
    const report = createHttpReport({
      url: `http://127.0.0.1:${daemon.port}`,
      key: daemon.key,
      onProblem: ({ failure }) => {
        throw new Error(failure.message);
      },
    });
    const [monday, tuesday] = ['monday', 'tuesday'].map((run) =>
      createPipeline({ name: 'weekly', run, agent: 'reporter', report, retries: 1 }),
    );
    if (monday === undefined || tuesday === undefined) throw new Error('no runs');
    // Monday: the draft needs a second attempt, and the review is refused twice, so that nothing is sent.
    let drafts = 0;
    await monday.stage('draft', async ({ fail }) => (drafts++ === 0 ? fail('Name the sources.') : 'draft'));
    await monday.stage('review', ({ fail }) => fail('Cite the DOI.'));
    for (const name of ['draft', 'review', 'send']) await tuesday.stage(name, async () => name);
    const planned = ['draft', 'review', 'send'];
    expect(monday.figures(planned)).toMatchObject({ completion: 1 / 3, retryRate: 1 });
    const expected = [
      {
        name: 'weekly',
        agent: 'reporter',
        count: 2,
        mean: { completion: 2 / 3, retryRate: 0.5 },
        runs: [
          { run: 'monday', ...monday.figures(planned) },
          { run: 'tuesday', ...tuesday.figures(planned) },
        ],
      },
    ];
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    const page = await ask(daemon.port, { method: 'GET', path: '/api/page/adaptation', headers });
    expect(JSON.parse(page.text).pipelines).toMatchObject(expected);
    const cli = async (...more: string[]) =>
      (await runInProcess(['adapt', 'pipelines', '--home', home.dir, ...more], { COLUMNS: '120' })).stdout;
    expect(JSON.parse(await cli('--json'))).toMatchObject(expected);
    const lines = (await cli()).split('\n');
    expect(lines.find((line) => line.includes('monday'))).toMatch(/33 % +100 % +0\.0 +0\.433/);
    expect(lines.find((line) => line.includes('tuesday'))).toMatch(/100 % +0 % +0\.0 +1\.000/);
  });
});
