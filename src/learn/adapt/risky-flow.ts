import type { Json } from '../../core/json.ts';
import { isObject } from '../../core/json.ts';
import type { FlowOverlay } from '../../core/overlay.ts';
import { hasMark } from '../../redact/scan-context.ts';
import { kindOfName } from '../../redact/secret-name.ts';
import { lintSkillText } from '../gate/lint-skill-text.ts';

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
