import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { PACKAGE_ROOT } from '../../base/package.ts';
import { readSafetensors } from '../../base/safetensors.ts';
import { searchTerms } from './bm25-index.ts';

/**
 * What people ask that no lesson is about: general knowledge, games, verses. A task that is nearer to these than to any lesson
 * gets no body. General on purpose: a lesson about poems is nearer to a task about a poem than these are.
 */
export const IDLE_REQUESTS: readonly string[] = [
  'what is the capital of a country',
  'who wrote this book',
  'who was the first person to do something',
  'when did this historical event happen',
  'how tall, far, big or old is something',
  'what does this word mean',
  'where does this word come from',
  'how do you say this in another language',
  'translate this sentence',
  'tell me a joke',
  'write a poem',
  'write a short story',
  'write song lyrics',
  'give me a riddle',
  'recommend a book or a film',
  'explain how this thing in nature works',
  'explain a scientific concept to a child',
  'why do animals do this',
  'what is the difference between two everyday things',
  'solve this equation',
  'calculate this sum',
  'convert these units',
  'what are the rules of this game',
  "let's play a game",
  'give me a list of facts about a topic',
  'name five things of this kind',
  'summarise the plot of a story',
  'invent a name for a pet',
  'write a birthday greeting',
  'what should I wear',
  'who won the match',
  'how is this food made',
  'what is the best strategy in a game',
  'implement a classic algorithm in an unusual language',
  'write a small program that prints a pattern',
  'draw a picture with characters',
  'tell me about the history of an object',
  'what do people celebrate on this day',
  'give me a quote about a virtue',
  'compare two philosophies',
  'was ist die Hauptstadt dieses Landes',
  'erzähl mir etwas Lustiges',
  'schreib ein Gedicht',
  'wer hat das erfunden',
  'quelle est la capitale de ce pays',
  'raconte-moi une histoire',
  'pourquoi la mer est-elle salée',
  'cuál es la capital de este país',
  'escribe un poema',
  'quién inventó esto',
  'qual è la capitale di questo paese',
  'qual é a capital deste país',
  '这个国家的首都是哪里',
  '讲个笑话',
];

/** Of `IDLE_REQUESTS`, as the file of their vectors has it. */
export const idleRequestsHash = (): string => hash('sha1', JSON.stringify(IDLE_REQUESTS), 'hex');

/**
 * The vectors of `IDLE_REQUESTS` that ship with the package (made by lab/static/idle-vectors.ts), so that no home computes them.
 * Undefined for other sentences than the file's, and for another model than the one that made it.
 */
export async function readIdleVectors(modelId: string): Promise<readonly Float32Array[] | undefined> {
  const bytes = await readFile(new URL('models/static/idle-requests.safetensors', PACKAGE_ROOT));
  const { tensors, metadata } = readSafetensors(bytes);
  if (metadata.model !== modelId || metadata.requests !== idleRequestsHash()) return undefined;
  const { values } = tensors.get('vectors') ?? { values: new Float32Array() };
  const size = values.length / IDLE_REQUESTS.length;
  return IDLE_REQUESTS.map((_, row) => values.subarray(row * size, (row + 1) * size));
}

/** Stems of words that carry on a conversation. */
const CHAT: ReadonlySet<string> = new Set(
  `hello hi hey hiya yo greet morn afternoon even night bye goodbye thank thanks thx ty cheer great good nice cool
  awesome perfect excellent amaz lovely fine ok okay okey k yep yup yeah yea nope nah sure right correct agree exactly
  continue continu proceed next again more ahead wait stop cancel sorry welcome lol haha hmm oh ah wow start begin test
  try back today tomorrow help question ask tell chat talk say feel doe bot assistant ai claude gpt friend everyone
  there look work sound happy day week weekend time minute second moment bit little anything nothing everything`.split(
    /\s+/,
  ),
);

/** Whether a message contains nothing that a lesson could be about. */
export function isSmallTalk(text: string): boolean {
  const { words, names } = searchTerms(text);
  return names.length === 0 && words.every((word) => CHAT.has(word));
}

/** In a longer message the first words do not tell the kind of request. */
const MOST_CHARACTERS = 240;
const TELL =
  /^\W*(?:(?:please|pls|can you|could you|hey|hi|ok)\W+){0,3}(?:explain|compare|define|recommend|brainstorm)\b/i;
const TELL_ANYWHERE =
  /\b(?:difference between|vs|versus|poem|haiku|limerick|joke|riddle|lyrics|in simple (?:words|terms)|pros and cons|your opinion|short answer|explain(?:ed)? to (?:a|an|my|our|me|the))\b/i;
const LOOK_UP =
  /^\W*(?:what|whats|which|who|how (?:many|much|long|big|do i|do you)|is there|are there|list|show|name)\b/i;

/**
 * A penalty for questions and chat, subtracted from the evidence: lessons are about doing work, and a request for an
 * explanation, a joke or a fact mentions the same things.
 */
export function chatPenalty(text: string): number {
  if (text.length > MOST_CHARACTERS) return 0;
  if (TELL.test(text) || TELL_ANYWHERE.test(text)) return 3;
  return LOOK_UP.test(text) ? 1 : 0;
}
