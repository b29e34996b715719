import { CANDIDATE_TYPES } from '../core/adapt.ts';
import { asObject, isObject, type JsonObject } from '../core/json.ts';
import type { Lesson, LessonKind, LessonText } from '../core/lesson.ts';
import { MOST_BIAS, OVERLAY_KINDS, type Overlay, RESPONSE_CHECKS, TIERS } from '../core/overlay.ts';
import { errorKeyOf } from '../text/error-key.ts';
import { checkChoice, checkList, checkString } from './check-words.ts';

type Why = string | undefined;

/** Kinds that nothing could read without their overlay. */
const NEEDS_OVERLAY: ReadonlySet<LessonKind> = new Set(['route', 'limit', 'flow']);

/** Why a text cannot be a lesson of this kind in use: its overlay is missing, or of another kind. */
export function whyNotOfKind(kind: LessonKind, { overlay }: Pick<LessonText, 'overlay'>): Why {
  if (overlay !== undefined) {
    const own = OVERLAY_KINDS[overlay.payload.type];
    return own === kind
      ? undefined
      : `an overlay ${overlay.payload.type} belongs to a lesson of the kind ${own}`;
  }
  if (!NEEDS_OVERLAY.has(kind)) return undefined;
  const type = CANDIDATE_TYPES.find((one) => OVERLAY_KINDS[one] === kind);
  return `a lesson of the kind ${kind} needs an overlay of the type ${type}: nothing would read it without one`;
}

const MAX_LINE = 500;
const MAX_LINES = 20;
const MAX_STEPS = 20;
const MAX_NAME = 120;
const MAX_VALUE = 4_000;

/** Why a value is not an overlay, and how to fix it; undefined when it is one. Total. */
export function checkOverlay(value: unknown): Why {
  if (!isObject(value) || !isObject(value.payload)) return 'the overlay must be an object with a payload';
  const { payload, from } = value;
  return (
    checkChoice('overlay.payload.type', payload.type, CANDIDATE_TYPES) ??
    checkPayload(payload) ??
    (from === undefined ? undefined : checkOrigin(from))
  );
}

function checkPayload(payload: JsonObject): Why {
  switch (payload.type) {
    case 'prompt_fragment':
      return checkLines('guidance', payload.guidance);
    case 'fix_template':
      return checkLine('error', payload.error) ?? checkLines('repair', payload.repair);
    case 'routing_hint':
      return (
        checkChoice('tier', payload.tier, TIERS) ??
        (typeof payload.bias === 'number' && payload.bias > 0 && payload.bias <= MOST_BIAS
          ? undefined
          : `bias must be above 0 and at most ${MOST_BIAS}`)
      );
    case 'validator_policy_tweak':
      return checkLimits(payload);
    default:
      return checkFlow(payload);
  }
}

const checkLine = (label: string, value: unknown): Why => checkString(label, value, { max: MAX_LINE });

function checkLines(label: string, value: unknown): Why {
  const why = checkList(label, value, MAX_LINES, checkLine);
  return why ?? (Array.isArray(value) && value.length === 0 ? `${label} must have a line` : undefined);
}

const LIMITS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  retries: [0, 5],
  headersMs: [100, 3_600_000],
  idleMs: [100, 3_600_000],
  reasks: [0, 2],
  lessons: [0, 6],
};

function checkLimits(payload: JsonObject): Why {
  let set = 0;
  for (const [name, [least, most]] of Object.entries(LIMITS)) {
    const value = payload[name];
    if (value === undefined) continue;
    set++;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most)
      return `${name} must be a whole number from ${least} to ${most}`;
  }
  if (payload.checks !== undefined) {
    set++;
    const why = checkList('checks', payload.checks, RESPONSE_CHECKS.length, (label, one) =>
      checkChoice(label, one, RESPONSE_CHECKS),
    );
    if (why !== undefined) return why;
  }
  return set === 0 ? `it sets no limit: name one of ${Object.keys(LIMITS).join(', ')}, checks` : undefined;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,119}$/;

function checkFlow({ parameters, steps }: JsonObject): Why {
  const names = new Set<unknown>();
  const why = checkList('parameters', parameters, MAX_STEPS, (label, one) => {
    if (!isObject(one)) return `${label} must be an object`;
    if (names.has(one.name)) return `${label}.name is used twice`;
    names.add(one.name);
    return (
      checkName(`${label}.name`, one.name) ??
      checkChoice(`${label}.type`, one.type, ['string', 'number', 'boolean']) ??
      checkValue(`${label}.example`, one.example)
    );
  });
  if (why !== undefined) return why;
  if (Array.isArray(steps) && steps.length < 2) return 'a flow has at least two steps';
  return checkList('steps', steps, MAX_STEPS, (label, step) => {
    if (!isObject(step) || !isObject(step.arguments)) return `${label} must have a tool and its arguments`;
    return checkName(`${label}.tool`, step.tool) ?? checkArguments(label, step.arguments, names);
  });
}

function checkArguments(label: string, given: JsonObject, parameters: ReadonlySet<unknown>): Why {
  for (const [name, argument] of Object.entries(given)) {
    const at = `${label}.arguments.${name.slice(0, MAX_NAME)}`;
    if (!isObject(argument)) return `${at} must be {value} or {parameter}`;
    if (argument.parameter === undefined) {
      const why = checkValue(at, argument.value);
      if (why !== undefined) return why;
    } else if (!parameters.has(argument.parameter)) return `${at} names a parameter that the flow lacks`;
  }
  return undefined;
}

const checkName = (label: string, value: unknown): Why =>
  typeof value === 'string' && NAME.test(value)
    ? undefined
    : `${label} must be a name of letters, digits, _ . and -, at most ${MAX_NAME}`;

/** Text inside is checked for hidden characters, too. */
function checkValue(label: string, value: unknown): Why {
  if (value === undefined) return `${label} is missing`;
  return checkString(label, JSON.stringify(value), { max: MAX_VALUE, mayHaveLines: true });
}

function checkOrigin(from: unknown): Why {
  if (!isObject(from)) return 'overlay.from must be an object';
  const isNumber = ['score', 'draftScore', 'matches', 'mean'].every((name) => Number.isFinite(from[name]));
  return (
    checkString('overlay.from.key', from.key, { max: MAX_LINE }) ??
    (from.onlyFor === undefined
      ? undefined
      : checkString('overlay.from.onlyFor', from.onlyFor, { max: 64 })) ??
    (isNumber ? undefined : 'overlay.from needs the numbers score, draftScore, matches and mean') ??
    checkList('overlay.from.records', from.records, 64, (label, id) => checkString(label, id, { max: 64 }))
  );
}

/** A copy that shares nothing with the caller's object. Checked before. */
export const copyOverlay = (overlay: Overlay): Overlay => structuredClone(overlay);

export const encodeOverlay = ({ payload, from }: Overlay): JsonObject => ({
  payload: asObject(JSON.parse(JSON.stringify(payload))),
  ...(from === undefined ? {} : { from: { ...from, records: [...from.records] } }),
});

/** The error for which a fix is shown, without its line number. Undefined for lessons that are chosen by the task. */
export function fixedErrorOf({ kind, text: { overlay } }: Pick<Lesson, 'kind' | 'text'>): string | undefined {
  if (kind !== 'fix' || overlay?.payload.type !== 'fix_template') return undefined;
  // A fix whose error could be any is never shown.
  return errorKeyOf(overlay.payload.error) ?? '';
}

/** Lessons that recall chooses by the task. */
export const isRecalled = (lesson: Lesson): boolean => fixedErrorOf(lesson) === undefined;

/** Guidance for a kind of run: it is shown in all of them, whatever the task. */
export const isFragment = ({ kind, text: { overlay } }: Pick<Lesson, 'kind' | 'text'>): boolean =>
  kind === 'fragment' && overlay?.payload.type === 'prompt_fragment';

/** A lesson's content as prompts show it: with the steps of a repair, or the guidance, where the prose has not got them. */
export function contentOf({ content, overlay }: LessonText): string {
  const payload = overlay?.payload;
  const lines =
    payload?.type === 'fix_template'
      ? payload.repair
      : payload?.type === 'prompt_fragment'
        ? payload.guidance
        : NO_LINES;
  const missing = lines.filter((line) => !content.includes(line));
  if (missing.length === 0) return content;
  return [content.trimEnd(), missing.map((line) => `- ${line}`).join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
}

const NO_LINES: readonly string[] = [];
