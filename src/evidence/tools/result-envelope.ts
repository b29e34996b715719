import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../core/json.ts';
import type { CallKind } from './tool-call.ts';

/** The outcome that a JSON result reports. */
export interface Envelope {
  readonly failed: boolean;
  readonly exitCode?: number;
  /** The error message, or the wrapped output. */
  readonly text: string;
}

const ENVELOPE_CAP = 400_000;
const BAD = new Set(['error', 'failed', 'failure']);
const GOOD = new Set(['ok', 'success', 'completed', 'succeeded', 'sent', 'created']);

/**
 * Reads a tool result in JSON. For tools that pass on content (a file, a command's output) only shapes count that no
 * content has by chance.
 */
export function readEnvelope(text: string, kind: CallKind): Envelope | undefined {
  const start = text.trimStart()[0];
  if ((start !== '{' && start !== '[') || text.length > ENVELOPE_CAP) return undefined;
  const value = parseJson(text);
  if (Array.isArray(value)) return readList(value);
  if (!isObject(value)) return undefined;
  const own = readToolError(value) ?? readExec(value) ?? readList([value]);
  return own ?? (kind === 'other' || kind === 'edit' ? readPlain(value) : undefined);
}

/** OpenClaw: `{"status":"error","tool":"edit","error":"…"}`. */
function readToolError(value: JsonObject): Envelope | undefined {
  if (value.status !== 'error' || typeof value.tool !== 'string' || value.error === undefined)
    return undefined;
  return { failed: true, text: wordsOf(value.error) };
}

/** Codex and OpenClaw: an output beside its exit code. */
function readExec(value: JsonObject): Envelope | undefined {
  const exitCode =
    asNumber(asObject(value.metadata).exit_code) ?? asNumber(value.exit_code) ?? asNumber(value.exitCode);
  const output = asString(value.output) ?? asString(value.stdout) ?? asString(value.aggregated);
  if (exitCode === undefined || output === undefined) return undefined;
  const more = asString(value.stderr) ?? asString(value.error) ?? '';
  return { failed: exitCode !== 0, exitCode, text: more === '' ? output : `${output}\n${more}` };
}

/** Cline: `[{"query":…,"result":…,"success":false,"error":…}]`. */
function readList(list: readonly Json[]): Envelope | undefined {
  const items = list.map(asObject);
  const isOurs = items.every(
    ({ query, success }) => typeof query === 'string' && typeof success === 'boolean',
  );
  if (items.length === 0 || !isOurs) return undefined;
  const failed = items.filter(({ success }) => success === false);
  const text = (failed.length > 0 ? failed : items).map(
    ({ error, result }) => `${wordsOf(result)}\n${wordsOf(error)}`,
  );
  return { failed: failed.length > 0, text: text.join('\n').trim() };
}

/** An application's function: success and error fields that are in common use. */
function readPlain(value: JsonObject): Envelope | undefined {
  const flag = [value.success, value.ok].find((member) => typeof member === 'boolean');
  const mark = [value.isError, value.is_error].find((member) => typeof member === 'boolean');
  const status = asString(value.status)?.toLowerCase() ?? '';
  const error = value.error ?? (asArray(value.errors).length > 0 ? value.errors : undefined);
  const hasError =
    (typeof error === 'string' && error !== '') || (typeof error === 'object' && error !== null);
  const text =
    `${wordsOf(error ?? value.message)} ${asNumber(value.status) ?? asNumber(value.code) ?? ''}`.trim();
  if (flag === false || mark === true || BAD.has(status) || (hasError && flag !== true))
    return { failed: true, text };
  return flag === true || GOOD.has(status) ? { failed: false, text } : undefined;
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null || value === false
    ? ''
    : JSON.stringify(value).slice(0, 20_000);
}
