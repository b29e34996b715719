import { isDeepStrictEqual } from 'node:util';
import { asObject, type Json } from '../core/json.ts';
import {
  addElement,
  findMember,
  type Path,
  removeElement,
  removeMember,
  restoreMember,
  setMember,
} from '../text/json-edit.ts';
import { type Dialect, JsonTextError, parseJsonText, plainValue } from '../text/json-text.ts';
import { addTomlBlock, removeTomlBlock, type TomlBlock, type TomlTrace, traceOf } from './toml-block.ts';
import { addYamlBlock, removeYamlBlock, type YamlBlock } from './yaml-block.ts';

/** One member of a JSON file. */
interface Setting {
  readonly path: Path;
  readonly value: Json;
  /**
   * The path below the value that identifies a changed member as Instar's, for clients that write into it. Empty: the
   * member's name suffices. Without it the whole value must be unchanged.
   */
  readonly mark?: Path;
  /** The value is an element of the list at the path, beside those of other programs. */
  readonly isElement?: true;
}

/** The settings to add to one of a client's files. */
export type ClientFileEdit =
  | {
      readonly kind: 'json';
      readonly file: string;
      readonly dialect: Dialect;
      readonly settings: readonly Setting[];
    }
  | { readonly kind: 'toml'; readonly file: string; readonly block: TomlBlock }
  | { readonly kind: 'yaml'; readonly file: string; readonly block: YamlBlock }
  /** A file of Instar's own among the client's. */
  | { readonly kind: 'whole'; readonly file: string; readonly text: string };

/** All edits that point one client at the gateway. */
export interface ConnectPlan {
  readonly edits: readonly ClientFileEdit[];
  /** Remarks for the user. */
  readonly notes: readonly string[];
}

/** A member that was set, with its previous value and the existing part of its path. */
interface SetMember extends Setting {
  /** The text of the previous value. */
  readonly before?: string;
  readonly depth: number;
}

/** How to remove an edit when its file has changed since. */
export type Undo =
  | { readonly kind: 'json'; readonly dialect: Dialect; readonly members: readonly SetMember[] }
  | { readonly kind: 'toml'; readonly trace: TomlTrace }
  | { readonly kind: 'yaml' }
  | { readonly kind: 'whole' };

type AppliedEdit =
  | { readonly ok: true; readonly text: string; readonly undo: Undo }
  | { readonly ok: false; readonly why: string };

/** The file's text with the edit, or the reason why it cannot be edited safely. */
export function applyEdit(text: string, edit: ClientFileEdit): AppliedEdit {
  if (edit.kind === 'whole')
    return text === '' || text === edit.text
      ? { ok: true, text: edit.text, undo: { kind: 'whole' } }
      : { ok: false, why: 'another program has written it' };
  if (edit.kind === 'toml') {
    const added = addTomlBlock(text, edit.block);
    return added.ok
      ? { ok: true, text: added.text, undo: { kind: 'toml', trace: traceOf(edit.block) } }
      : added;
  }
  if (edit.kind === 'yaml') {
    const added = addYamlBlock(text, edit.block);
    return added.ok ? { ok: true, text: added.text, undo: { kind: 'yaml' } } : added;
  }
  try {
    return applySettings(text, edit.settings, edit.dialect);
  } catch (error) {
    if (error instanceof JsonTextError) return { ok: false, why: error.message };
    throw error;
  }
}

function applySettings(given: string, settings: readonly Setting[], dialect: Dialect): AppliedEdit {
  const start = given.trim() === '' ? '{}\n' : given;
  let text = start;
  const members: SetMember[] = [];
  for (const setting of settings) {
    const { path, value, isElement } = setting;
    const { node, depth } = findMember(parseJsonText(text, dialect), path);
    members.push({ ...setting, depth, ...(node && { before: text.slice(node.start, node.end) }) });
    const edit = isElement === true ? addElement : setMember;
    text = edit(text, path, value, dialect);
  }
  const isSafe = settings.every(({ path, value, isElement }) =>
    isElement === true ? elementAt(text, path, value, dialect) >= 0 : holds(text, path, value, dialect),
  );
  const others = (one: string) =>
    settings.reduce((rest, { path }) => without(rest, path), plain(one, dialect));
  if (!isSafe || !isDeepStrictEqual(others(text), others(start)))
    return { ok: false, why: 'its formatting is not supported' };
  return { ok: true, text, undo: { kind: 'json', dialect, members } };
}

/**
 * The text without the edit, when another program has changed the file since. Members that were changed as well are kept.
 * Undefined when the text cannot be parsed any more.
 */
export function undoEdit(text: string, undo: Undo): string | undefined {
  if (undo.kind === 'toml') return removeTomlBlock(text, undo.trace);
  if (undo.kind === 'yaml') return removeYamlBlock(text);
  // A file that was changed since is no longer Instar's alone.
  if (undo.kind === 'whole') return text;
  try {
    return [...undo.members].reverse().reduce((rest, member) => takeMember(rest, member, undo.dialect), text);
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

function takeMember(text: string, member: SetMember, dialect: Dialect): string {
  const { path, before, depth, value, isElement } = member;
  if (isElement === true) {
    const index = elementAt(text, path, value, dialect);
    if (index < 0) return text;
    const rest = removeElement(text, path, index, dialect);
    const { node } = findMember(parseJsonText(rest, dialect), path);
    const isEmpty = node?.kind === 'array' && node.items.length === 0 && before === undefined;
    return isEmpty ? withoutParents(removeMember(rest, path, dialect), path, depth, dialect) : rest;
  }
  if (!isOurs(text, member, dialect)) return text;
  if (before !== undefined) return restoreMember(text, path, before, dialect);
  return withoutParents(removeMember(text, path, dialect), path, depth, dialect);
}

/** Without the objects above a removed member that were made for it. */
function withoutParents(text: string, path: Path, depth: number, dialect: Dialect): string {
  let rest = text;
  for (let length = path.length - 1; length > depth; length--) {
    const { node } = findMember(parseJsonText(rest, dialect), path.slice(0, length));
    if (node?.kind === 'object' && node.members.length === 0)
      rest = removeMember(rest, path.slice(0, length), dialect);
  }
  return rest;
}

function isOurs(text: string, { path, value, mark }: SetMember, dialect: Dialect): boolean {
  if (mark === undefined) return holds(text, path, value, dialect);
  const part = mark.reduce<Json | undefined>((inner, key) => asObject(inner)[key], value);
  return mark.length === 0 || holds(text, [...path, ...mark], part ?? null, dialect);
}

/** The index of an element in a list; -1 when it is not there. */
function elementAt(text: string, path: Path, value: Json, dialect: Dialect): number {
  const { node } = findMember(parseJsonText(text, dialect), path);
  const wanted = plain(JSON.stringify(value), 'json');
  return node?.kind === 'array'
    ? node.items.findLastIndex((item) => isDeepStrictEqual(plainValue(text, item), wanted))
    : -1;
}

function holds(text: string, path: Path, value: Json, dialect: Dialect): boolean {
  const { node } = findMember(parseJsonText(text, dialect), path);
  return (
    node !== undefined && isDeepStrictEqual(plainValue(text, node), plain(JSON.stringify(value), 'json'))
  );
}

const plain = (text: string, dialect: Dialect): unknown => plainValue(text, parseJsonText(text, dialect));

/** The value without the member at a path, and without parent objects that become empty. */
function without(value: unknown, path: Path): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { [`.${key}`]: inner, ...others } = value as Record<string, unknown>;
  if (inner === undefined || rest.length === 0) return others;
  const left = without(inner, rest);
  const isEmpty = typeof left === 'object' && left !== null && Object.keys(left).length === 0;
  return isEmpty ? others : { ...others, [`.${key}`]: left };
}

/** The edit as text, for adding it by hand: the content of an otherwise empty file. */
export function renderEdit(edit: ClientFileEdit): string {
  const applied = applyEdit('', edit);
  return 'text' in applied ? applied.text : '';
}
