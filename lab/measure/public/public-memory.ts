import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  asArray,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../../../src/core/json.ts';

/*
 * Public sets about earlier conversations, in one shape: what a person typed, in dated sessions, and questions about it. A folder may hold
 * any part of a set; files are known by their form, not by their name.
 */

interface SaidMessage {
  /** As the set names it; evidence refers to it. */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface SaidSession {
  readonly at: number;
  readonly messages: readonly SaidMessage[];
}

export interface PublicQuestion {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  /** Alternatives, of which one has to stand in the prompt; empty: the person never said it. */
  readonly answers: readonly string[];
  /** What a wrong answer to it would say. */
  readonly trap?: string;
  /** The messages that hold the answer; empty where the set does not name them. */
  readonly evidence: readonly string[];
}

export interface PublicPerson {
  readonly name: string;
  readonly sessions: readonly SaidSession[];
  readonly questions: readonly PublicQuestion[];
}

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 5, 9);

/** All JSON documents below a folder: a file of one document, or a document a line. */
function readDocuments(
  folder: string,
): readonly { readonly file: string; readonly documents: readonly Json[] }[] {
  const names = statSync(folder).isDirectory()
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
    : [''];
  return names
    .filter((name) => /\.jsonl?$/.test(name === '' ? folder : name))
    .sort()
    .map((name) => {
      const file = path.join(folder, name);
      const text = readFileSync(file, 'utf8');
      const whole = parseJson(text);
      if (whole !== undefined) return { file, documents: [whole] };
      return { file, documents: text.split('\n').flatMap((line) => parseJson(line) ?? []) };
    });
}

const textsOf = (value: Json | undefined): readonly string[] =>
  [value ?? []]
    .flat()
    .flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [String(one)] : []));

/** BFCL: conversations of five scenarios, questions, and their answers in a file of its own. */
export function readBfcl(folder: string): readonly PublicPerson[] {
  const objects = readDocuments(folder).flatMap(({ documents }) => documents.map(asObject));
  const answers = new Map(
    objects.flatMap(({ id, ground_truth: truth, source }) =>
      truth === undefined ? [] : [[String(id), { answers: textsOf(truth), source: String(source ?? '') }]],
    ),
  );
  const questions = objects.filter(({ scenario }) => typeof scenario === 'string');
  const scenarios = [...new Set(questions.map(({ scenario }) => String(scenario)))];
  const talks = objects.filter(({ topic }) => typeof topic === 'string');
  return scenarios.map((name) => ({
    name,
    sessions: talks
      .filter(({ id }) => new RegExp(`-${name}-\\d+$`).test(String(id)))
      .map(({ id, question }, nth) => ({
        at: FIRST_DAY + nth * DAY_MS,
        messages: userTexts(question).map((text, at) => ({ id: `${String(id)}:${at}`, role: 'user', text })),
      })),
    questions: questions.flatMap(({ id, scenario, question }) => {
      const known = answers.get(String(id));
      const text = userTexts(question).at(-1);
      if (scenario !== name || known === undefined || text === undefined) return [];
      return [{ id: String(id), kind: name, text, answers: known.answers, evidence: [] }];
    }),
  }));
}

const userTexts = (turns: Json | undefined): readonly string[] =>
  asArray(turns).flatMap((turn) =>
    asArray(turn).flatMap((message) => {
      const { role, content } = asObject(message);
      return role === 'user' && typeof content === 'string' ? [content] : [];
    }),
  );

const LOCOMO_KINDS = ['', 'several', 'temporal', 'open', 'single', 'no answer'] as const;

/** LoCoMo: each dialogue is one person's with an assistant, once for either speaker; a question goes to the one who said the answer. */
export function readLocomo(folder: string): readonly PublicPerson[] {
  const dialogues = readDocuments(folder).flatMap(({ documents }) =>
    documents.flatMap((one) => (Array.isArray(one) ? one : [one])).map(asObject),
  );
  return dialogues.flatMap((dialogue, nth) => {
    const talk = asObject(dialogue.conversation);
    if (Object.keys(talk).length === 0) return [];
    return ['speaker_a', 'speaker_b'].map((key) => {
      const person = asString(talk[key]) ?? '';
      const sessions = readLocomoSessions(talk, person);
      const own = new Set(
        sessions.flatMap(({ messages }) =>
          messages.filter(({ role }) => role === 'user').map(({ id }) => id),
        ),
      );
      const questions = asArray(dialogue.qa)
        .map(asObject)
        .flatMap((qa, at) => readLocomoQuestion(qa, `${nth}-${at}`))
        .filter(({ evidence: [first = ''] }) => own.has(first));
      return { name: `${nth} ${person}`, sessions, questions };
    });
  });
}

function readLocomoSessions(talk: JsonObject, person: string): readonly SaidSession[] {
  return Object.entries(talk)
    .flatMap(([key, value]) => {
      const date = asString(talk[`${key}_date_time`]);
      if (!/^session_\d+$/.test(key) || date === undefined) return [];
      const messages = asArray(value).flatMap((one): readonly SaidMessage[] => {
        const { speaker, dia_id: id, text } = asObject(one);
        const role = speaker === person ? 'user' : 'assistant';
        return typeof text === 'string' ? [{ id: String(id), role, text }] : [];
      });
      return [{ at: readDate(date), messages }];
    })
    .toSorted((one, other) => one.at - other.at);
}

/** "1:56 pm on 8 May, 2023", in the time zone of this machine. */
function readDate(text: string): number {
  const [, hour = '0', minute = '0', half = 'am', day = '1', month = '', year = ''] =
    /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d{4})$/.exec(text.trim()) ?? [];
  const at = new Date(`${day} ${month} ${year}`);
  at.setHours((Number(hour) % 12) + (half === 'pm' ? 12 : 0), Number(minute));
  return at.getTime();
}

function readLocomoQuestion(qa: JsonObject, id: string): readonly PublicQuestion[] {
  const text = asString(qa.question);
  const kind = LOCOMO_KINDS[Number(qa.category)];
  const evidence = textsOf(qa.evidence).flatMap((one) => one.match(/D\d+:\d+/g) ?? []);
  if (text === undefined || kind === undefined || evidence.length === 0) return [];
  const trap = asString(qa.adversarial_answer);
  const answers = kind === 'no answer' ? [] : textsOf(qa.answer);
  return [{ id, kind, text, answers, evidence, ...(trap === undefined ? {} : { trap }) }];
}

/** PrefEval: stated preferences, each with a question whose answer should follow it. `size`: how many one person has. */
export function readPrefEval(folder: string, size: number): readonly PublicPerson[] {
  const topics = readDocuments(folder).map(({ documents }) =>
    documents
      .flatMap((one) => (Array.isArray(one) ? one : [one]))
      .map(asObject)
      .flatMap(({ preference, question }) =>
        typeof preference === 'string' && typeof question === 'string' ? [{ preference, question }] : [],
      ),
  );
  // One of each topic in turn: a person has tastes of many kinds.
  const longest = Math.max(0, ...topics.map(({ length }) => length));
  const all = Array.from({ length: longest }, (_, nth) =>
    topics.flatMap((topic) => topic.slice(nth, nth + 1)),
  ).flat();
  const persons: PublicPerson[] = [];
  for (let from = 0; from < all.length; from += size) {
    const own = all.slice(from, from + size);
    persons.push({
      name: `person ${persons.length + 1}`,
      sessions: own.map(({ preference }, nth) => ({
        at: FIRST_DAY + nth * DAY_MS,
        messages: [{ id: String(nth), role: 'user', text: preference }],
      })),
      questions: own.map(({ preference, question }, nth) => ({
        id: `${from + nth}`,
        kind: 'preference',
        text: question,
        answers: [preference],
        evidence: [String(nth)],
      })),
    });
  }
  return persons;
}
