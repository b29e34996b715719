import { termsOf } from './tokens.ts';

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
  const { words, names } = termsOf(text);
  return names.length === 0 && words.every((word) => CHAT.has(word));
}
