const set = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Words that are praise at the beginning of a message, folded. */
const PRAISE = set(
  `thanks thank thx ty tysm cheers perfect perfectly great awesome excellent amazing brilliant wonderful fantastic lovely nice nicely
  lgtm beautiful superb neat sweet bravo wow works exactly flawless
  danke dank dankeschon perfekt super klasse prima toll genau passt wunderbar hervorragend spitze funktioniert lauft
  gracias perfecto perfecta genial excelente funciona estupendo fantastico exacto
  merci parfait genial nickel impeccable marche fonctionne excellent exactement
  obrigado obrigada valeu perfeito otimo maravilha grazie perfetto ottimo fantastico bedankt dankjewel top geweldig
  dzieki dziekuje swietnie super idealnie спасибо отлично супер прекрасно класс идеально благодарю
  tesekkurler tesekkur sagol harika mukemmel eline dhanyavaad dhanyavad shukriya badhiya धन्यवाद शुक्रिया बढ़िया`,
);
/** Praise only after a pointer to the reply: "that fixed it", but not "fixed header, please". */
const PRAISE_OF_IT = set(
  `fixed worked correct right good solved pass passes passing working done fine helped helpful better nicer green running clear sense
  lauft richtig correcto bien`,
);
const POINTERS = set(
  `that that's this it it's thats yes yep yeah yup all everything now build das es ja eso si todo c'est ca oui tout is was looks look did
  makes des jetzt ist esta ya ficou bahut`,
);
const FILLERS = set(
  `ok okay k ah ahh oh cool alright jesus omg omfg damn holy dude hey hi hm hmm haha so and very really pretty just much many absolutely
  totally the tests works well sehr vielen alles also muchas muy tres beaucoup mille yesss yess clear sooo great`,
);
const LOOKED_AT = 7;
/** Not praise: a polite end of a request, a verb, a question. */
const NO_PRAISE =
  /\b(?:thanks|thank you) in advance\b|\bim voraus\b|\bde antemano\b|\bd'avance\b|\bgreat question\b|^perfect the\b|^(?:is|was|are|did|does|do)\b|^(?:thanks|thank you) for nothing/;
const AT_ONCE =
  /^(?:👍|🎉|❤|🙏|💯|✅|good (?:job|work|one|stuff|plan|catch|call|idea|point)|good[.!]|solid (?:work|job)|well done|love (?:it|this)|you(?:'re| are) (?:the best|a (?:star|genius|lifesaver))|you rock|spot on|ship it|looks good|all (?:good|green)|much (?:nicer|better|cleaner)|super helpful|solved\W*$|(?:merged|merging|shipped|approved)\b|(?:phew|that|it|this).{0,30}(?:a relief|really helped|did the trick)|(?:fixed|solved|done)\W{1,3}thank|just what (?:i|we) (?:needed|wanted)|(?:yes|yep|yeah|yup),? (?:that's|thats) it\b|.{0,30}\bthanks for \w{3,20}ing\W*$)/u;
const EAST_ASIAN =
  /^(?:好的?，?|嗯，?|非常|太)?(?:谢谢|感谢|多谢|完美|太好了|太棒了|好极了|可以了|搞定了?|没问题了|正是|很好|不错|辛苦了)|^(?:.{0,6})(?:ありがとう|助かり|完璧|素晴らしい|いいですね|바로 그거|감사|고마워|완벽|좋아요|훌륭)/u;
/** "merged, thx" */
const THANKS_AT_END =
  /(?:^|[,.!;:)–-] ?|\bnow |\bso much )(?:thanks|thank you|thx|tysm|ty|cheers|danke|merci|gracias|obrigad[oa]|grazie|bedankt|dzieki|спасибо|tesekkurler|dhanyavaad)(?: (?:a lot|so much|again|mate|man|you|dir|beaucoup|mille|muito|bro))*(?:[.! 🙏🎉👍❤]|\uFE0F)*$/u;
const REQUEST =
  /^(?:please|pls|can|could|would|will|let|add|make|write|show|tell|find|explain|check|what|which|who|where|when|how|give|create|run|translate|now|next|also|then|and|update|change|use|fix|remove|rename|open|put|set|move|build|send|book|if)\b/;

/** Whether a message (folded) begins or ends with praise or thanks. */
export function findThanks(words: string): boolean {
  if (NO_PRAISE.test(words)) return false;
  if (EAST_ASIAN.test(words) || AT_ONCE.test(words)) return true;
  let pointed = false;
  const tokens = words
    .slice(0, 200)
    .split(/[^\p{L}\p{M}']+/u)
    .filter((token) => token !== '');
  for (const token of tokens.slice(0, LOOKED_AT)) {
    if (PRAISE.has(token) || (pointed && PRAISE_OF_IT.has(token))) return true;
    if (POINTERS.has(token)) pointed = true;
    else if (!FILLERS.has(token)) break;
  }
  return words.length < 160 && !REQUEST.test(words) && THANKS_AT_END.test(words);
}

/** The user asks whether the reply is right. */
export const DOUBT =
  /\bare you (?:really |absolutely |100% )?(?:sure|certain)\b|(?:^|\s)(?:wtf|w\.t\.f)\b|^(?:hm+,? )?(?:wasn't|isn't|aren't|weren't|shouldn't|didn't|doesn't) (?:it|that|this|they|you)\b|^(?:hm+,? |but )?(?:is|was|were|are) (?:that|this|they|it) really\b|^really\?|\bsind sie sicher\b|\bbist du (?:dir )?sicher\b|estas seguro|tem certeza|sei sicuro|weet je zeker|(?:tu es|es-tu|t'es) sur\b|ты уверен|jestes pewien|emin misin|你确定|确定吗|本当に(?:大丈夫|正しい)|확실(?:해|한가)|pakka\?/u;

/** A part of the outside world that the user says is out of order: the agent did nothing wrong. */
