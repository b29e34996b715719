import type { Fact, StoredFact } from '../core/fact.ts';
import { contextOf, type Span, type SpanAttributes, type SpanContext } from './span.ts';

/** The facts that become spans of their own. */
const TRACED: ReadonlySet<Fact['type']> = new Set([
  'reward-given',
  'turn-appraised',
  'cycle-end',
  'practice-session',
]);

/** Whether a fact becomes a span; called for everything that is appended. */
export function isTracedFact(fact: Fact): boolean {
  if (fact.type === 'turn-appraised') return fact.verdict !== 'ambiguous';
  if (fact.type === 'practice-session') return fact.op === 'closed';
  return TRACED.has(fact.type);
}

const MOST_LINKS = 32;

/**
 * The span of something that happened after a turn, or beside all turns. The span of a turn has been sent by then, and a span
 * cannot be changed: what is said of a turn is a short child of it. `turnContext`: the ids of a turn's span. `hasContent`: with the
 * words of a person's note.
 */
export function factSpan(
  { seq, at, fact }: StoredFact,
  turnContext: (turn: string) => SpanContext,
  hasContent: boolean,
): Span | undefined {
  const own = contextOf('fact', `${seq} ${at}`);
  const place = { own, at, turnContext };
  switch (fact.type) {
    case 'reward-given':
      return rewardSpan(fact, place, hasContent);
    case 'turn-appraised':
      return appraisalSpan(fact, place);
    case 'cycle-end':
      return cycleSpan(fact, place);
    case 'practice-session':
      return fact.op === 'closed' ? practiceSpan(fact, place) : undefined;
    default:
      return undefined;
  }
}

type FactOf<T extends Fact['type']> = Extract<Fact, { readonly type: T }>;

/** Where the span of a fact belongs. */
interface FactPlace {
  readonly own: SpanContext;
  readonly at: number;
  readonly turnContext: (turn: string) => SpanContext;
}

interface SpanContent {
  readonly name: string;
  readonly evaluation: SpanAttributes;
  readonly more: SpanAttributes;
}

/** A short child of the subject's span. */
const evaluationSpan = (
  subject: SpanContext,
  { own, at }: FactPlace,
  { name, evaluation, more }: SpanContent,
): Span => ({
  traceId: subject.traceId,
  spanId: own.spanId,
  parentSpanId: subject.spanId,
  name,
  kind: 'internal',
  startedAt: at,
  endedAt: at,
  attributes: { ...evaluation, ...more },
  events: [{ at, name: 'gen_ai.evaluation.result', attributes: evaluation }],
  links: [subject],
});

function rewardSpan(fact: FactOf<'reward-given'>, place: FactPlace, hasContent: boolean): Span {
  const name = `reward ${fact.source}`;
  const evaluation = {
    'gen_ai.evaluation.name': `reward by ${fact.source}`,
    'gen_ai.evaluation.score.value': { double: fact.score },
    'gen_ai.evaluation.explanation': hasContent ? fact.note : undefined,
  };
  const more = { 'instar.reward.source': fact.source, 'instar.turn': fact.turn };
  if (fact.turn !== undefined)
    return evaluationSpan(place.turnContext(fact.turn), place, { name, evaluation, more });
  const session = contextOf('session', fact.session ?? '');
  const { parentSpanId, links, ...span } = evaluationSpan(session, place, {
    name,
    evaluation,
    more: { ...more, 'gen_ai.conversation.id': fact.session, 'session.id': fact.session },
  });
  return span;
}

const appraisalSpan = (fact: FactOf<'turn-appraised'>, place: FactPlace): Span =>
  evaluationSpan(place.turnContext(fact.turn), place, {
    name: `verdict ${fact.verdict}`,
    evaluation: {
      'gen_ai.evaluation.name': 'verdict',
      'gen_ai.evaluation.score.label': fact.verdict,
      'gen_ai.evaluation.score.value': fact.reward === undefined ? undefined : { double: fact.reward },
    },
    more: {
      'instar.turn': fact.turn,
      'gen_ai.conversation.id': fact.session,
      'session.id': fact.session,
      'instar.reward.source': fact.source,
      'instar.signals': fact.signals.map(({ name }) => name),
    },
  });

const cycleSpan = (fact: FactOf<'cycle-end'>, { own, at, turnContext }: FactPlace): Span => ({
  ...own,
  name: `learn ${fact.learner}`,
  kind: 'internal',
  startedAt: at - fact.tookMs,
  endedAt: at,
  attributes: {
    'instar.cycle': fact.cycle,
    'instar.learner': fact.learner,
    'instar.cycle.outcome': fact.outcome,
    'instar.generation': fact.generation,
    'instar.lessons': fact.judgements.map(({ lesson }) => lesson),
    'instar.lessons.names': fact.judgements.map(({ name }) => name),
    'instar.gate.outcomes': fact.judgements.map(({ outcome }) => outcome),
    'gen_ai.usage.input_tokens': fact.cost.inputTokens,
    'gen_ai.usage.output_tokens': fact.cost.outputTokens,
    'instar.usd': { double: fact.cost.usd },
  },
  links: fact.turns.slice(0, MOST_LINKS).map(turnContext),
  ...(fact.outcome === 'stuck' ? { error: fact.cause ?? 'stuck' } : {}),
});

const practiceSpan = (
  fact: FactOf<'practice-session'> & { readonly op: 'closed' },
  { own, at }: FactPlace,
): Span => ({
  ...own,
  name: 'practice session',
  kind: 'internal',
  startedAt: at - fact.spent.ms,
  endedAt: at,
  attributes: {
    'instar.practice.run': fact.run,
    'instar.practice.end': fact.end,
    'instar.practice.graded': fact.counts.graded,
    'instar.practice.groups': fact.counts.groups,
    'instar.practice.published': fact.counts.published,
    'instar.practice.forgotten': fact.forgotten.length,
    'instar.usd': { double: fact.spent.usd },
  },
});
