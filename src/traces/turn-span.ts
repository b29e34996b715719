import type { StopReason } from '../core/chat.ts';
import type { StoredFact } from '../core/fact.ts';
import type { TurnView } from '../core/store.ts';
import { finishReason } from './message-content.ts';
import { type ClientTrace, contextOf, type Span, type SpanAttributes } from './span.ts';

/** What is known of a turn beside its row. */
interface TurnDetails {
  /** The client's own span, if it named one: the turn is a child of it. */
  readonly client: ClientTrace | undefined;
  /** The model that the reply names, and why it stopped. */
  readonly answered: { readonly model: string | undefined; readonly stop: StopReason | undefined };
  /** The facts about recalled lessons of its session, oldest first. */
  readonly recalls: readonly StoredFact[];
  /** The names of lessons by id, as far as they are known. */
  readonly names: Readonly<Record<string, string>>;
  /** The words of the turn; undefined: no words may be sent, not even those of a provider's error, which may quote them. */
  readonly content: SpanAttributes | undefined;
}

/** The span of one recorded turn, in the words of OpenTelemetry's conventions for generative models; what they have no word for is `instar.*`. */
export function turnSpan(view: TurnView, details: TurnDetails): Span {
  const { client, answered, names, content } = details;
  const own = contextOf('turn', view.id);
  const { usage, failure, totalMs = 0 } = view;
  const [provider = '', model = ''] = splitPolicy(view);
  const heldOut = heldOutOf(view, details.recalls);
  return {
    traceId: client?.traceId ?? own.traceId,
    spanId: own.spanId,
    ...(client === undefined ? {} : { parentSpanId: client.spanId }),
    name: `chat ${model}`.trim(),
    kind: 'client',
    startedAt: view.startedAt,
    endedAt: view.startedAt + totalMs,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      // The model that was called: viewers look its price up by this name. The client may have named an alias of it.
      'gen_ai.request.model': model,
      'instar.model.asked': view.model,
      'gen_ai.response.model': answered.model || undefined,
      'gen_ai.response.finish_reasons': answered.stop && [finishReason(answered.stop)],
      'gen_ai.response.time_to_first_chunk':
        view.firstByteMs === undefined ? undefined : { double: view.firstByteMs / 1000 },
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
      'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
      'gen_ai.conversation.id': view.session,
      'session.id': view.session,
      'gen_ai.agent.name': view.agent,
      'http.response.status_code': view.httpStatus,
      'error.type': errorType(view),
      'instar.turn': view.id,
      'instar.turn.role': view.role,
      'instar.turn.status': view.status,
      'instar.run_kind': view.runKind,
      'instar.wire': view.wire,
      'instar.generation': view.generation,
      'instar.policy': view.policy,
      'instar.lessons': view.lessons,
      'instar.lessons.names': view.lessons.map((id) => names[id] ?? id),
      'instar.lessons.held_out': heldOut,
      'instar.holdout.arm': heldOut === undefined ? undefined : heldOut.length > 0 ? 'held-out' : 'shown',
      ...content,
    },
    ...(failure === undefined ? {} : { error: content === undefined ? (errorType(view) ?? '') : failure }),
  };
}

/** `provider/model`; a policy that Instar serves itself has a name without a slash. */
function splitPolicy({ policy }: TurnView): readonly [provider: string, model: string] {
  const slash = policy.indexOf('/');
  return slash < 0 ? ['instar', policy] : [policy.slice(0, slash), policy.slice(slash + 1)];
}

/** The kind of a recorded failure stands before its message; a client that left has no failure. */
const errorType = ({ failure, status }: TurnView): string | undefined =>
  failure?.split(':', 1)[0] ?? (status === 'complete' ? undefined : status);

/** Lessons that matched, and were left out of this session on purpose: to measure what they change. */
function heldOutOf(view: TurnView, recalls: readonly StoredFact[]): readonly string[] | undefined {
  const held = new Set<string>();
  let isMeasured = false;
  for (const { fact, at } of recalls) {
    if (fact.type !== 'lessons-recalled' || (at > view.startedAt && fact.turn !== view.id)) continue;
    isMeasured ||= fact.heldOut.length > 0 || fact.lessons.length > 0;
    for (const lesson of fact.heldOut) held.add(lesson);
  }
  return isMeasured ? [...held] : undefined;
}
