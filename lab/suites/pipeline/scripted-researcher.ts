import { setImmediate } from 'node:timers/promises';
import { createRandom } from '../../../src/base/random.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Convention } from './convention.ts';
import type { ResearchPipeline } from './research-pipeline.ts';
import { modelTasks } from './stage.ts';
import { type ParsedPrompt, parsePrompt } from './stage-prompt.ts';

interface ScriptedResearcherOptions {
  readonly seed: string;
  readonly pipeline: ResearchPipeline;
  /** The probability of keeping a convention that a lesson in its prompt teaches. */
  readonly obey: number;
  /** The probability of keeping one that nothing teaches. */
  readonly unaided: number;
  /** The probability of fixing what the check has just found; default 0.9. */
  readonly fix?: number;
}

/**
 * A policy whose success is a known function of the lessons in its prompt: its content is always right, and whether it keeps a
 * convention is a random draw. The draw depends only on seed, run, stage, attempt, cycle and convention, so that two runs which
 * differ only in their lessons get the same draws.
 */
export function createScriptedResearcher(options: ScriptedResearcherOptions): ChatModel {
  const { seed, pipeline, obey, unaided, fix = 0.9 } = options;
  const draw = ({ run, stage, attempt, cycle }: ParsedPrompt, { id }: Convention): number =>
    createRandom(`${seed}/${run}/${stage}/${attempt}/${cycle}/${id}`).next();
  return createPolicy((prompt) => {
    const keeps = (convention: Convention): boolean => {
      const luck = draw(prompt, convention);
      if (prompt.cycle === 0) return luck < (convention.isTaughtBy(prompt.system) ? obey : unaided);
      // A convention that the check did not name was kept and stays kept.
      return !prompt.told.includes(convention.demand) || luck < fix;
    };
    return answerTo(prompt, pipeline, keeps);
  });
}

/** Always right, and keeps every convention. */
export const createOracleResearcher = (pipeline: ResearchPipeline): ChatModel =>
  createPolicy((prompt) => answerTo(prompt, pipeline, () => true));

/** Replies with an empty text. */
export const createNullResearcher = (): ChatModel => createPolicy(() => '');

/** A right answer that keeps some of the conventions of its stage. */
function answerTo(
  { stage: id, material }: ParsedPrompt,
  { stages, conventions, corpus }: ResearchPipeline,
  keeps: (convention: Convention) => boolean,
): string {
  const stage = modelTasks(stages).find((one) => one.id === id);
  if (stage === undefined) return '';
  const kept = conventions.filter((one) => one.stages.includes(id) && keeps(one));
  const output = kept.reduce(
    (answer: JsonObject, convention) => convention.keep(answer, { stage: id, corpus }),
    stage.solve(material, corpus),
  );
  return JSON.stringify(output);
}

function createPolicy(reply: (prompt: ParsedPrompt) => string): ChatModel {
  let replies = 0;
  return (request, { signal }) => speak(request, signal, `research-${++replies}`, reply);
}

async function* speak(
  request: ChatRequest,
  signal: AbortSignal,
  id: string,
  reply: (prompt: ParsedPrompt) => string,
): AsyncGenerator<ChatEvent, undefined> {
  await setImmediate();
  if (signal.aborted) return;
  const prompt = parsePrompt(request);
  const text = prompt === undefined ? '' : reply(prompt);
  yield { type: 'reply-start', id, model: request.model };
  if (text !== '') yield { type: 'text-delta', text };
  const inputTokens = Math.ceil(JSON.stringify([request.system, request.messages]).length / 4);
  yield { type: 'reply-end', stop: 'end', usage: { inputTokens, outputTokens: Math.ceil(text.length / 4) } };
}
