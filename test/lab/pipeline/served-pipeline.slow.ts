import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGatewayClient } from '../../../lab/suites/gateway-client.ts';
import { HOUSE_CONVENTIONS } from '../../../lab/suites/pipeline/house-conventions.ts';
import type { PipelineRun } from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { pipelineFigures } from '../../../lab/suites/pipeline/pipeline-metrics.ts';
import { createResearchPipeline } from '../../../lab/suites/pipeline/research-pipeline.ts';
import { createScriptedResearcher } from '../../../lab/suites/pipeline/scripted-researcher.ts';
import { type ParsedPrompt, parsePrompt } from '../../../lab/suites/pipeline/stage-prompt.ts';
import { peerReview } from '../../../lab/suites/pipeline/stages/review.ts';
import { createCallerKey } from '../../../src/config/caller-keys.ts';
import { openHome } from '../../../src/config/home.ts';
import type { ChatEvent } from '../../../src/core/chat.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { GatewayClient } from '../../../src/core/gateway-client.ts';
import { asObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import { createExchange } from '../../../src/models/exchange.ts';
import {
  createHttpReport,
  createMemoryReport,
  type ReportProblem,
} from '../../../src/pipeline/stage-report.ts';
import { wires } from '../../../src/wire/wires.ts';
import { ask } from '../../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../../support/daemon.ts';
import { type Provider, startProvider } from '../../support/provider.ts';
import { runTrusted } from './run-trusted.ts';
import { speakTo } from './speak-to.ts';

const wire = wires['openai-chat'];
/** Few: every failure costs the learner embeddings, which take most of this test's time. */
const NAMES = ['owner-field', 'reason-codes', 'null-hypothesis'];
const conventions = HOUSE_CONVENTIONS.filter(({ id }) => NAMES.includes(id));
const pipeline = createResearchPipeline({ seed: 'served', conventions, runProgram: runTrusted });
/** Breaks every convention that no lesson teaches, and keeps the others. */
const model = createScriptedResearcher({ seed: 'served', pipeline, obey: 1, unaided: 0 });
const signal = new AbortController().signal;
const exchange = createExchange({
  timeouts: { connectMs: 5_000, headersMs: 30_000, firstByteMs: 30_000, idleMs: 30_000 },
});

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let key: string;
let daemon: RunningDaemon;
let speak: GatewayClient;
let expectedFailures = 0;
const problems: ReportProblem[] = [];
/** The first request of each stage of each run. */
const asked: ParsedPrompt[] = [];

beforeAll(async () => {
  // The outcomes of a first run are known in advance: they do not depend on the gateway.
  const memory = createMemoryReport();
  await pipeline.run({
    speak: speakTo(model),
    report: memory.report,
    model: 'm',
    agent: 'researcher',
    run: 1,
    signal,
  });
  expectedFailures = memory.verdicts().filter(({ score }) => score < 0).length;
  provider = await startProvider(async (request, response) => {
    const chat = wire.decodeRequest(asObject(parseJson(request.body.toString())));
    const prompt = parsePrompt(chat);
    if (prompt?.cycle === 0 && prompt.attempt === 1) asked.push(prompt);
    const events: ChatEvent[] = [];
    for await (const event of model(chat, { signal })) events.push(event);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wire.encodeReply(events)));
  });
  home = makeHome({
    providers: { lab: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    library: { autonomy: 'guarded' },
    learn: { failures: expectedFailures, maxNewSkills: 20 },
  });
  key = createCallerKey(openHome(home.dir), { name: 'pipeline', mayRate: true, at: 0 }).key;
  daemon = await startDaemon(home.dir);
  speak = createGatewayClient({
    exchange: exchange.exchange,
    wire,
    gateway: { origin: `http://127.0.0.1:${daemon.port}`, basePath: '/v1' },
    credentials: () => ({ 'x-instar-key': key }),
    clock: systemClock,
  });
});
afterAll(async () => {
  await exchange.close();
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (path: string): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  return JSON.parse((await ask(daemon.port, { method: 'GET', path, headers })).text);
};
const learning = async (): Promise<JsonObject> => asObject((await owner('/api/status')).learning);
const runOnce = (run: number): Promise<PipelineRun> => {
  const url = `http://127.0.0.1:${daemon.port}`;
  const report = createHttpReport({ url, key, onProblem: (problem) => problems.push(problem) });
  return pipeline.run({ speak, report, model: 'lab/m', agent: 'researcher', run, signal });
};
const brokenIn = ({ stages }: PipelineRun): number => stages.flatMap(({ broken }) => broken).length;

describe('a pipeline behind the real gateway, with no model to learn with', () => {
  it('reports the findings of its checks, learns skills from them, and gets them in the prompts of its next run', async () => {
    const first = await runOnce(1);
    expect(problems).toEqual([]);
    expect(first.stages.flatMap(({ lessons }) => lessons)).toEqual([]);
    const wanted = conventions.flatMap(({ stages }) => stages).length;
    expect(brokenIn(first)).toBe(wanted);
    expect(expectedFailures).toBeGreaterThanOrEqual(6);

    await vi.waitFor(async () => expect(asObject((await learning()).cycles).published).toBe(1), {
      timeout: 120_000,
      interval: 100,
    });
    const lessons = (await owner('/api/library')) as unknown as readonly Lesson[];
    for (const { id, isTaughtBy } of conventions)
      expect(
        lessons.filter(({ text }) => isTaughtBy(text.content)),
        id,
      ).toHaveLength(1);
    const onTrial = lessons.filter(({ state }) => state === 'trial');
    expect(onTrial.length).toBeGreaterThanOrEqual(2);
    for (const { text } of lessons)
      expect(text).toMatchObject({ scope: { agent: 'researcher' }, evidence: { learner: 'distiller' } });

    const second = await runOnce(2);
    expect(problems).toEqual([]);
    const prompts = new Map(asked.filter(({ run }) => run === 2).map((prompt) => [prompt.stage, prompt]));
    expect(prompts.size).toBe(20);
    let taught = 0;
    for (const { stage, kind, broken, lessons: ids } of second.stages) {
      if (kind === 'code') continue;
      // A panel asks each of its members.
      const names = stage === peerReview.id ? peerReview.members.map(({ id }) => id) : [stage];
      const system = names.map((name) => prompts.get(name)?.system ?? '').join('\n');
      expect(ids.length > 0, stage).toBe(system.includes('## Active Skills'));
      const own = conventions.filter(({ stages }) => stages.includes(stage));
      expect([...broken].sort(), stage).toEqual(
        own
          .filter(({ isTaughtBy }) => !isTaughtBy(system))
          .map(({ id }) => id)
          .sort(),
      );
      taught += own.length - broken.length;
    }
    expect(taught).toBeGreaterThanOrEqual(wanted / 2);
    expect(brokenIn(second)).toBe(wanted - taught);
    expect(pipelineFigures(second).refinesPerStage).toBeLessThan(pipelineFigures(first).refinesPerStage);
    expect(pipelineFigures(second).robustness).toBeGreaterThan(pipelineFigures(first).robustness);
  }, 180_000);
});
