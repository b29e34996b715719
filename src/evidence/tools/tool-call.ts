import { createTextMemo } from '../../base/text-memo.ts';
import type { WrittenFile } from '../../core/check.ts';
import { asArray, asObject, asString, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import { type Program, readCommand } from '../../text/shell-programs.ts';

/** The purpose of a tool, by its name: every client has its own names for the same few tools. */
export type CallKind = 'shell' | 'read' | 'search' | 'edit' | 'other';

/** A tool call, independent of the client. */
export interface CallView {
  readonly name: string;
  readonly kind: CallKind;
  /** The programs of a shell command, in order. */
  readonly programs: readonly Program[];
  /** The files that an edit names. */
  readonly paths: readonly string[];
}

const SHELL =
  /^(bash|shell|sh|exec|terminal|powershell|local_shell|run_terminal_cmd|run_in_terminal|execute|command|run|bash_tool|shell_exec|execute_terminal)$|(^|_)(exec|execute|run|shell|bash|terminal)_(command|commands|shell|bash|cmd|shell_command|terminal_command|terminal|in_terminal|terminal_cmd)$|^shell_command$/;
const READ =
  /^(read|view|open|cat|fetch_file|notebookread)$|^(read|view|open|get)_(file|files|many_files|notebook|file_contents?|resource|currently_open_file)$|^text_editor_view$/;
const SEARCH =
  /^(grep|glob|search|ls|list|find|codesearch|toolsearch|codebase_search|file_glob_search)$|^(search|list|find|grep|glob)_|^(grep|glob|file|files|code|codebase|text|content|symbol|ripgrep)_search$/;
const EDIT =
  /^(edit|write|multiedit|multi_edit|apply_patch|apply_diff|patch|replace|editor|create|insert|notebookedit|str_replace|text_editor|search_replace|search_and_replace|single_find_and_replace|applypatch)$|^(edit|write|create|replace|insert|update|patch|str_replace|delete)_(file|files|in_file|to_file|existing_file|new_file|based_edit_tool|editor|notebook|content)$/;

const known = createTextMemo<CallView>();

/** The same object for the same call, as long as it is remembered. */
export function readCall(call: { readonly name: string; readonly arguments: string }): CallView {
  const before = known.get(call.arguments);
  if (before?.name === call.name) return before;
  const view = viewCall(call);
  known.set(call.arguments, view);
  return view;
}

function viewCall(call: { readonly name: string; readonly arguments: string }): CallView {
  const name = plainName(call.name);
  const kind = kindOf(name);
  const given = parseJson(call.arguments === '' ? '{}' : call.arguments);
  if (!isObject(given)) return { name: call.name, kind, programs: [], paths: [] };
  if (kind === 'shell') return { name: call.name, kind, programs: readCommand(commandOf(given)), paths: [] };
  return { name: call.name, kind, programs: [], paths: kind === 'edit' ? editedPaths(given) : [] };
}

/** `mcp__files__read_file` is a `read_file`. */
function plainName(name: string): string {
  const last = name.lastIndexOf('__');
  return (last >= 0 ? name.slice(last + 2) : name).toLowerCase();
}

/** The web is no content of this project: a page or a search may be missing because a service is down. */
const WEB = /^web_?(?:search|fetch)$|^(?:fetch|browser)_/;

function kindOf(name: string): CallKind {
  if (WEB.test(name)) return 'other';
  if (SHELL.test(name)) return 'shell';
  if (READ.test(name)) return 'read';
  if (EDIT.test(name)) return 'edit';
  return SEARCH.test(name) ? 'search' : 'other';
}

/** What a shell command says, as it was typed; undefined for other tools. */
export function commandIn(call: { readonly name: string; readonly arguments: string }): string | undefined {
  const given = kindOf(plainName(call.name)) === 'shell' ? parseJson(call.arguments) : undefined;
  const command = isObject(given) ? commandOf(given) : '';
  return command === '' ? undefined : command;
}

const NEW_TEXT_KEYS = [
  'content',
  'contents',
  'new_string',
  'newString',
  'new_str',
  'newText',
  'new_text',
  'file_text',
  'code_edit',
  'insert_text',
  'text',
];

/** The text of a whole file, unless the call says what it replaces or where it is put. */
const WHOLE_TEXT_KEYS = ['content', 'contents', 'file_text'];
const PLACE_KEYS =
  /^(?:old_?(?:str|string|text)|insert_?line|start_?line|line|range|offset|append|cell_id|edits)$/i;

/** The new text of an edit: of a replacement only what is put in. */
export const newTextIn = (edit: JsonObject): string | undefined =>
  NEW_TEXT_KEYS.map((key) => asString(edit[key])).find((text) => text !== undefined);

/** The text of the whole file, where the call writes one. */
export const wholeTextIn = (given: JsonObject): string | undefined =>
  Object.keys(given).some((key) => PLACE_KEYS.test(key))
    ? undefined
    : WHOLE_TEXT_KEYS.map((key) => asString(given[key])).find((text) => text !== undefined);

export const patchIn = (given: JsonObject): string | undefined =>
  asString(given.input) ?? asString(given.patch) ?? asString(given.patchText) ?? asString(given.diff);

/** What an edit writes, by file: of a replacement and of a patch only the new lines. */
export function writtenFiles(call: {
  readonly name: string;
  readonly arguments: string;
}): readonly WrittenFile[] {
  const given = kindOf(plainName(call.name)) === 'edit' ? parseJson(call.arguments) : undefined;
  if (!isObject(given)) return [];
  const [path = '', ...others] = editedPaths(given);
  const texts = [given, ...asArray(given.edits).map(asObject)].flatMap((edit) => newTextIn(edit) ?? []);
  const added = patchIn(given)
    ?.split('\n')
    .flatMap((line) => (/^\+(?!\+\+)/.test(line) ? [line.slice(1)] : []));
  const text = [...texts, ...(added ?? [])].join('\n');
  if (text === '') return [];
  // A patch of several files is read as one text: which line belongs to which file decides no check.
  const named = others.length > 0 && texts.length === 0 ? [path, ...others].join(' ') : path;
  return [{ path: named, text }];
}

/** A command is a line, a list of lines, or (Codex) a program with its arguments. */
function commandOf(given: { readonly [name: string]: unknown }): string {
  const value = given.command ?? given.cmd ?? given.commands ?? given.script ?? given.input;
  if (typeof value === 'string') return value;
  const list = asArray(value).map((item) => asString(item) ?? asString(asObject(item).command) ?? '');
  const isWords = Array.isArray(given.command) && list.length > 1;
  return isWords ? list.map(quoted).join(' ') : list.join('\n');
}

const quoted = (word: string): string => (/[\s'"|&;<>]/.test(word) ? `'${word.replaceAll("'", '"')}'` : word);

const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.{1,300})$/;
const PATH_KEYS = ['file_path', 'filePath', 'path', 'absolute_path', 'notebook_path', 'file'];

export function editedPaths(given: JsonObject): readonly string[] {
  const named = PATH_KEYS.flatMap((key) => asString(given[key]) ?? []);
  const patch = patchIn(given) ?? '';
  return [...named, ...patch.split('\n').flatMap((line) => PATCHED.exec(line)?.[1]?.trim() ?? [])];
}
