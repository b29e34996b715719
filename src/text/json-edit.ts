import type { Json } from '../core/json.ts';
import { type Dialect, type JsonMember, type JsonNode, JsonTextError, parseJsonText } from './json-text.ts';

export type Path = readonly string[];
type JsonObjectNode = Extract<JsonNode, { kind: 'object' }>;

/** The member at a path, and how many keys of the path exist. Of duplicate keys the last one counts. */
export function findMember(root: JsonNode, path: Path): { readonly node?: JsonNode; readonly depth: number } {
  let node: JsonNode = root;
  for (const [depth, key] of path.entries()) {
    const member: JsonMember | undefined =
      node.kind === 'object' ? node.members.findLast((one) => one.key === key) : undefined;
    if (member === undefined) return { depth };
    node = member.value;
  }
  return { node, depth: path.length };
}

/** Sets a member and leaves the rest of the text untouched. Throws `JsonTextError` when its parent is not an object. */
export function setMember(text: string, path: Path, value: Json, dialect: Dialect): string {
  const root = parseJsonText(text, dialect);
  const { node, depth } = findMember(root, path);
  const style = styleOf(text, root);
  if (node !== undefined) {
    return replace(text, node, render(value, lineIndent(text, node.start), style, isOneLine(text, root)));
  }
  const parent = findMember(root, path.slice(0, depth)).node;
  if (parent?.kind !== 'object') {
    const name = path.slice(0, depth).join('.') || 'the file';
    throw new JsonTextError(`${name} is not an object { … }`);
  }
  const nested = path.slice(depth + 1).reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  return insert(text, parent, { key: path[depth] ?? '', value: nested }, style);
}

/** Adds an element at the end of an array, which is made if it is missing. Throws `JsonTextError` when something else is there. */
export function addElement(text: string, path: Path, value: Json, dialect: Dialect): string {
  const { node } = findMember(parseJsonText(text, dialect), path);
  if (node === undefined) return setMember(text, path, [value], dialect);
  if (node.kind !== 'array') throw new JsonTextError(`${path.join('.')} is not a list [ … ]`);
  const last = node.items.at(-1);
  if (last === undefined) return replace(text, node, JSON.stringify([value]));
  return `${text.slice(0, last.end)}, ${JSON.stringify(value)}${text.slice(last.end)}`;
}

/** Removes the element at an index, with its comma. */
export function removeElement(text: string, path: Path, index: number, dialect: Dialect): string {
  const { node } = findMember(parseJsonText(text, dialect), path);
  const item = node?.kind === 'array' ? node.items[index] : undefined;
  if (node?.kind !== 'array' || item === undefined) return text;
  const [before, after] = [node.items[index - 1], node.items[index + 1]];
  if (before !== undefined) return text.slice(0, before.end) + text.slice(item.end);
  return text.slice(0, item.start) + text.slice(after?.start ?? item.end);
}

/** Replaces a value by its previous text. */
export function restoreMember(text: string, path: Path, raw: string, dialect: Dialect): string {
  const { node } = findMember(parseJsonText(text, dialect), path);
  return node === undefined ? text : replace(text, node, raw);
}

/** Removes a member with its comma and its line. */
export function removeMember(text: string, path: Path, dialect: Dialect): string {
  const parent = findMember(parseJsonText(text, dialect), path.slice(0, -1)).node;
  if (parent?.kind !== 'object') return text;
  const index = parent.members.findLastIndex((one) => one.key === path.at(-1));
  const member = parent.members[index];
  if (member === undefined) return text;
  const [before, after] = [parent.members[index - 1], parent.members[index + 1]];
  if (after !== undefined) return text.slice(0, member.keyStart) + text.slice(after.keyStart);
  const from = gapBefore(text, member.keyStart);
  const ownComma = commaAfter(text, member.value.end);
  if (before === undefined || ownComma !== undefined) {
    const to = ownComma === undefined ? member.value.end : ownComma + 1;
    const isAll = before === undefined && text.slice(to, parent.end - 1).trim() === '';
    return text.slice(0, from) + text.slice(isAll ? parent.end - 1 : to);
  }
  const comma = commaAfter(text, before.value.end) ?? before.value.end;
  return text.slice(0, comma) + text.slice(comma + 1, from) + text.slice(member.value.end);
}

interface Style {
  readonly unit: string;
  readonly newline: string;
}

function styleOf(text: string, root: JsonNode): Style {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const first = root.kind === 'object' ? root.members[0] : undefined;
  const unit = first === undefined ? '' : lineIndent(text, first.keyStart);
  return { unit: unit === '' ? '  ' : unit, newline };
}

interface NewMember {
  readonly key: string;
  readonly value: Json;
}

function insert(text: string, object: JsonObjectNode, { key, value }: NewMember, style: Style): string {
  const { newline, unit } = style;
  const last = object.members.at(-1);
  const outer = lineIndent(text, object.start);
  if (last === undefined) {
    const indent = outer + unit;
    const member = `${newline}${indent}${JSON.stringify(key)}: ${render(value, indent, style, false)}`;
    const inside = text.slice(object.start + 1, object.end - 1);
    const close = inside.trim() === '' ? newline + outer : inside;
    return text.slice(0, object.start + 1) + member + close + text.slice(object.end - 1);
  }
  const comma = commaAfter(text, last.value.end);
  const oneLine = isOneLine(text, object);
  const indent = lineIndent(text, object.members[0]?.keyStart ?? 0);
  const isTight = !/[\s]/.test(text.slice(object.start, object.end).replace(/"(?:[^"\\]|\\.)*"/g, ''));
  const rendered = render(value, indent, style, oneLine);
  const gap = oneLine ? (isTight ? '' : ' ') : newline + indent;
  const member = `${gap}${JSON.stringify(key)}:${isTight ? '' : ' '}${rendered}`;
  const behind = comma === undefined ? last.value.end : comma + 1;
  const at = oneLine ? behind : endOfLine(text, behind, object.end - 1);
  const separator = comma === undefined ? ',' : '';
  return text.slice(0, last.value.end) + separator + text.slice(last.value.end, at) + member + text.slice(at);
}

const replace = (text: string, node: JsonNode, by: string): string =>
  text.slice(0, node.start) + by + text.slice(node.end);

function render(value: Json, indent: string, { unit, newline }: Style, oneLine: boolean): string {
  if (oneLine) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', newline + indent);
}

const isOneLine = (text: string, node: JsonNode): boolean => !text.slice(node.start, node.end).includes('\n');

/** The indentation of the line of an offset. */
function lineIndent(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? '';
}

/** The start of the white space before an offset, including its line break. */
const gapBefore = (text: string, at: number): number => text.slice(0, at).trimEnd().length;

/** The offset of the comma after a value, skipping white space and comments. */
function commaAfter(text: string, at: number): number | undefined {
  const gap = /^(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/.exec(text.slice(at))?.[0] ?? '';
  return text[at + gap.length] === ',' ? at + gap.length : undefined;
}

/** The end of the line when only a comment follows on it; else the offset itself. */
function endOfLine(text: string, at: number, limit: number): number {
  const rest = /^[ \t]*(?:\/\/[^\r\n]*|(?:\/\*[^\r\n]*?\*\/[ \t]*)*)(?=\r?\n)/.exec(text.slice(at, limit));
  return rest === null ? at : at + rest[0].trimEnd().length;
}
