import posix from 'node:path/posix';
import type { ChatMessage, ToolCallPart } from '../../core/chat.ts';
import type { WrittenFile } from '../../core/check.ts';
import type { ToolOutcome } from '../../core/evidence.ts';
import { asArray, asObject, asString, compact, type JsonObject, parseJson } from '../../core/json.ts';
import { editedPaths, newTextIn, patchIn, readCall, wholeTextIn } from './tool-call.ts';
import { readOutcome } from './tool-outcome.ts';

/** What a file holds: null when it is deleted, undefined when the record does not tell. */
type Held = string | null | undefined;
type FileChange = (before: Held) => Held;

/** These calls changed nothing. */
const WITHOUT_EFFECT = new Set(['fault', 'rejected', 'outage']);

/**
 * The files that the calls from message `since` on changed, whole, as they were in the end: what was written or read of a file before,
 * with the edits since. Undefined where nothing was changed, or one of them is not known whole. What shell commands do is not seen.
 */
export function heldFiles(
  messages: readonly ChatMessage[],
  since: number,
): readonly WrittenFile[] | undefined {
  const changed = new Set(
    messages
      .slice(since)
      .flatMap(callsOf)
      .flatMap((call) => changesOf(call).map(([name]) => name)),
  );
  if (changed.size === 0) return undefined;
  const results = resultsOf(messages);
  const held = new Map<string, Held>();
  for (const call of messages.flatMap(callsOf)) {
    const view = readCall(call);
    if (view.kind !== 'read' && view.kind !== 'edit') continue;
    const result = results.get(call.id);
    const outcome = result && readOutcome(view, result).kind;
    if (outcome !== undefined && WITHOUT_EFFECT.has(outcome)) continue;
    if (view.kind === 'read' && result !== undefined)
      for (const name of pathsIn(call))
        if (changed.has(name)) held.set(name, readWhole(givenTo(call), result.text) ?? held.get(name));
    for (const [name, change] of changesOf(call))
      held.set(name, outcome === 'amended' ? undefined : change(held.get(name)));
  }
  const files = [...changed].map((path) => ({ path, text: held.get(path) }));
  if (files.some(({ text }) => text === undefined)) return undefined;
  return files.flatMap(({ path, text }) => (typeof text === 'string' ? [{ path, text }] : []));
}

const callsOf = (message: ChatMessage): readonly ToolCallPart[] =>
  message.role === 'assistant'
    ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
    : [];

function resultsOf(messages: readonly ChatMessage[]): ReadonlyMap<string, ToolOutcome> {
  const results = new Map<string, ToolOutcome>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const { callId, isError } = message;
    results.set(callId, compact({ callId, text, isError }));
  }
  return results;
}

const givenTo = (call: ToolCallPart): JsonObject => asObject(parseJson(call.arguments));
const plainPath = (name: string): string =>
  posix.normalize(name.replaceAll('\\', '/').replace(/^[A-Za-z]:/, ''));
const pathsIn = (call: ToolCallPart): readonly string[] => editedPaths(givenTo(call)).map(plainPath);

/** What an edit does to each file that it names. */
function changesOf(call: ToolCallPart): readonly (readonly [path: string, change: FileChange])[] {
  // Some tools for editing have a command to look.
  const given = givenTo(call);
  if (readCall(call).kind !== 'edit' || given.command === 'view') return [];
  const patch = patchIn(given);
  if (patch !== undefined && SECTION.test(patch)) return changesOfPatch(patch);
  const change = patch === undefined ? changeOf(given) : UNKNOWN;
  return pathsIn(call).map((name) => [name, change]);
}

const UNKNOWN: FileChange = () => undefined;

function changeOf(given: JsonObject): FileChange {
  const whole = wholeTextIn(given);
  if (whole !== undefined) return () => whole;
  const edits = Array.isArray(given.edits) ? asArray(given.edits).map(asObject) : [given];
  const replacements = edits.flatMap((edit) => replacementIn(edit) ?? []);
  if (replacements.length < edits.length) return UNKNOWN;
  return (before) => replacements.reduce(replaceIn, before);
}

interface Replacement {
  readonly old: string;
  readonly text: string;
  readonly isEverywhere: boolean;
}

const OLD_TEXT_KEYS = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text'];

function replacementIn(edit: JsonObject): Replacement | undefined {
  const old = OLD_TEXT_KEYS.map((key) => asString(edit[key])).find((text) => text !== undefined);
  const isEverywhere = (edit.replace_all ?? edit.replaceAll) === true;
  return old === undefined ? undefined : { old, text: newTextIn(edit) ?? '', isEverywhere };
}

/** A place that is not found exactly, or found twice, is not known. An edit of no text makes the file. */
function replaceIn(before: Held, { old, text, isEverywhere }: Replacement): Held {
  if (old === '') return text;
  if (typeof before !== 'string') return undefined;
  const pieces = before.split(old);
  return pieces.length === 2 || (isEverywhere && pieces.length > 1) ? pieces.join(text) : undefined;
}

const SECTION = /^\*\*\* (Add|Update|Delete) File: (.+)$/m;

/** A patch in the form of Codex. */
function changesOfPatch(patch: string): readonly (readonly [path: string, change: FileChange])[] {
  const [, ...parts] = patch.split(new RegExp(SECTION.source, 'm'));
  const changes: (readonly [string, FileChange])[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [kind, name = '', body = ''] = parts.slice(at, at + 3);
    const lines = body
      .split('\n')
      .slice(1)
      .filter((line) => !/^\*\*\* End/.test(line));
    const movedTo = /^\*\*\* Move to: (.+)$/m.exec(body)?.[1];
    if (movedTo !== undefined) changes.push([plainPath(movedTo.trim()), UNKNOWN]);
    const change: FileChange =
      kind === 'Delete' || movedTo !== undefined
        ? () => null
        : kind === 'Add'
          ? () =>
              added(lines)
                .map((line) => `${line}\n`)
                .join('')
          : (before) => (typeof before === 'string' ? patched(before.split('\n'), lines) : undefined);
    changes.push([plainPath(name.trim()), change]);
  }
  return changes;
}

const added = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => (line.startsWith('+') ? [line.slice(1)] : []));

/** The file with every hunk at the first place behind the last one; undefined when one has no place. */
function patched(before: readonly string[], patch: readonly string[]): string | undefined {
  const after: string[] = [];
  let at = 0;
  for (const { heading, lines } of hunksOf(patch)) {
    const from =
      heading === '' ? at : before.findIndex((line, index) => index >= at && line.trim() === heading);
    const old = lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
    const start =
      from < 0 || old.length === 0
        ? -1
        : before.findIndex(
            (_, index) => index >= from && old.every((line, next) => before[index + next] === line),
          );
    if (start < 0) return undefined;
    after.push(...before.slice(at, start));
    after.push(...lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1)));
    at = start + old.length;
  }
  return [...after, ...before.slice(at)].join('\n');
}

interface Hunk {
  readonly heading: string;
  readonly lines: string[];
}

function hunksOf(patch: readonly string[]): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of patch) {
    if (line.startsWith('@@')) hunks.push({ heading: line.slice(2).trim(), lines: [] });
    else if (/^[ +-]/.test(line)) {
      if (hunks.length === 0) hunks.push({ heading: '', lines: [] });
      hunks.at(-1)?.lines.push(line);
    }
  }
  return hunks;
}

/** Arguments of a read that asks for a part of the file. */
const PART_KEYS =
  /^(?:offset|limit|start|end|range|view_?range|ranges|head|tail|pages?|lines?|max_.*|.*_lines?)$/i;
/** What clients say about a text that they cut. */
const CUT = /\b(?:truncated|capped|more lines|showing lines|remaining|offset)\b|^\s*(?:\.\.\.|…)/im;
const MOST_LINES = 2000;
const LONGEST_LINE = 2000;
const LONGEST_PLAIN = 30_000;
const NUMBERED = /^ {0,8}(\d{1,6})(?:→|\t|\| ?|: )(.*)$/;

/** The file that a tool for reading showed; undefined where it may have shown a part of it. */
function readWhole(given: JsonObject, shown: string): string | undefined {
  if (Object.keys(given).some((key) => PART_KEYS.test(key) && given[key] !== null)) return undefined;
  const lines = shown.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').split('\n');
  if (lines.length >= MOST_LINES || lines.some((line) => line.length >= LONGEST_LINE)) return undefined;
  const numbers = lines.map((line) => NUMBERED.exec(line));
  const first = numbers.findIndex((match) => match !== null);
  if (first < 0 || first > 3) return readPlain(lines.join('\n'));
  const end = numbers.findLastIndex((match) => match !== null) + 1;
  const isCut = CUT.test(lines.slice(end).join('\n'));
  const isAll = numbers.slice(first, end).every((match, index) => Number(match?.[1]) === index + 1);
  if (isCut || !isAll) return undefined;
  return numbers
    .slice(first, end)
    .map((match) => `${match?.[2] ?? ''}\n`)
    .join('');
}

/** Without numbers of lines only a notice at its end tells that a text was cut. */
const readPlain = (text: string): string | undefined =>
  text.length > LONGEST_PLAIN || CUT.test(text.trimEnd().split('\n').at(-1) ?? '') ? undefined : text;
