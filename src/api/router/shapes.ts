import { z } from 'zod';

const text = z.string();
const time = z.iso.datetime();
const count = z.number().int().min(0);
const object = z.looseObject({});
const objects = z.array(object);
const done = z.looseObject({ ok: z.literal(true) });

/** A whole number in a query; another value counts as absent. */
const wholeNumber = (lowest = 0) =>
  z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .refine((value) => value >= lowest)
    .optional()
    .catch(undefined);

/** The most rows of a page: what was asked for within these limits, else `usual`. */
const rows = (usual: number, most: number) =>
  wholeNumber(1).transform((asked) => Math.min(asked ?? usual, most));

const isYes = z
  .string()
  .optional()
  .transform((value) => value === 'true');

/** A word of a query; empty counts as absent. */
const word = z
  .string()
  .max(500)
  .optional()
  .transform((value) => value || undefined);

const project = z.looseObject({ id: text, label: text });
const reward = z.looseObject({
  source: text,
  score: z.number(),
  note: text.optional(),
  at: time.optional(),
});
const usage = z.looseObject({ inputTokens: count, outputTokens: count });

const session = z.looseObject({
  id: text,
  agent: text,
  client: text.optional(),
  project: project.optional(),
  turns: z.union([count, objects]),
  startedAt: time,
  lastAt: time,
  endedAt: time.optional(),
  erased: z.literal(true).optional(),
});

const turn = z.looseObject({
  id: text,
  status: text,
  role: z.enum(['main', 'side', 'aux']),
  model: text,
  policy: text,
  generation: count,
  startedAt: time,
  endedAt: time.optional(),
  usage: usage.optional(),
  rewards: z.array(reward),
});

const effect = z.looseObject({
  with: z.looseObject({ n: count, mean: z.number().nullable() }),
  without: z.looseObject({ n: count, mean: z.number().nullable() }),
  difference: z.number().nullable(),
  low: z.number(),
  high: z.number(),
  verdict: text,
  words: text,
});

const lesson = z.looseObject({
  id: text,
  kind: text,
  name: text,
  description: text,
  state: z.enum(['proposed', 'trial', 'live', 'retired', 'rejected']),
  revision: count,
  scope: object,
  hash: text,
  changedAt: time,
  effect,
});

const shownLesson = lesson.extend({
  content: text,
  note: object,
  evidence: z.looseObject({
    turns: z.array(text),
    quotes: z.array(z.looseObject({ turn: text, text: text.optional() })),
    learner: text,
  }),
  writtenBy: text,
  createdAt: time,
  why: z.looseObject({ because: text }),
  history: z.array(z.looseObject({ at: time, by: text, op: text, state: text, revision: count })),
});

const published = z.looseObject({
  generation: count,
  results: z.array(z.looseObject({ status: z.enum(['applied', 'same', 'refused']), id: text })),
});

const waiting = z.looseObject({ code: text, count, what: text, why: text });

const revisionRef = z.looseObject({ id: text, name: text });

const explainedTurn = () =>
  z.looseObject({
    turn: text,
    session: text,
    shown: z.array(revisionRef),
    lessons: z.array(z.looseObject({ id: text, name: text, verdict: text, because: text })),
    choices: objects,
  });

const erasure = z.looseObject({
  erased: count,
  lessons: z.looseObject({ retired: z.array(revisionRef), cleaned: z.array(revisionRef) }),
  copies: count,
});

const adaptation = z.looseObject({
  events: z.array(z.looseObject({ id: text, at: time, kind: text, score: z.number() })),
  candidates: z.array(z.looseObject({ id: text, type: text, status: text, score: z.number() })),
  counts: z.looseObject({ records: count, scoring: count }),
});

const overlay = z.looseObject({
  lesson: text,
  name: text,
  revision: count,
  state: text,
  scope: object,
});

/** A time in which background jobs may run: `for` names those that wait for one. */
const window = z.looseObject({
  from: time,
  until: time.optional(),
  source: text.optional(),
  why: text,
  for: z.array(text),
});

const training = z.looseObject({
  engine: text,
  policy: text,
  generation: count,
  buffer: z.looseObject({ query: count, support: count }),
});

/** Parts of queries and replies that several routes have. Members that are not named may be there: new versions add some. */
export const shapes = {
  text,
  time,
  count,
  object,
  objects,
  done,
  wholeNumber,
  rows,
  isYes,
  word,
  project,
  reward,
  usage,
  session,
  turn,
  effect,
  lesson,
  shownLesson,
  published,
  waiting,
  revisionRef,
  explainedTurn,
  erasure,
  adaptation,
  overlay,
  window,
  training,
};
