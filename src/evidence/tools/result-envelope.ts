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
  if (Array.isArray(value)) return readList(value) ?? readRuns(value);
  if (!isObject(value)) return undefined;
  const own =
    readContent(value) ?? readToolError(value) ?? readExec(value) ?? readWritten(value) ?? readList([value]);
  return own ?? (kind === 'other' || kind === 'edit' ? readPlain(value) : undefined);
}

/** A result of MCP, passed on as it is: `{"content":[{"type":"text","text":"…"}],"isError":true}`. */
function readContent(value: JsonObject): Envelope | undefined {
  const mark = value.isError ?? value.is_error;
  const parts = asArray(value.content).map((part) => asString(asObject(part).text));
  const isResult = Array.isArray(value.content) && parts.every((text) => text !== undefined);
  if (!isResult || (typeof mark !== 'boolean' && Object.keys(value).length > 1)) return undefined;
  const text = parts.join('\n');
  if (typeof mark !== 'boolean') return undefined;
  const inner = mark ? undefined : readEnvelope(text, 'other');
  return inner ?? { failed: mark, text };
}

/** OpenClaw: `{"status":"error","tool":"edit","error":"…"}`. Roo Code: `{"status":"error","message":"…","error":"…"}`. */
function readToolError(value: JsonObject): Envelope | undefined {
  const isNamed = typeof value.tool === 'string' || typeof value.message === 'string';
  const words = value.error ?? (typeof value.type === 'string' ? value.message : undefined);
  if (value.status !== 'error' || !isNamed || words === undefined) return undefined;
  return { failed: true, text: wordsOf(words) };
}

/** Roo Code, about a file that it wrote: `{"path":…,"operation":"modified","notice":…}`. */
function readWritten({ path, operation, notice }: JsonObject): Envelope | undefined {
  const isWritten = operation === 'created' || operation === 'modified';
  return isWritten && typeof path === 'string' && typeof notice === 'string'
    ? { failed: false, text: '' }
    : undefined;
}

/** The names that tools have for an exit code; `status` is that of Node's `spawnSync`. */
const CODE_KEYS = [
  'exit_code',
  'exitCode',
  'returncode',
  'return_code',
  'returnCode',
  'exit_status',
  'exitStatus',
  'exit',
  'code',
  'status',
];
const OUTPUT_KEYS = [
  'output',
  'stdout',
  'aggregated',
  'combined_output',
  'formatted_output',
  'aggregated_output',
];

/** Codex, OpenClaw, goose and many MCP servers: an output beside its exit code. */
function readExec(value: JsonObject): Envelope | undefined {
  const exitCode =
    CODE_KEYS.map((key) => asNumber(value[key])).find((code) => code !== undefined) ??
    asNumber(asObject(value.metadata).exit_code) ??
    asNumber(asObject(value.metadata).exit);
  const output = OUTPUT_KEYS.map((key) => asString(value[key])).find((text) => text !== undefined);
  const more = asString(value.stderr) ?? asString(value.error);
  if (exitCode === undefined || (output === undefined && value.stderr === undefined)) return undefined;
  return { failed: exitCode !== 0, exitCode, text: [output, more].filter(Boolean).join('\n') };
}

/** Several commands of one call: the first that failed, or all of them. */
function readRuns(list: readonly Json[]): Envelope | undefined {
  const runs = list.map((item) => readExec(asObject(item)));
  const failed = runs.find((run) => run?.failed);
  if (runs.length === 0 || runs.includes(undefined)) return undefined;
  return failed ?? { failed: false, exitCode: 0, text: runs.map((run) => run?.text).join('\n') };
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

const HTTP_KEYS = ['message', 'body', 'statusText', 'headers', 'response', 'detail'];

/** An application's function: success and error fields that are in common use. */
function readPlain(value: JsonObject): Envelope | undefined {
  const flag = [value.success, value.ok, value.valid, value.passed].find(
    (member) => typeof member === 'boolean',
  );
  const mark = [value.isError, value.is_error].find((member) => typeof member === 'boolean');
  const status = asString(value.status)?.toLowerCase() ?? '';
  const error = value.error ?? (asArray(value.errors).length > 0 ? value.errors : undefined);
  const hasError =
    (typeof error === 'string' && error !== '') || (typeof error === 'object' && error !== null);
  const number = asNumber(value.status) ?? asNumber(value.code);
  const text =
    `${wordsOf(error ?? value.message)}${number === undefined ? '' : ` (status ${number})`}`.trim();
  // `{"order":"7781","status":"failed"}` is data: a failure of the call itself says why.
  const isBad = BAD.has(status) && (hasError || status === 'error' || typeof value.message === 'string');
  const isHttpError =
    number !== undefined &&
    number >= 400 &&
    number < 600 &&
    HTTP_KEYS.some((key) => value[key] !== undefined);
  if (flag === false || mark === true || isBad || isHttpError || (hasError && flag !== true))
    return { failed: true, text };
  return flag === true || GOOD.has(status) ? { failed: false, text } : undefined;
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null || value === false
    ? ''
    : JSON.stringify(value).slice(0, 20_000);
}
