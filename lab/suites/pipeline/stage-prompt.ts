import type { ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import { asObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import type { ModelStage, StageProblem } from './stage.ts';

/** Which stage, run and attempt a prompt is for. */
export interface PromptPosition {
  readonly stage: string;
  /** Counts from 1. */
  readonly number: number;
  readonly of: number;
  readonly run: number;
  readonly attempt: number;
}

const SYSTEM = [
  'You do one stage of a research pipeline. Other stages work on with what you answer, so it has to be right.',
  'Use only the material of the stage. Answer with one JSON object and nothing else.',
].join(' ');
const MATERIAL = '\n\nMaterial:\n';
const HEAD = /^Stage (\d{1,3}) of \d{1,3}: ([a-z-]{1,64}) \(run (\d{1,9}), attempt (\d{1,9})\)/;
const SENT_BACK = 'The check of this stage sent your answer back:';
const MOST_TOKENS = 4000;

/** The prompt of a stage, with everything the answer may use. */
export const stagePrompt = (stage: ModelStage, material: JsonObject, place: PromptPosition): string =>
  [
    `Stage ${place.number} of ${place.of}: ${stage.id} (run ${place.run}, attempt ${place.attempt})`,
    stage.task,
    ['Fields of the JSON object:', ...stage.form.map((line) => `- ${line}`)].join('\n'),
  ].join('\n\n') +
  MATERIAL +
  JSON.stringify(material, undefined, 1);

export const refinePrompt = (problems: readonly StageProblem[]): string =>
  [
    SENT_BACK,
    ...problems.map(({ reason, detail }) => `- ${reason}${detail === undefined ? '' : ` (${detail})`}`),
    'Send the whole JSON object again, put right.',
  ].join('\n');

export const requestOf = (model: string, messages: readonly ChatMessage[]): ChatRequest => ({
  model,
  system: [{ type: 'text', text: SYSTEM }],
  messages,
  tools: [],
  maxTokens: MOST_TOKENS,
  stream: false,
});

export const userMessage = (text: string): ChatMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
});

/** An empty reply is quoted as a placeholder: a provider may reject an empty message. */
export const assistantMessage = (text: string): ChatMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text: text.trim() === '' ? '(no answer)' : text }],
});

/** What a scripted policy reads from a request of this pipeline. */
export interface ParsedPrompt {
  readonly stage: string;
  readonly run: number;
  readonly attempt: number;
  /** Refine cycles before this one. */
  readonly cycle: number;
  readonly material: JsonObject;
  /** The system texts: our own prompt and the lessons that the gateway added. */
  readonly system: string;
  /** The check's findings on the previous answer; empty at first. */
  readonly told: string;
  /** The previous answer. */
  readonly before: string;
}

export function parsePrompt({ system, messages }: ChatRequest): ParsedPrompt | undefined {
  const said = messages.filter(({ role }) => role === 'user').map(textOf);
  const [first = ''] = said;
  // The gateway may have put lessons before the prompt.
  const from = first.indexOf('Stage ');
  const head = from < 0 ? null : HEAD.exec(first.slice(from));
  const at = first.indexOf(MATERIAL);
  if (head === null || at < 0) return undefined;
  const [, , stage = '', run, attempt] = head;
  const told = said.at(-1) ?? '';
  return {
    stage,
    run: Number(run),
    attempt: Number(attempt),
    cycle: said.length - 1,
    material: asObject(parseJson(first.slice(at + MATERIAL.length))),
    system: [
      ...system.map(({ text }) => text),
      ...messages.filter(({ role }) => role === 'system').map(textOf),
      first.slice(0, from),
    ].join('\n'),
    told: told.startsWith(SENT_BACK) ? told : '',
    before:
      messages
        .filter(({ role }) => role === 'assistant')
        .map(textOf)
        .at(-1) ?? '',
  };
}

const textOf = ({ content }: ChatMessage): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
