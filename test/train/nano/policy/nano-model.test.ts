import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorkdays } from '../../../../lab/suites/workdays/workdays.ts';
import { runAgent } from '../../../../src/agent/agent.ts';
import { createPlainAgentShell } from '../../../../src/agent/shell.ts';
import type { Tool } from '../../../../src/core/chat.ts';
import { TrainingError } from '../../../../src/core/training.ts';
import { createInProcessClient } from '../../../../src/models/in-process-client.ts';
import { renderTask } from '../../../../train/nano/policy/render-prompt.ts';
import { MARK } from '../../../../train/nano/policy/vocabulary.ts';
import { workspaceWith } from '../../../lab/workdays/files-day.ts';
import { ask, createSayingSampler, eventsOf, nanoModel, shippedTokenizer } from './parts.ts';
import { writeNanoReply } from './write-reply.ts';

const tokenizer = shippedTokenizer();
const signal = new AbortController().signal;
const tool: Tool = { name: 'run_command', parameters: {} };
const acting = writeNanoReply({ is: 'act', commands: ['set a.json state done', 'done'] }, tokenizer);
const TASK = 't0101, May 4, 2031, 10:00, from Ada. Set state to done in a.json.';
const saying = (tokens: readonly number[]) => nanoModel(createSayingSampler(() => tokens));

describe('the nano policy as a model', () => {
  it('passes the suite’s checks in the real agent and shell with the replies of a perfect policy', async () => {
    const { days } = createWorkdays({ seed: 3, split: 'gate' });
    const day = days[12];
    if (day === undefined || !('texts' in day.files)) throw new Error('no such day');
    const replies = new Map<string, readonly number[]>();
    for (const question of day.questions) {
      const prompt = renderTask({}, question.text, tokenizer);
      const reply =
        question.kind === 'files'
          ? writeNanoReply(
              { is: 'act', commands: question.solve?.(new Set(question.rules)) ?? [] },
              tokenizer,
            )
          : writeNanoReply({ is: 'say', text: `\\bbox{${question.answer.join(',')}}` }, tokenizer);
      if (prompt.is === 'prompt') replies.set(prompt.tokens.join(), reply);
    }
    const sampler = createSayingSampler((prompt) => replies.get(prompt.join()) ?? []);
    const model = nanoModel(sampler);
    const workspace = await workspaceWith(day.files.texts);
    onTestFinished(() => workspace.dispose());
    const seen = { files: 0, choice: 0 };
    for (const question of day.questions) {
      const run = await runAgent({
        speak: createInProcessClient(model),
        speaker: { session: question.id, agent: 'nano', runKind: 'bench' },
        model: 'nano',
        system: day.system,
        history: [],
        prompt: question.text,
        shell: createPlainAgentShell(workspace),
        signal,
      });
      if (question.kind === 'files') {
        expect(run.end, question.text).toBe('done');
        expect(await question.check(workspace, signal)).toMatchObject({ passed: true, broken: [] });
        expect(run.usage.outputTokens).toBeLessThanOrEqual(208);
      } else expect(run.answer).toBe(`\\bbox{${question.answer.join(',')}}`);
      seen[question.kind]++;
    }
    expect(seen).toEqual({ files: 11, choice: day.questions.length - 11 });
  });

  it('calls run_command when the request has that tool, and else replies with the commands as text', async () => {
    const [start, call, json, end] = await eventsOf(saying(acting), ask(TASK, { tools: [tool] }));
    expect(start).toMatchObject({ type: 'reply-start', model: 'nano' });
    expect(call).toMatchObject({ type: 'tool-start', name: 'run_command' });
    expect(json).toMatchObject({ json: JSON.stringify({ command: 'set a.json state done\ndone' }) });
    expect(end).toMatchObject({
      type: 'reply-end',
      stop: 'tool-calls',
      usage: { outputTokens: acting.length },
    });
    for (const request of [ask(TASK), ask(TASK, { tools: [tool], toolChoice: 'none' })]) {
      const events = await eventsOf(saying(acting), request);
      const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
      expect(text).toBe('set a.json state done\ndone');
      expect(events.at(-1)).toMatchObject({ stop: 'end' });
    }
  });

  it.each([
    ['the policy says so', TASK, [MARK.foreign, MARK.end]],
    ['no task can be so long', 'why '.repeat(900), []],
  ])('replies that it only knows workdays when %s', async (_, prompt, tokens) => {
    const events = await eventsOf(saying(tokens), ask(prompt, { tools: [tool] }));
    const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
    expect(text).toMatch(/only know workdays/);
    expect(events.at(-1)).toMatchObject({ type: 'reply-end', stop: 'end' });
  });

  it('acts once: after a tool result it ends', async () => {
    const sampler = createSayingSampler(() => {
      throw new Error('it was asked again');
    });
    const messages = [
      ...ask(TASK).messages,
      { role: 'tool' as const, callId: 'c', content: [{ type: 'text' as const, text: 'Exit code: 0' }] },
    ];
    const events = await eventsOf(nanoModel(sampler), ask('', { messages, tools: [tool] }));
    expect(events.map(({ type }) => type)).toEqual(['reply-start', 'text-delta', 'reply-end']);
  });

  it("uses a new seed for every request, and prefers the request's temperature to its own", async () => {
    const seen: unknown[] = [];
    let next = 7;
    const sampler = createSayingSampler((_, { seed, temperature, stop }) => {
      seen.push([seed, temperature, stop]);
      return acting;
    });
    const model = nanoModel(sampler, { seed: () => next++, temperature: 0.5 });
    await eventsOf(model, ask(TASK));
    await eventsOf(model, ask(TASK, { temperature: 0 }));
    expect(seen).toEqual([
      [7, 0.5, [MARK.end]],
      [8, 0, [MARK.end]],
    ]);
  });

  it('reports the length limit when a reply has no end mark', async () => {
    const events = await eventsOf(
      saying(writeNanoReply({ is: 'say', text: 'a b c' }, tokenizer)),
      ask(TASK, { maxTokens: 2 }),
    );
    expect(events.at(-1)).toMatchObject({ type: 'reply-end', stop: 'length', usage: { outputTokens: 2 } });
  });

  it.each([
    ['bad-request', new TrainingError('user', 'no such weights')],
    ['upstream-error', new TrainingError('server', 'the engine is starting')],
    ['internal', new Error('the worker is gone')],
  ])('turns what the engine throws into a %s as its last event', async (kind, error) => {
    const sampler = createSayingSampler(() => Promise.reject(error));
    expect(await eventsOf(nanoModel(sampler), ask(TASK))).toMatchObject([
      { type: 'failure', failure: { kind, message: error.message } },
    ]);
  });

  it('ends with a failure and aborts the engine when the caller aborts', async () => {
    const caller = new AbortController();
    let wasTold = false;
    const sampler = createSayingSampler(
      (_, __, inner) =>
        new Promise((_resolve, reject) => {
          inner.addEventListener('abort', () => {
            wasTold = true;
            reject(inner.reason);
          });
          caller.abort();
        }),
    );
    const events = await eventsOf(nanoModel(sampler), ask(TASK), caller.signal);
    expect(events).toMatchObject([{ type: 'failure', failure: { kind: 'aborted' } }]);
    expect(wasTold).toBe(true);
  });
});
