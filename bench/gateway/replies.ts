import { createText } from './text.ts';

/** The model name selects what the upstream does; every proxy passes it on. */
export const MODELS = ['bench-json', 'bench-sse', 'bench-paced', 'bench-slow'] as const;
export type Model = (typeof MODELS)[number];

export interface Pace {
  readonly events: number;
  readonly everyMs: number;
}

/** Streams with delays between events, like a model's. The others reply at once. */
export const PACES: Partial<Record<Model, Pace>> = {
  'bench-paced': { events: 20, everyMs: 10 },
  'bench-slow': { events: 40, everyMs: 100 },
};
const EVENTS_AT_ONCE = 50;
export const DONE = 'data: [DONE]\n\n';

/** A number of fixed width, so that it can be overwritten in place. */
export const digits = (value: number): string => String(Math.floor(value)).padStart(16, '0');
/** Placeholder for a reply's number. It makes each reply unique, so that none is deduplicated when recorded. */
export const NUMBER = digits(0);

const words = createText(2);
const ANSWER = words(900);

export const JSON_REPLY = JSON.stringify({
  id: `chatcmpl-${NUMBER}`,
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bench-json',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: `${NUMBER} ${ANSWER}`, refusal: null },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 1200, completion_tokens: 210, total_tokens: 1410 },
});

/** The same on Anthropic's wire. */
export const ANTHROPIC_REPLY = JSON.stringify({
  id: `msg_${NUMBER}`,
  type: 'message',
  role: 'assistant',
  model: 'bench-json',
  content: [{ type: 'text', text: `${NUMBER} ${ANSWER}` }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1200, output_tokens: 210 },
});

const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bench-sse',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

/** Carries a number: its send time, or the number of its reply. */
export const NUMBERED_EVENT = event({ content: `@${NUMBER} ` }, null);
export const LAST_EVENT = event({}, 'stop');

/** Fifty events: the first is numbered, the last has the finish reason. */
export const EVENTS: readonly string[] = [
  NUMBERED_EVENT,
  ...Array.from({ length: EVENTS_AT_ONCE - 2 }, () => event({ content: words(12) }, null)),
  LAST_EVENT,
];

/** Body length of an unchanged reply. */
export function replyLength(model: Model): number {
  if (model === 'bench-json') return JSON_REPLY.length;
  const pace = PACES[model];
  const events = pace === undefined ? EVENTS.join('') : NUMBERED_EVENT.repeat(pace.events) + LAST_EVENT;
  return events.length + DONE.length;
}
