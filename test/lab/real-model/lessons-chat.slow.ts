import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { type FinishedRun, loadPipelineJournal } from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { createResearchPipeline } from '../../../lab/suites/pipeline/research-pipeline.ts';
import { createScriptedResearcher } from '../../../lab/suites/pipeline/scripted-researcher.ts';
import { parsePrompt } from '../../../lab/suites/pipeline/stage-prompt.ts';
import type { ChatEvent, ChatRequest } from '../../../src/core/chat.ts';
import { asObject, parseJson } from '../../../src/core/json.ts';
import { wires } from '../../../src/wire/wires.ts';
import { createTemporaryFolder } from '../../cli/run-cli.ts';
import { startProvider } from '../../support/provider.ts';

const { dir, remove } = createTemporaryFolder();
afterAll(remove);
const run = promisify(execFile);
const wire = wires['openai-chat'];
const pipeline = createResearchPipeline({ seed: 'report/2' });
const researcher = createScriptedResearcher({ seed: 'report/2', pipeline, obey: 1, unaided: 0 });

const OWNER = 'Put a field owner with the value desk-research into every planning document.';
/** What the model writes when it is shown failures: a page on the owner of planning documents, and nothing else. */
function writeSkill(asked: string): string {
  const turn = new RegExp(`\\[person\\] "${OWNER}" \\([^:]*: ([a-z0-9_]+)`).exec(asked)?.[1];
  const page = {
    name: 'owner-of-plans',
    description: `Planning documents need an owner: ${OWNER}`,
    content: `# The owner of plans\n\n1. ${OWNER}\n`,
    triggers: ['write a planning document', 'plan a study', 'plan the search', 'outline', 'plan a test'],
    category: 'research',
    quotes: [{ turn, text: OWNER }],
  };
  return JSON.stringify({ skills: turn === undefined ? [] : [page] });
}

const textOf = ({ system, messages }: ChatRequest): string => JSON.stringify([system, messages]);
const unescaped = (text: string): string => text.replaceAll('\\"', '"');

it('a model behind a chat API does the stages of the given seed and writes lessons for the next ones; for the baseline it writes none', async () => {
  const questions: string[] = [];
  const provider = await startProvider(async (request, response) => {
    const chat = wire.decodeRequest(asObject(parseJson(request.body.toString())));
    const isStage = parsePrompt(chat) !== undefined && !textOf(chat).includes('<<<');
    const events: ChatEvent[] = [];
    if (isStage)
      for await (const event of researcher(chat, { signal: new AbortController().signal }))
        events.push(event);
    else {
      questions.push(textOf(chat));
      events.push(
        { type: 'reply-start', id: 'r', model: chat.model },
        { type: 'text-delta', text: writeSkill(unescaped(textOf(chat))) },
        { type: 'reply-end', stop: 'end', usage: { inputTokens: 1, outputTokens: 1 } },
      );
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wire.encodeReply(events)));
  });
  const bench = async (condition: string): Promise<FinishedRun | undefined> => {
    const words = ['--suite', 'pipeline', '--chat', `${provider.url}/v1`, '--model', 'stand-in-200b'];
    const what = ['--runs', '1', '--seed', '2', '--condition', condition, '--run', condition];
    await run(process.execPath, ['build/lab/real-model/lessons.js', ...words, ...what, '--folder', dir]);
    return loadPipelineJournal(path.join(dir, condition, 'journal.jsonl'))?.runs[0];
  };
  try {
    const bare = await bench('baseline');
    expect(bare).toMatchObject({ condition: 'baseline', seed: 2 });
    expect(questions).toEqual([]);
    const taught = await bench('skills');
    expect(taught?.lessons.map(({ name }) => name)).toContain('owner-of-plans');
    const planned = ({ stages }: FinishedRun): readonly boolean[] =>
      stages
        .filter(({ stage }) => ['topic-scoping', 'query-planning', 'outline'].includes(stage))
        .map(({ broken }) => broken.includes('owner-field'));
    expect(bare && planned(bare)).toEqual([true, true, true]);
    expect(taught && planned(taught)).toEqual([true, false, false]);
  } finally {
    await provider.close();
  }
});
