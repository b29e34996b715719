import type { UnreadableBody } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import { UNKNOWN_AGENT } from '../core/principal.ts';
import { noRecord } from '../core/recorder.ts';
import type { GatewayContext } from './context.ts';
import { isRecorded, type PlannedTurn, policyOf, type RunningTurn, type Turn } from './turn.ts';

/** Records the intent before a model is called. Serving does not depend on it: nothing here fails, and only a full recorder waits. */
export async function recordTurn(context: GatewayContext, plan: PlannedTurn): Promise<RunningTurn> {
  const { turn, caller, shown, lessons } = plan;
  if (!isRecorded(turn)) return { plan, turn, record: noRecord, marks: plan.marks };
  await context.recorder.room(turn.body?.length ?? 0);
  const marks = acknowledgedMarks(context, plan);
  const { id, identity, session, outline } = turn;
  const { client, project, runKind, domain, role, claimed } = identity;
  const record = context.recorder.start({
    turn: id,
    session: session.session,
    agent: identity.agent ?? client ?? UNKNOWN_AGENT,
    role,
    wire: turn.wire.name,
    model: outline?.model ?? '',
    generation: shown.generation,
    policy: plan.ownReply?.policy ?? policyOf(plan.targets[0].target, turn),
    lessons,
    caller,
    body: turn.body,
    ...compact({
      unreadable: unreadableRequest(turn),
      link: session.link,
      client,
      claimed,
      project,
      runKind,
      domain,
      block: shown.hash,
      traceparent: traceparentOf(turn),
      prompt: shown.prompt,
    }),
  });
  plan.recordChoices?.(id);
  return { plan, turn, record, marks };
}

/** A turn that may be lost is not acknowledged. */
function acknowledgedMarks({ recorder }: GatewayContext, { marks }: PlannedTurn): RunningTurn['marks'] {
  if (recorder.isRecording?.() !== false) return marks;
  const { 'x-instar-turn': _, ...others } = marks;
  return others;
}

/** Only its length is checked here: the trace exporter parses it. */
function traceparentOf({ request }: Turn): string | undefined {
  const { traceparent } = request.headers;
  return typeof traceparent === 'string' && traceparent.length <= 128 ? traceparent : undefined;
}

function unreadableRequest({ raw, body, outline }: Turn): UnreadableBody | undefined {
  if (outline !== undefined) return undefined;
  return { why: body === undefined ? 'encoding' : 'not-json', bytes: raw.length };
}
