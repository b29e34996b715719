const set = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Words that are praise at the beginning of a message. */
const PRAISE = set(
  'thanks thank thx ty tysm cheers perfect perfectly great awesome excellent amazing brilliant wonderful fantastic lovely nice lgtm beautiful superb neat sweet bravo wow works exactly flawless ' +
    'danke dank dankeschön perfekt super klasse prima toll genau passt wunderbar hervorragend spitze funktioniert ' +
    'gracias perfecto perfecta genial excelente funciona estupendo fantástico exacto ' +
    'merci parfait génial nickel impeccable marche fonctionne excellent exactement',
);
/** Words that are praise only after a pointer to the reply: "that fixed it", but not "fixed header, please". */
const PRAISE_OF_IT = set(
  'fixed worked correct right good solved pass passes passing working done fine helped helpful better läuft richtig correcto bien',
);
const POINTERS = set(
  "that that's this it it's thats yes yep yeah yup all everything now das es ja eso sí si todo c'est ça oui tout is was looks look did des jetzt ist está ya",
);
const FILLERS = set(
  'ok okay k ah oh cool alright jesus omg omfg damn holy dude hey hi hm hmm haha so and very really pretty just much many absolutely totally the tests works well sehr vielen alles also muchas muy très beaucoup mille',
);
const LOOKED_AT = 7;
/** Not praise: a polite end of a request, a verb, a question. */
const NO_PRAISE =
  /\b(?:thanks|thank you) in advance\b|\bim voraus\b|\bde antemano\b|\bd'avance\b|\bgreat question\b|^perfect the\b|^(?:is|was|are|did|does|do)\b/;
const AT_ONCE =
  /^(?:👍|🎉|❤|🙏|💯|✅|good (?:job|work|one|stuff)|well done|love it|spot on|ship it|looks good|all good|solved\W*$|(?:merged|merging|shipped|approved)\b|(?:phew|that|it|this).{0,30}(?:a relief|really helped)|(?:fixed|solved|done)\W{1,3}thank)/u;
const CHINESE =
  /^(?:好的?，?|嗯，?|非常|太)?(?:谢谢|感谢|多谢|完美|太好了|太棒了|好极了|可以了|搞定了?|没问题了|正是|很好|不错)/;

/** Whether a message begins with praise or thanks. */
export function findThanks(words: string): boolean {
  if (NO_PRAISE.test(words)) return false;
  if (CHINESE.test(words) || AT_ONCE.test(words)) return true;
  let pointed = false;
  const tokens = words
    .slice(0, 200)
    .split(/[^\p{L}']+/u)
    .filter((token) => token !== '');
  for (const token of tokens.slice(0, LOOKED_AT)) {
    if (PRAISE.has(token) || (pointed && PRAISE_OF_IT.has(token))) return true;
    if (POINTERS.has(token)) pointed = true;
    else if (!FILLERS.has(token)) return false;
  }
  return false;
}
