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
const number = z.number();
const usage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count.optional(),
});

const texts = z.array(text);
const quote = z.looseObject({ turn: text, text, by: text.optional(), at: time.optional() });
const scope = z.looseObject({
  agent: text.optional(),
  project: text.optional(),
  runKind: text.optional(),
  domain: text.optional(),
});

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
  /** The signs that the reward is made of; the most trusted source counts. */
  parts: z.array(z.looseObject({ name: text, source: text, score: number, weight: number })).optional(),
  rules: z.array(z.looseObject({ lesson: text, outcome: text })).optional(),
  runKind: text.optional(),
  failure: text.optional(),
  missing: text.optional(),
  asked: text.optional(),
  answered: text.optional(),
});

/** Of lessons that were inferred; a person's word has none. */
const effect = z.looseObject({
  verdict: z.enum(['helpful', 'harmful', 'no-difference', 'unknown']),
  with: count,
  without: count,
  decideBy: text.optional(),
  needed: count.optional(),
  words: text,
});

/** Of one lesson, or of several: a session counts once for each. */
const adherence = z.looseObject({
  shown: count,
  applied: count,
  kept: count,
  toldAgain: count,
  lastBroken: time.optional(),
  words: text,
});

/** Of all rules in force that people told. */
const toldRules = adherence.extend({ rules: count });

const lesson = z.looseObject({
  id: text,
  kind: text,
  name: text,
  title: text,
  description: text,
  state: z.enum(['proposed', 'trial', 'live', 'retired', 'rejected']),
  revision: count,
  scope,
  source: text.optional(),
  taint: texts.optional(),
  tier: text.optional(),
  pinned: z.boolean().optional(),
  frozen: z.boolean().optional(),
  reason: text.optional(),
  hash: text,
  changedAt: time,
  check: z.looseObject({ standing: text, by: text, proof: text, words: text }).optional(),
  adherence,
  effect: effect.optional(),
});

const shownLesson = lesson.extend({
  brokenIn: z.array(z.looseObject({ session: text, turn: text, at: time })),
  content: text,
  overlay: z.looseObject({ payload: z.unknown().optional() }).optional(),
  note: z.looseObject({
    context: text.optional(),
    keywords: texts,
    tags: texts,
    importance: number,
    confidence: number,
    visibility: text,
    halfLifeDays: number,
    triggers: texts.optional(),
  }),
  evidence: z.looseObject({
    turns: texts,
    quotes: z.array(quote),
    learner: text,
    model: text.optional(),
  }),
  origin: text,
  writtenBy: text,
  cannotCheck: text.optional(),
  cost: z.looseObject({ usd: number.optional(), tokens: count }).optional(),
  createdAt: time,
  why: z.looseObject({ because: text, since: time.optional(), fix: text.optional() }),
  project: text.optional(),
  linked: z.array(z.looseObject({ type: text, id: text, name: text, title: text, state: text })),
  history: z.array(
    z.looseObject({
      at: time,
      by: text,
      op: text,
      reason: text.optional(),
      state: text,
      revision: count,
      generation: count,
    }),
  ),
});

const published = z.looseObject({
  generation: count,
  results: z.array(z.looseObject({ status: z.enum(['applied', 'same', 'refused']), id: text })),
});

const waiting = z.looseObject({
  code: text,
  count,
  what: text,
  why: text,
  nextAt: text.optional(),
  fix: text.optional(),
  lesson: text.optional(),
});

const revisionRef = z.looseObject({ id: text, name: text, title: text.optional() });

const explainedTurn = () =>
  z.looseObject({
    turn: text,
    session: text,
    shown: z.array(revisionRef),
    note: text.optional(),
    lessons: z.array(
      z.looseObject({
        id: text,
        name: text,
        title: text,
        verdict: text,
        because: text,
        relevance: number.optional(),
      }),
    ),
    ranking: z.array(
      z.looseObject({
        id: text.optional(),
        title: text,
        session: text.optional(),
        verdict: text,
        because: text,
      }),
    ),
    choices: z.array(z.looseObject({ text: text.optional(), engine: text.optional() })),
    route: z.looseObject({ tier: text, target: text.optional(), reason: text.optional() }).optional(),
  });

const erasure = z.looseObject({
  erased: count,
  lessons: z.looseObject({ retired: z.array(revisionRef), cleaned: z.array(revisionRef) }),
  copies: count,
});

const pipelineFigures = {
  completion: number,
  retryRate: number,
  refinesPerStage: number,
  robustness: number,
};

const adaptation = z.looseObject({
  pipelines: z.array(
    z.looseObject({
      name: text,
      agent: text,
      count,
      mean: z.looseObject(pipelineFigures),
      runs: z.array(z.looseObject({ run: text, at: time, ...pipelineFigures })),
    }),
  ),
  events: z.array(
    z.looseObject({
      id: text,
      at: time,
      kind: text,
      sourceLabel: text,
      scopeType: text,
      scopeId: text,
      score: number,
      session: text.optional(),
    }),
  ),
  candidates: z.array(
    z.looseObject({
      id: text,
      type: text,
      scopeType: text,
      scopeId: text,
      sourceLabel: text,
      draftScore: number,
      records: texts,
      score: number,
      matches: number,
      mean: number,
      status: text,
      why: text.optional(),
      lesson: text.optional(),
    }),
  ),
  counts: z.looseObject({ records: count, scoring: count }),
});

const overlay = z.looseObject({
  lesson: text,
  name: text,
  kind: text,
  revision: count,
  state: text,
  scope,
  payload: z.looseObject({ type: text.optional() }),
});

/** A time in which background jobs may run: `for` names those that wait for one. */
const window = z.looseObject({
  from: time,
  until: time.optional(),
  source: text.optional(),
  why: text,
  for: z.array(text),
});

const buffer = z.looseObject({ query: count, support: count });
const policyStage = z.looseObject({ version: count, stage: text, tasks: count, sessions: count });

const training = z.looseObject({
  engine: text,
  policy: text,
  engineState: text.optional(),
  problem: text.optional(),
  generation: count,
  buffer,
  supply: z
    .looseObject({
      ready: z.array(z.unknown()).optional(),
      missing: z.array(z.looseObject({ what: text, fix: text.optional() })).optional(),
      live: z.looseObject({ isOn: z.boolean(), turns: count }).optional(),
    })
    .optional(),
  versions: z
    .looseObject({
      live: count,
      previous: count.optional(),
      onTrial: policyStage.optional(),
      waiting: policyStage.optional(),
    })
    .optional(),
  window: z
    .looseObject({
      steps: count,
      done: count,
      isRunning: z.boolean(),
      problem: text.optional(),
      pairs: z.looseObject({ count, candidate: z.number(), live: z.number() }).optional(),
    })
    .optional(),
  remembers: text.optional(),
});

/** What the owner is told; others are told less. */
const status = z.looseObject({
  version: text,
  startedAt: time,
  now: time,
  providers: z.array(
    z.looseObject({
      name: text,
      baseUrl: text.optional(),
      wires: texts,
      credentials: text.optional(),
      models: texts,
    }),
  ),
  requests: z.looseObject({ served: count, failed: count, refused: count, inFlight: count }),
  recording: z.looseObject({
    degraded: text.optional(),
    missing: text.optional(),
    lost: count.optional(),
    recorded: count.optional(),
    unreadable: count.optional(),
  }),
  copies: z
    .looseObject({ count: count.optional(), newest: text.optional(), problem: text.optional() })
    .optional(),
  library: z.looseObject({
    generation: count.optional(),
    lessons: z.record(text, count).optional(),
    adherence: toldRules.optional(),
    problem: text.optional(),
  }),
  learning: z.looseObject({
    on: z.boolean().optional(),
    writer: text.optional(),
    problem: text.optional(),
    appraised: z.looseObject({ failures: count, successes: count }).optional(),
    cycles: z.looseObject({ run: count, published: count, queued: count }).optional(),
    cost: z
      .looseObject({
        learning: z.looseObject({
          usdToday: number,
          tokensToday: count,
          unpricedTokensToday: count,
          callsToday: count,
        }),
      })
      .optional(),
    usdPerDay: number.optional(),
    buffer: buffer.optional(),
  }),
  waiting: z.array(waiting).optional(),
});

const spending = z.looseObject({ minutes: number, tokens: number, usd: number });

const schedule = z.looseObject({
  state: text,
  reasons: texts,
  job: text.optional(),
  signals: z
    .array(
      z.looseObject({
        source: text,
        state: text,
        why: text,
        sees: text.optional(),
        until: text.optional(),
      }),
    )
    .optional(),
  budget: z.looseObject({ spent: spending, limits: spending }).optional(),
  jobs: z.array(z.looseObject({ name: text, note: text.optional(), lastDone: text.optional() })).optional(),
  next: z
    .looseObject({
      from: time.optional(),
      until: time.optional(),
      source: text.optional(),
      why: text,
    })
    .optional(),
  windows: z.array(window),
});

const today = z.looseObject({
  from: time,
  to: time,
  generation: count,
  learned: z.array(
    z.looseObject({
      id: text,
      name: text,
      title: text,
      origin: text.optional(),
      description: text,
      state: text,
      at: time,
      shownIn: count.optional(),
      quote: quote.optional(),
    }),
  ),
  changed: z.array(z.looseObject({ id: text.optional(), name: text, title: text, what: text, at: time })),
  sessions: count,
  turns: count,
  appraised: z.looseObject({ failures: count, successes: count }),
  corrections: count,
  feedback: count,
  scored: count,
  rules: z.looseObject({ kept: count, broken: count, toldAgain: count }),
  adherence: toldRules.optional(),
  shown: z.looseObject({ lessons: count, turns: count }),
  practice: z.looseObject({ sessions: count, learned: count }).optional(),
  cost: z.looseObject({ calls: count, tokens: count, unpricedTokens: count, usd: number }),
});

const practiceSession = z.looseObject({
  run: text,
  kind: text,
  why: text,
  at: time,
  tasks: count,
  end: text,
  note: text.optional(),
  learned: count.optional(),
  helpful: count.optional(),
  refused: count.optional(),
  forgotten: count.optional(),
  spent: z
    .looseObject({ tokens: number.optional(), usd: number.optional(), unpriced: number.optional() })
    .optional(),
});

const practice = z.looseObject({
  whyNot: text.optional(),
  problem: text.optional(),
  due: z.looseObject({ kind: text.optional(), why: text.optional() }).optional(),
  running: z.looseObject({ run: text.optional(), kind: text.optional() }).optional(),
  tasks: z.looseObject({ count, learn: count, gate: count, report: count, excluded: count }),
  faults: z.array(z.looseObject({ file: text, line: count, what: text, fix: text })).optional(),
  sessions: z.array(practiceSession),
  yields: z.array(
    z.looseObject({
      kind: text,
      sessions: count,
      learned: count,
      helpful: count,
      tokens: number,
      usd: number,
    }),
  ),
});

const settings = z.looseObject({
  file: text,
  problem: text.optional(),
  settings: z.array(
    z.looseObject({
      path: text,
      value: z.unknown().optional(),
      from: z.enum(['default', 'file', 'environment', 'shared']),
      inForce: z.unknown().optional(),
      description: text.optional(),
    }),
  ),
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
  toldRules,
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
  status,
  schedule,
  today,
  practice,
  settings,
};
