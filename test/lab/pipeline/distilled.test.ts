import { describe, expect, it } from 'vitest';
import { HOUSE_CONVENTIONS } from '../../../lab/suites/pipeline/house-conventions.ts';
import { createResearchPipeline } from '../../../lab/suites/pipeline/research-pipeline.ts';
import { createScriptedResearcher } from '../../../lab/suites/pipeline/scripted-researcher.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { createMemoryReport } from '../../../src/pipeline/stage-report.ts';
import { failure, learnFrom } from '../../learn/evolver/samples.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { runTrusted } from './run-trusted.ts';
import { speakTo } from './speak-to.ts';

const pipeline = createResearchPipeline({ seed: 'distilled', runProgram: runTrusted });
const signal = new AbortController().signal;

describe('the feedback of a first run', () => {
  it('lets the built-in distiller find all eleven conventions, one skill each and no other skill', async () => {
    const memory = createMemoryReport();
    const model = createScriptedResearcher({ seed: 'any', pipeline, obey: 1, unaided: 0 });
    await pipeline.run({
      speak: speakTo(model),
      report: memory.report,
      model: 'm',
      agent: 'lab',
      run: 1,
      signal,
    });
    const material = memory
      .verdicts()
      .filter(({ score }) => score < 0)
      .map(({ turn = '', note = '' }, at) =>
        failure({
          turn,
          session: turn,
          at,
          task: 'a stage',
          passages: [{ origin: 'person', text: note }],
          source: 'person',
          appraisal: { turn, signals: [] },
        }),
      );
    expect(material.length).toBeGreaterThanOrEqual(18);
    const { proposals } = await learnFrom(createDistiller({ maxNewSkills: 20 }), material);
    const found = proposals.map((proposal) => proposedText(proposal).content);
    expect(found).toHaveLength(HOUSE_CONVENTIONS.length);
    for (const { id, isTaughtBy } of HOUSE_CONVENTIONS) expect(found.filter(isTaughtBy), id).toHaveLength(1);
  });
});
