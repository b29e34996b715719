import { createText } from './text.ts';

/** What the upstream does is named by the model that is asked for; every proxy passes that on. */
export const MODELS = ['bench-json', 'bench-sse', 'bench-paced', 'bench-slow'] as const;
export type Model = (typeof MODELS)[number];

export interface Pace {
  readonly events: number;
  readonly everyMs: number;
}

/** Streams that take their time, as a model does. The others answer at once. */
export const PACES: Partial<Record<Model, Pace>> = {
  'bench-paced': { events: 20, everyMs: 10 },
  'bench-slow': { events: 40, everyMs: 100 },
};
const EVENTS_AT_ONCE = 50;
const DIGITS = 16;
export const DONE = 'data: [DONE]\n\n';

export const digits = (value: number): string => String(Math.floor(value)).padStart(DIGITS, '0');

const words = createText(2);
const ANSWER = words(900);
const TOKENS = Array.from({ length: EVENTS_AT_ONCE }, () => words(12));

/** A whole reply; the number in it makes each one new, so that nothing is recorded for free. */
export function jsonReply(nth: number): string {
  return JSON.stringify({
    id: `chatcmpl-${digits(nth)}`,
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'bench-json',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: `${digits(nth)} ${ANSWER}`, refusal: null },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 1200, completion_tokens: 210, total_tokens: 1410 },
  });
}

/** The same on Anthropic's wire. */
export function anthropicReply(nth: number): string {
  return JSON.stringify({
    id: `msg_${digits(nth)}`,
    type: 'message',
    role: 'assistant',
    model: 'bench-json',
    content: [{ type: 'text', text: `${digits(nth)} ${ANSWER}` }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1200, output_tokens: 210 },
  });
}

/** One event that carries a number: its time of sending, or which reply it belongs to. */
export const streamEvent = (number: number, text = ''): string =>
  `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench-sse","choices":[{"index":0,"delta":{"content":"@${digits(number)} ${text}"},"finish_reason":null}]}\n\n`;

export const LAST_EVENT =
  'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench-sse","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';

/** Fifty events, the last of which says how it ended. */
export const streamEvents = (nth: number): readonly string[] => [
  ...TOKENS.slice(1).map((token, at) => streamEvent(nth + at, token)),
  LAST_EVENT,
];

/** How many bytes of body an unchanged reply has. */
export function replyLength(model: Model): number {
  if (model === 'bench-json') return jsonReply(0).length;
  const pace = PACES[model];
  const events = pace === undefined ? streamEvents(0).join('') : streamEvent(0).repeat(pace.events) + LAST_EVENT;
  return events.length + DONE.length;
}
