import type { CandidateDraft, LearningRecord } from '../../core/adapt.ts';
import { asArray, asNumber, asString, type Json } from '../../core/json.ts';
import type { Scope } from '../../core/lesson.ts';
import {
  type LimitOverlay,
  MOST_BIAS,
  type OverlayPayload,
  RESPONSE_CHECKS,
  TIERS,
} from '../../core/overlay.ts';
import { LEAST_FLOORS, type LimitFloors, withinFloors } from '../../lessons/limit-floors.ts';
import { clip } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { draftFlow } from './draft-flow.ts';
import { OBSERVER } from './judge-overlay.ts';

/** A lesson for a candidate: what the system reads, and what people read beside it. */
export interface DraftedOverlay {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly payload: OverlayPayload;
  readonly scope: Scope;
  /** Words of events are in it: whoever reported them wrote a part of it. */
  readonly hasWords: boolean;
}

/** Why nothing can be drafted from the records. */
interface NoDraft {
  readonly ok: false;
  readonly why: string;
}

const noDraft = (why: string): NoDraft => ({ ok: false, why });

/** How far a hint from one candidate moves the router. */
const USUAL_BIAS = MOST_BIAS / 2;
const MOST_LINES = 8;
const LONGEST_LINE = 400;

/**
 * A candidate's lesson by the template of its type. Numbers and choices come from the records, as far as they are valid; without
 * them from the template. `records`: those that it was drafted from, the best first. `floors`: how far its agent's waits may be
 * shortened.
 */
export function draftOverlay(
  draft: CandidateDraft,
  records: readonly LearningRecord[],
  floors: LimitFloors = LEAST_FLOORS,
): { readonly ok: true; readonly overlay: DraftedOverlay } | NoDraft {
  const [record] = records;
  if (record === undefined) return noDraft('its records are gone');
  const scope = scopeOfRecord(record);
  if (scope === undefined)
    return noDraft('its events name no agent and no kind of run, so that it would act everywhere');
  const where = describeScope(scope);
  const about = `${record.kind.replaceAll('_', ' ')}${record.sourceLabel === record.kind ? '' : ` (${record.sourceLabel})`}`;
  const template = payloadOf(draft, record, floors);
  if (!template.ok) return template;
  const { payload, lines, hasWords } = template;
  const description = clip(
    oneLine(`${describeChange(payload)} ${where}, because of ${about}.`),
    LONGEST_LINE,
  );
  // A flow has a page of its own.
  const page = template.page ?? { name: nameOf(draft), description, content: lines.join('\n') };
  const { name, description: when, content } = page;
  return { ok: true, overlay: { name, description: when, content, payload, scope, hasWords } };
}

interface FilledTemplate {
  readonly ok: true;
  readonly payload: OverlayPayload;
  /** What it does, for people; in prompts where the kind is shown. */
  readonly lines: readonly string[];
  readonly page?: Pick<DraftedOverlay, 'name' | 'description' | 'content'>;
  readonly hasWords: boolean;
}

function payloadOf(
  { type }: CandidateDraft,
  record: LearningRecord,
  floors: LimitFloors,
): FilledTemplate | NoDraft {
  const { kind, payload: data } = record;
  switch (type) {
    case 'prompt_fragment': {
      const guidance = linesOf(data.guidance ?? data.text ?? data.fact ?? data.summary);
      if (guidance.length === 0) return noDraft('its events have no guidance: report it as guidance');
      const lines = guidance.map((line) => `- ${line}`);
      return { ok: true, payload: { type, guidance }, lines, hasWords: true };
    }
    case 'fix_template': {
      const error = linesOf(data.error ?? data.digest)[0];
      const repair = linesOf(data.repair ?? data.steps ?? data.commands);
      if (error === undefined || repair.length === 0)
        return noDraft('its events name no error with a repair that worked: report error and repair');
      const lines = [
        `When this error comes up: ${error}`,
        '',
        'What worked before:',
        ...repair.map((line) => `- ${line}`),
      ];
      return { ok: true, payload: { type, error, repair }, lines, hasWords: true };
    }
    case 'routing_hint': {
      const tier =
        TIERS.find((one) => one === data.tier) ?? (kind === 'budget_incident' ? 'cheap' : 'strong');
      const asked = asNumber(data.bias) ?? USUAL_BIAS;
      const bias = asked > 0 ? Math.min(MOST_BIAS, asked) : USUAL_BIAS;
      const lines = [`The router prefers the ${tier} model by ${bias} (differences of expected quality).`];
      return { ok: true, payload: { type, tier, bias }, lines, hasWords: false };
    }
    case 'validator_policy_tweak': {
      const asked = limitOf(record);
      if (asked === undefined) return noDraft('its events name no limit: it is shown, and changes nothing');
      const payload = withinFloors(asked, floors);
      const lines = [...describeLimit(payload), ...describeFloors(asked, payload)];
      return { ok: true, payload, lines, hasWords: false };
    }
    case 'flow_offload': {
      const flow = draftFlow(record);
      return flow === undefined
        ? noDraft(
            'its events have no steps with their tools and arguments, or risky ones: report steps and parameters',
          )
        : { ok: true, page: flow, payload: flow.overlay.payload, lines: [], hasWords: true };
    }
  }
}

const TIGHT_RETRIES = 1;
const FEW_LESSONS = 2;

/**
 * What is tightened: as the event names it, else, for a reporter that watches its own tries or guidance, by its kind. What Instar
 * observed of an agent's work says nothing about the provider's retries, and lessons that did not help are revised one by one.
 */
function limitOf({ kind, payload: data, by }: LearningRecord): LimitOverlay | undefined {
  const whole = (value: Json | undefined, least: number, most: number): number | undefined => {
    const number = asNumber(value);
    return number !== undefined && Number.isSafeInteger(number) && number >= least && number <= most
      ? number
      : undefined;
  };
  const checks = RESPONSE_CHECKS.filter((one) => asArray(data.checks).includes(one));
  const named = {
    retries: whole(data.retries, 0, 5),
    headersMs: whole(data.headersMs ?? data.timeoutMs, 100, 3_600_000),
    idleMs: whole(data.idleMs, 100, 3_600_000),
    lessons: whole(data.lessons, 0, 6),
    reasks: whole(data.reasks, 0, 2),
  };
  const own = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  if (Object.keys(own).length > 0 || checks.length > 0)
    return { type: 'validator_policy_tweak', ...own, ...(checks.length === 0 ? {} : { checks }) };
  if (by === OBSERVER) return undefined;
  // Guidance that did not help: fewer lessons are shown. Anything else that was tried too often: fewer tries.
  return kind === 'guidance_noisy' || kind === 'stale_guidance'
    ? { type: 'validator_policy_tweak', lessons: FEW_LESSONS }
    : { type: 'validator_policy_tweak', retries: TIGHT_RETRIES };
}

/** Lines of an event's text: short, one line each, at most a few. */
function linesOf(value: Json | undefined): readonly string[] {
  const all =
    typeof value === 'string' ? value.split('\n') : asArray(value).map((one) => asString(one) ?? '');
  return all
    .map((line) => clip(oneLine(line).replace(/^[-*] /, ''), LONGEST_LINE))
    .filter((line) => line !== '')
    .slice(0, MOST_LINES);
}

/** A task has no place of its own among scopes: what is about it acts for its agent or kind of run. */
function scopeOfRecord({ scope, agent, runKind, member }: LearningRecord): Scope | undefined {
  const found: Scope =
    scope.type === 'agent'
      ? { agent: scope.id }
      : scope.type === 'run_kind'
        ? { runKind: scope.id, ...(agent === undefined ? {} : { agent }) }
        : { ...(agent === undefined ? {} : { agent }), ...(runKind === undefined ? {} : { runKind }) };
  const isNamed = (value: string | undefined): boolean =>
    value !== undefined && value !== 'unknown' && !value.includes('*');
  const isUsable = Object.values(found).every(isNamed) && Object.keys(found).length > 0;
  if (!isUsable) return undefined;
  return member === undefined ? found : { ...found, member };
}

const describeScope = ({ agent, runKind }: Scope): string =>
  [
    ...(runKind === undefined ? [] : [`in runs of the kind ${runKind}`]),
    ...(agent === undefined ? [] : [`for the agent ${agent}`]),
  ].join(' ');

function describeChange(payload: OverlayPayload): string {
  switch (payload.type) {
    case 'prompt_fragment':
      return 'Adds guidance';
    case 'fix_template':
      return `Shows a repair for ${clip(payload.error, 120)}`;
    case 'routing_hint':
      return `Prefers the ${payload.tier} model`;
    case 'validator_policy_tweak':
      return 'Tightens limits';
    case 'flow_offload':
      return `Makes ${payload.steps.length} tool calls as one flow`;
  }
}

function describeLimit(payload: Omit<LimitOverlay, 'type'>): readonly string[] {
  const { retries, headersMs, idleMs, checks = [], reasks, lessons } = payload;
  return [
    ...(retries === undefined
      ? []
      : [retries === 0 ? 'No further try after a failure.' : `After a failure at most ${retries} more.`]),
    ...(headersMs === undefined ? [] : [`A reply must begin within ${headersMs} ms.`]),
    ...(idleMs === undefined ? [] : [`A reply may pause for at most ${idleMs} ms.`]),
    ...checks.map((check) =>
      check === 'json'
        ? 'A reply that should be JSON and is not is asked for again.'
        : 'A tool call whose arguments do not fit the tool is asked for again.',
    ),
    ...(reasks === undefined ? [] : [`It is asked for again at most ${reasks} times.`]),
    ...(lessons === undefined ? [] : [`At most ${lessons} lessons are shown with their text.`]),
  ];
}

/** Why a limit is looser than its events asked for. */
function describeFloors(asked: LimitOverlay, given: LimitOverlay): readonly string[] {
  const fields = ['retries', 'headersMs', 'idleMs', 'reasks', 'lessons'] as const;
  const changed = fields.filter((field) => asked[field] !== given[field]);
  if (changed.length === 0) return [];
  const words = changed.map((field) => `${field} ${asked[field]}`).join(', ');
  return [
    `Its events asked for ${words}: what is learned never cuts an agent off from its model or its lessons.`,
  ];
}

/** A slug from the candidate's key: the same candidate always has the same name. */
const nameOf = ({ type, scope, sourceLabel }: CandidateDraft): string => {
  const short = {
    prompt_fragment: 'guidance',
    fix_template: 'fix',
    routing_hint: 'route',
    validator_policy_tweak: 'limit',
    flow_offload: 'flow',
  }[type];
  const slug = `${short}-${scope.id}-${sourceLabel}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return slug.slice(0, 60).replace(/-+$/, '');
};
