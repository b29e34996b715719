import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  asArray,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../../../src/core/json.ts';
import { openCustomerDesk } from './customer-desk.ts';

export type Measured =
  | { readonly ok: true; readonly result: JsonObject; readonly text: string; readonly isMet: boolean }
  | { readonly ok: false; readonly why: string };

/** The first conversations are played whole; then the customers of all tasks each ask their first question. */
const CONVERSATIONS = 40;
const QUESTIONS = 50;

interface Conversation {
  readonly task: string;
  readonly customer: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** What identifies the customer: the user id, and codes of reservations and payments. */
  readonly identifiers: readonly string[];
}

/**
 * Conversations of customers with a support agent that uses one key and names its customer in OpenAI's `user`: how many prompts of other
 * customers carry somebody's identifiers or somebody's words. The second way names no customer: then nothing personal may be kept.
 */
export async function measureCustomers(data: string): Promise<Measured> {
  const file = path.join(data, 'tau-bench-trajectories', 'gpt-4o-airline.json');
  if (!existsSync(file)) return { ok: false, why: `The set "tau-bench" is absent: there is no ${file}.` };
  const all = asArray(parseJson(readFileSync(file, 'utf8')) as Json).map(readConversation);
  const byTask = new Map(all.map((one) => [one.task, one]));
  const played = all.slice(0, CONVERSATIONS);
  const asking = [...byTask.values()].slice(0, QUESTIONS);
  if (played.length === 0 || asking.length === 0) return { ok: false, why: `${file} has no conversations.` };
  const ways: JsonObject[] = [];
  for (const isNamed of [true, false]) {
    const desk = await openCustomerDesk();
    try {
      for (const [nth, { customer, messages }] of played.entries())
        await desk.converse(`c-${nth}`, messages, isNamed ? customer : undefined);
      await desk.settle();
      let [identifiers, words] = [0, 0];
      for (const [nth, { customer, messages }] of asking.entries()) {
        const first = messages.find(({ role }) => role === 'user')?.content ?? '';
        const added = await desk.addedTo(`q-${nth}`, first, isNamed ? customer : undefined);
        const others = played.filter((one) => one.customer !== customer);
        if (others.some((one) => one.identifiers.some((id) => added.includes(id)))) identifiers++;
        if (others.some((one) => saidBy(one).some((sentence) => added.includes(sentence)))) words++;
      }
      ways.push({
        customers: isNamed ? 'named' : 'not named',
        conversations: played.length,
        lessons: await desk.lessons(),
        prompts: asking.length,
        withIdentifiersOfOthers: identifiers,
        withWordsOfOthers: words,
      });
    } finally {
      await desk.close();
    }
  }
  const [named, unnamed] = ways;
  if (named?.lessons === 0)
    return { ok: false, why: 'Nothing was learned: that nothing leaks would say nothing.' };
  const isMet = named?.withWordsOfOthers === 0 && ways.every((way) => way.withIdentifiersOfOthers === 0);
  const text = ways
    .map(
      (way) =>
        `customers ${String(way.customers)}: ${String(way.conversations)} conversations, ${String(way.lessons)} lessons; of ${String(way.prompts)} prompts of customers ${String(way.withIdentifiersOfOthers)} carry an identifier and ${String(way.withWordsOfOthers)} a sentence of somebody else`,
    )
    .join('\n');
  return {
    ok: true,
    result: { set: 'tau-bench', named: named ?? {}, unnamed: unnamed ?? {}, isMet },
    text,
    isMet,
  };
}

const SHORTEST_SENTENCE = 20;

/** Sentences that nobody else in the set says: a greeting is nobody's. */
const saidBy = ({ messages }: Conversation): readonly string[] =>
  messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => content.split(/(?<=[.!?])\s+/))
    .filter((sentence) => sentence.length >= SHORTEST_SENTENCE && /\d/.test(sentence));

function readConversation(value: Json): Conversation {
  const { info, traj, task_id } = asObject(value);
  const task = asObject(asObject(info).task);
  const messages = asArray(traj).flatMap((one) => {
    const { role, content } = asObject(one);
    const text = asString(content) ?? '';
    const isTalk = (role === 'user' || role === 'assistant') && text !== '' && text !== '###STOP###';
    return isTalk ? [{ role: String(role), content: text }] : [];
  });
  const customer = asString(task.user_id) ?? '';
  const codes = JSON.stringify(task).match(/"(?:reservation_id|payment_id)":"([^"]+)"/g) ?? [];
  const identifiers = codes.map((code) => code.replace(/^.*:"|"$/g, ''));
  return { task: String(task_id), customer, messages, identifiers: [...new Set([customer, ...identifiers])] };
}
