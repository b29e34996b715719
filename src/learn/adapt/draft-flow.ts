import { instantiateFlow } from '../../base/flow-calls.ts';
import type { LearningRecord } from '../../core/adapt.ts';
import { asNumber, asObject, isObject, type Json, toJson } from '../../core/json.ts';
import type { FlowArgument, FlowOverlay, FlowStep, Overlay } from '../../core/overlay.ts';
import { checkOverlay } from '../../lessons/check-overlay.ts';
import { hasMark } from '../../redact/scan-context.ts';
import { kindOfName } from '../../redact/secret-name.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { lintSkillText } from '../gate/lint-lesson.ts';
import { inlineCode, readToolInput } from '../live/tool-input.ts';

interface FlowDraft {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly overlay: Overlay;
}

const LONGEST_NAME = 40;
const LONGEST_DESCRIPTION = 280;
const LONGEST_VALUE = 160;

/** The page of a flow, for people and models, with its overlay. Undefined for a record that has none, or one that is never proposed. */
export function draftFlow({
  payload,
  sourceLabel,
}: Pick<LearningRecord, 'payload' | 'sourceLabel'>): FlowDraft | undefined {
  const asked = {
    payload: toJson({ type: 'flow_offload', parameters: payload.parameters, steps: payload.steps }),
  };
  if (!isFlowOverlay(asked) || whyRiskyFlow(asked.payload) !== undefined) return undefined;
  const overlay: Overlay = { payload: asked.payload };
  const { steps, parameters } = asked.payload;
  const tools = steps.map(({ tool }) => tool);
  const sessions = asNumber(asObject(payload.support).sessions);
  const first = parameters.map(({ name }) => name);
  const given = first.length === 0 ? 'It needs nothing to be known.' : `It needs: ${first.join(', ')}.`;
  return {
    name: nameFlow(steps, sourceLabel),
    description: truncateEnd(
      `When the work begins with ${tools[0]} and ${tools[1]}: the ${steps.length} calls that always followed each other here, ${tools.join(', ')}.`,
      LONGEST_DESCRIPTION,
    ),
    content: [
      `These calls were made in this order in ${sessions === undefined ? 'several' : sessions} sessions, each time with success. ${given}`,
      steps.map((step, at) => `${at + 1}. ${describeStep(step)}`).join('\n'),
      ...(parameters.length === 0
        ? []
        : [
            'The parameters:',
            parameters
              .map(({ name, type, example }) => `- ${asCode(name)} (${type}), for example ${quote(example)}`)
              .join('\n'),
            `With these examples: ${exampleOf(asked.payload)}.`,
          ]),
      'Leave the list when a call fails, or when its result asks for something else.',
    ].join('\n\n'),
    overlay,
  };
}

/** Checked by the rules of the library, from which its type follows. */
const isFlowOverlay = (value: { readonly payload: object }): value is { readonly payload: FlowOverlay } =>
  checkOverlay(value) === undefined;

const nameFlow = (steps: readonly FlowStep[], label: string): string => {
  const part = (step: FlowStep | undefined): string =>
    doingOf(step)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '');
  const text = `${part(steps[0])}-to-${part(steps.at(-1))}`.slice(0, LONGEST_NAME).replace(/-+$/, '');
  return `${/^[a-z]/.test(text) ? text : `flow-${text}`}-${label.replace(/[^a-z0-9]/g, '').slice(-6)}`;
};

const SUBCOMMAND = /^[a-z][a-z-]{1,20}$/;

/** What a step does: the program that a shell runs with its subcommand, such as "git push", else the tool. */
function doingOf(step: FlowStep | undefined): string {
  if (step === undefined) return '';
  const fixed = Object.entries(step.arguments).flatMap(([name, argument]) =>
    'value' in argument ? [[name, argument.value] as const] : [],
  );
  const input = readToolInput(JSON.stringify(Object.fromEntries(fixed)));
  if (input.kind !== 'command' || input.program === '') return step.tool;
  const at = input.words.findIndex((word) => word.split('/').at(-1) === input.program);
  const next = input.words[at + 1] ?? '';
  return SUBCOMMAND.test(next) ? `${input.program} ${next}` : input.program;
}

const describeStep = ({ tool, arguments: given }: FlowStep): string => {
  const members = Object.entries(given).map(([name, argument]) => `${name} = ${describeArgument(argument)}`);
  return `${asCode(tool)}${members.length === 0 ? '' : ` with ${members.join(', ')}`}`;
};

const describeArgument = (argument: FlowArgument): string =>
  'parameter' in argument ? `the parameter ${argument.parameter}` : quote(argument.value);

const asCode = (text: string): string => inlineCode(text) ?? text;

const quote = (value: Json): string =>
  asCode(truncateEnd(oneLine(typeof value === 'string' ? value : JSON.stringify(value)), LONGEST_VALUE));

function exampleOf(flow: FlowOverlay): string {
  const values = new Map(flow.parameters.map(({ name, example }) => [name, example]));
  const [call] = instantiateFlow(flow, values) ?? [];
  return call === undefined
    ? 'none'
    : `the first call is ${asCode(truncateEnd(`${call.tool} ${JSON.stringify(call.arguments)}`, LONGEST_VALUE))}`;
}

/**
 * What nobody should repeat without reading it: a flow is a list of calls that are made without a thought. Stricter than the rules for
 * lessons, which a model reads first.
 */
const RISKS: readonly (readonly [why: string, pattern: RegExp])[] = [
  [
    'it deletes files',
    /\brm\s+(?:-\w+\s+)*-\w*[rf]|\b(?:rmdir|shred|mkfs|wipefs)\b|\bfind\b[^\n]{0,200}-delete\b|\bgit\s+clean\s+-\w*f/i,
  ],
  [
    'it runs what it fetches',
    /\b(?:curl|wget|iwr|irm)\b[^\n]{0,400}?\|\s*(?:sudo\s+)?(?:\w*sh|python\d?|node|perl|ruby|iex)\b/i,
  ],
  ['it rewrites history that others have', /\bpush\b[^\n]{0,80}(?:--force\b|\s-f\b)|\breset\s+--hard\b/i],
  ['it acts with the rights of the administrator', /\b(?:sudo|doas|runas)\b|\bsu\s+-?\w*\s*-c\b/i],
  ['it destroys data', /\b(?:drop\s+(?:table|database|schema)|truncate\s+table|delete\s+from)\b/i],
  [
    'it reads or writes credentials',
    /\b(?:passw(?:or)?d|secrets?|credentials?|api[_-]?keys?|private[_-]?keys?|access[_-]?tokens?|authorization)\b|\.env\b|\bid_(?:rsa|ed25519)\b|\.(?:ssh|aws|gnupg|kube)\/|\.pem\b|\.netrc\b/i,
  ],
];

/** Why a flow is never proposed, by its tools, its constants and its examples; undefined when nothing speaks against it. Total. */
export function whyRiskyFlow({ steps, parameters }: FlowOverlay): string | undefined {
  const lines: string[] = [];
  for (const { tool, arguments: given } of steps) {
    lines.push(words(tool));
    for (const [name, argument] of Object.entries(given)) {
      if (kindOfName(name) !== undefined) return `an argument is a secret: ${name}`;
      lines.push(words(name), ...('value' in argument ? textsIn(argument.value) : []));
    }
  }
  for (const { name, example } of parameters) lines.push(words(name), ...textsIn(example));
  const text = lines.join('\n');
  if (hasMark(text)) return 'it contains a secret';
  const risk = RISKS.find(([, pattern]) => pattern.test(text));
  if (risk !== undefined) return risk[0];
  const [reason] = lintSkillText(text);
  return reason;
}

/** `deleteAllFiles` as words, so that the patterns find them. */
const words = (name: string): string => name.replace(/([a-z])(?=[A-Z])/g, '$1 ').replace(/[_-]+/g, ' ');

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? [value.join(' ')] : value.flatMap(textsIn);
  return isObject(value)
    ? Object.entries(value).flatMap(([name, one]) => [words(name), ...textsIn(one)])
    : [];
}
