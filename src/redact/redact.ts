import { createHmac } from 'node:crypto';
import { createLruMap } from '../base/lru-map.ts';
import { asObject, asString, isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { createSecretFinder } from './find-secrets.ts';
import { authorizationIn, cookiesIn } from './http-credential.ts';
import { createScanContext, formatMark, removeMarks } from './scan-context.ts';
import { kindOfName } from './secret-name.ts';
import { isSecretValue } from './secret-value.ts';

interface RedactorOptions {
  /** The keys of this installation. Called each time, so that a changed key takes effect at once. */
  readonly known: () => readonly string[];
  /** The HMAC key of the marks, random and private to this installation: a guessed secret cannot be verified from its mark. */
  readonly salt: string;
}

/**
 * Replaces secrets by marks (`[[secret:xxxxxxxx]]`) before anything is written. Never throws. Redaction is idempotent, and
 * `hasSecret` is false for redacted text.
 */
export interface Redactor {
  /** Any text. JSON text stays valid JSON. */
  redactText(text: string): string;
  /** The same structure with strings and names redacted; a string under a name of a secret is replaced as a whole. */
  redactJson(value: Json): Json;
  redactObject(value: JsonObject): JsonObject;
  /** The JSON text of `redactJson`'s result, cheaper when there is nothing to redact. */
  redactToText(value: Json): string;
  /** A name or an id: the same text as inside a fact. Remembered, because names repeat. */
  redactName(name: string): string;
  /** Whether `redactText` would change the text. */
  hasSecret(text: string): boolean;
  /** A keyed hash, for texts that are compared and never read: without the salt a guess cannot be verified. */
  digest(text: string): string;
}

const MOST_NAMES = 10_000;
const LONGEST_NAME = 256;

export function createRedactor({ known, salt }: RedactorOptions): Redactor {
  let keys: readonly string[] = [];
  let finder = createSecretFinder(keys);
  const names = createLruMap<string, string>(MOST_NAMES);

  const finderNow = (): typeof finder => {
    const now = known();
    if (now.length !== keys.length || now.some((key, i) => key !== keys[i])) {
      keys = [...now];
      finder = createSecretFinder(keys);
      names.clear();
    }
    return finder;
  };
  const mark = (secret: string): string => formatMark(secret, salt);

  /** Removing one secret can expose the next, so this repeats until nothing is found; each round leaves less to find. */
  const redactText = (text: string): string => {
    const { find } = finderNow();
    let current = text;
    for (let spans = find(current); spans.length > 0; spans = find(current)) {
      let out = '';
      let from = 0;
      for (const span of spans) {
        out += current.slice(from, span.start) + mark(span.secret ?? current.slice(span.start, span.end));
        from = span.end;
      }
      current = out + current.slice(from);
    }
    return current;
  };

  const redaction = { redactText, mark };
  const redactJson = (value: Json): Json => redactJsonWith(redaction, value);
  /** Most values contain nothing to redact, and most of those no trigger of any rule. */
  const isClean = (value: Json, text: string): boolean => {
    const { isPlain, find } = finderNow().look(text);
    if (isPlain && !hasSecretName(value)) return true;
    return isUntouched(redaction, value) && find().length === 0;
  };

  return {
    redactText,
    redactJson,
    redactObject: (value) => asObject(redactJson(value)),
    redactToText: (value) => {
      const text = JSON.stringify(value);
      return isClean(value, text) ? text : JSON.stringify(redactJson(value));
    },
    redactName: (name) => {
      finderNow();
      const known = names.get(name);
      if (known !== undefined) return known;
      const clean = asString(redactJson(name)) ?? '';
      if (name.length <= LONGEST_NAME) names.set(name, clean);
      return clean;
    },
    digest: (text) => createHmac('sha256', salt).update(`digest:${text}`).digest('hex').slice(0, 40),
    hasSecret: (text) => finderNow().find(text).length > 0,
  };
}

interface TextRedaction {
  redactText(text: string): string;
  mark(secret: string): string;
}

type Slot = Json[] | { [name: string]: Json };

interface Task {
  readonly value: Json;
  /** The name of the member, also for an element of that member's array. */
  readonly name: string | undefined;
  readonly into: Slot;
  readonly at: number | string;
}

/** Applies the text rules to every string and every member name; the structure stays. */
function redactJsonWith(redaction: TextRedaction, value: Json): Json {
  const root: Json[] = [];
  // A task list, not recursion: the depth of the input is not limited.
  const tasks: Task[] = [{ value, name: undefined, into: root, at: 0 }];
  for (let task = tasks.pop(); task; task = tasks.pop()) place(redaction, task, tasks);
  return redactAsText(redaction, root[0] ?? null);
}

/** Whether any member, at any depth, has a name that indicates a secret. */
function hasSecretName(value: Json): boolean {
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

/** Whether redaction would change no string and no member name. */
function isUntouched(redaction: TextRedaction, value: Json): boolean {
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
        if (member !== undefined) open.push({ value: member, name: removeMarks(key) });
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
      tasks.push({ value: member, name: removeMarks(at), into: members, at });
    }
  } else {
    put(task, value);
  }
}

/** A member called `__proto__` must be defined, not assigned. */
function put({ into, at }: Pick<Task, 'into' | 'at'>, value: Json): void {
  if (Array.isArray(into)) into[Number(at)] = value;
  else if (at !== '__proto__') into[at] = value;
  else Object.defineProperty(into, at, { value, writable: true, enumerable: true, configurable: true });
}

/** Two redacted names may be equal; the members must stay separate. */
function freeName(members: object, name: string): string {
  let free = name;
  while (Object.hasOwn(members, free)) free += '+';
  return free;
}

function redactMember({ redactText, mark }: TextRedaction, name: string | undefined, value: string): string {
  const kind = name === undefined ? undefined : kindOfName(name);
  if (kind === 'authorization' || kind === 'cookie') {
    const page = createScanContext(value);
    const [span, more] =
      kind === 'cookie'
        ? cookiesIn(page, 0, undefined, /set-?cookie/i.test(name ?? ''))
        : authorizationIn(page, 0);
    if (!span || more) return redactText(value);
    const [before, after] = [value.slice(0, span.start), value.slice(span.end)];
    return redactText(before) + mark(value.slice(span.start, span.end)) + redactText(after);
  }
  if (kind !== undefined && kind !== 'query' && isSecretValue(value, kind, 'quoted')) {
    // A known key or one of a known shape gets the same mark as elsewhere.
    const asText = redactText(value);
    return asText === value || removeMarks(asText) !== '' ? mark(value) : asText;
  }
  return redactText(value);
}

/**
 * Name and value can also be neighbours (`["--password", "…"]`, `{"name": …, "value": …}`). The text rules find these in the
 * serialised form, which is also the form that is scanned before an export.
 */
function redactAsText({ redactText }: TextRedaction, value: Json): Json {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // Too deep for JSON.stringify: it can never be written.
    if (error instanceof RangeError) return value;
    throw error;
  }
  const redacted = redactText(text);
  return redacted === text ? value : (parseJson(redacted) ?? value);
}
