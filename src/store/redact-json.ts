import { isObject, type Json, parseJson } from '../core/json.ts';
import { authorizationIn, cookiesIn } from './secrets/http-credential.ts';
import { withoutMarks } from './secrets/mark.ts';
import { createPage } from './secrets/page.ts';
import { kindOfName } from './secrets/secret-name.ts';
import { isSecretValue } from './secrets/secret-value.ts';

export interface TextRedaction {
  redactText(text: string): string;
  mark(secret: string): string;
}

type Slot = Json[] | { [name: string]: Json };

interface Task {
  readonly value: Json;
  /** The member it belongs to, also as an element of that member's list. */
  readonly name: string | undefined;
  readonly into: Slot;
  readonly at: number | string;
}

/** Every string and every name of the value goes through the text rules; the shape of the value stays. */
export function redactJsonWith(redaction: TextRedaction, value: Json): Json {
  const root: Json[] = [];
  // A list of tasks, not recursion: a stranger decides how deep this goes.
  const tasks: Task[] = [{ value, name: undefined, into: root, at: 0 }];
  for (let task = tasks.pop(); task; task = tasks.pop()) place(redaction, task, tasks);
  return redactAsText(redaction, root[0] ?? null);
}

/** Whether a member anywhere in the value has a name that promises a secret. */
export function hasTellingName(value: Json): boolean {
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const element of next) if (typeof element === 'object') open.push(element);
    } else if (isObject(next)) {
      for (const [name, member] of Object.entries(next)) {
        if (kindOfName(name) !== undefined) return true;
        if (typeof member === 'object') open.push(member);
      }
    }
  }
  return false;
}

/** Whether every string and every name of the value stays as it is. */
export function isUntouched(redaction: TextRedaction, value: Json): boolean {
  const open: { readonly value: Json; readonly name: string | undefined }[] = [{ value, name: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: here, name } = next;
    if (typeof here === 'string') {
      if (redactMember(redaction, name, here) !== here) return false;
    } else if (Array.isArray(here)) {
      for (const element of here) open.push({ value: element, name });
    } else if (isObject(here)) {
      for (const [key, member] of Object.entries(here)) {
        if (redaction.redactText(key) !== key) return false;
        if (member !== undefined) open.push({ value: member, name: withoutMarks(key) });
      }
    }
  }
  return true;
}

function place(redaction: TextRedaction, task: Task, tasks: Task[]): void {
  const { value, name } = task;
  if (typeof value === 'string') {
    put(task, redactMember(redaction, name, value));
  } else if (Array.isArray(value)) {
    const list: Json[] = new Array(value.length).fill(null);
    put(task, list);
    value.forEach((element: Json, at) => {
      tasks.push({ value: element, name, into: list, at });
    });
  } else if (isObject(value)) {
    const members: { [name: string]: Json } = {};
    put(task, members);
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const at = freeName(members, redaction.redactText(key));
      put({ into: members, at }, null);
      tasks.push({ value: member, name: withoutMarks(at), into: members, at });
    }
  } else {
    put(task, value);
  }
}

/** Defined, not assigned, where a member is called `__proto__`. */
function put({ into, at }: Pick<Task, 'into' | 'at'>, value: Json): void {
  if (Array.isArray(into)) into[Number(at)] = value;
  else if (at !== '__proto__') into[at] = value;
  else Object.defineProperty(into, at, { value, writable: true, enumerable: true, configurable: true });
}

/** Two names must not become one. */
function freeName(members: object, name: string): string {
  let free = name;
  while (Object.hasOwn(members, free)) free += '+';
  return free;
}

function redactMember({ redactText, mark }: TextRedaction, name: string | undefined, value: string): string {
  const kind = name === undefined ? undefined : kindOfName(name);
  if (kind === 'authorization' || kind === 'cookie') {
    const page = createPage(value);
    const [span, more] =
      kind === 'cookie'
        ? cookiesIn(page, 0, undefined, /set-?cookie/i.test(name ?? ''))
        : authorizationIn(page, 0);
    if (!span || more) return redactText(value);
    const [before, after] = [value.slice(0, span.start), value.slice(span.end)];
    return redactText(before) + mark(value.slice(span.start, span.end)) + redactText(after);
  }
  if (kind !== undefined && kind !== 'query' && isSecretValue(value, kind, 'quoted')) {
    // A key that is known or has a shape gets the same mark as everywhere else.
    const asText = redactText(value);
    return asText === value || withoutMarks(asText) !== '' ? mark(value) : asText;
  }
  return redactText(value);
}

/**
 * Names and values can also be neighbours (`["--password", "…"]`, `{"name": …, "value": …}`). The text rules see those in the
 * written form, which is also the form that is scanned before an export.
 */
function redactAsText({ redactText }: TextRedaction, value: Json): Json {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // Too deep to be written down by anyone.
    if (error instanceof RangeError) return value;
    throw error;
  }
  const redacted = redactText(text);
  return redacted === text ? value : (parseJson(redacted) ?? value);
}
