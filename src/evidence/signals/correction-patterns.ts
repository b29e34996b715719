/**
 * Phrases that reject the last reply, by language, in lower case. They refer to the reply (that, it, you, still, again)
 * and never to a thing: "the search box doesn't work" may be the next task.
 */
const IT = '(?:that|this|it|which|those|these|they|everything|your (?:\\w{1,20} ){1,2})';
const BROKEN =
  '(?:wrong|incorrect|broken|not (?:right|correct|true|working|it|what|how|quite|good|the)|gone|blank|missing|empty|worse|useless|nonsense|horrible|terrible|awful|ugly|garbage|rubbish|bullshit|stupid|dumb|a mess|a hallucination|made up|too (?:\\w{1,20}))';
const MUCH = '(?:(?:all|still|completely|just|totally|simply|also|clearly|now|again|even|all) ){0,2}';
const FAILS =
  '(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|throws?|threw|hangs?|breaks?|broke|errors?(?: out)?|stopped working)';
const CANNOT = "(?:doesn't|does not|didn't|did not|won't|isn't|is not|wasn't|aren't|don't|can't be)";
const DONE =
  '(?:work(?:ing)?|compile|build|run|help|fix|change (?:anything|a thing)|look (?:right|good|correct)|seem right|right|correct|what i|what we|how (?:it|this)|do anything|make (?:any )?sense|solve|match|exist|true)';

/** Matched at the start of a clause. */
export const CORRECTING_CLAUSES: readonly RegExp[] = [
  new RegExp(`^${IT} ?(?:'s|is|was|'re|are|were) ${MUCH}${BROKEN}\\b`),
  new RegExp(
    `^(?:${IT} |the (?:fix|change|patch|edit|update) )?${MUCH}${CANNOT} (?:even |really |actually |seem to |quite )?${DONE}\\b`,
  ),
  new RegExp(`^(?:${IT}|the (?:build|tests?|script|code|command|fix|change)) ${MUCH}${FAILS}\\b`),
  new RegExp(`^${IT} (?:makes?|made) no sense\\b`),
  /^(?:errors?|fail(?:ed|s|ing)|broken|crash(?:ed|es)|same)(?: again| now)?$/,
  /^(?:undo|revert|roll ?back|redo)(?: (?:please|that|this|it|those|these|everything|all of|your|what you|the (?:last|previous|rest|changes?)(?: \w{1,12})?)\b.{0,60})?$/,
  /^(?:roll|put|change|turn|switch|bring) (?:it|that|this|them|everything) back\b/,
  /^(?:(?:like|as) )?(?:i|we) (?:said(?! (?:hello|hi|to)\b)|told you|already (?:said|told|asked)|(?:only |just |specifically |explicitly |clearly )?asked (?:you )?(?:for|to|about|only|if|why|how)|only asked|meant|didn't ask|did not ask|never asked|did not want|didn't want|don't want)\b/,
  /^i (?:undid|reverted|rolled back|had to (?:undo|revert|fix)) (?:that|this|it|your|the|all)\b/,
  /^are you (?:\w{1,12} )?(?:stupid|dumb|blind|kidding|joking|drunk)\b/,
  /^(?:is|are|it's) still there$|^\w{1,20} (?:is|are) still there$/,
  /^you(?:'re| are) (?:wrong|mistaken|confused|hallucinating|making (?:this|that|it|things) up)\b/,
  /^you(?:'ve| have)? (?:also |just |again |still |even |only |completely )?(?:forgot|missed|broke|deleted|removed|ignored|overwrote|misunderstood|misread|skipped|didn't|did not|haven't|changed the wrong|lost|left out|got (?:it|that|this) wrong|keep|were supposed to|weren't supposed to|should have|shouldn't have|should not have|messed|fucked|screwed|made (?:it|that|this) up|hallucinated|invented)\b/,
  /^why (?:did|would|have|are) you (?:remov|delet|chang|drop|break|ignor|rewrit|rewrot|touch|renam|not\b|revert|overwrit|skip|still|again)/,
  /^why (?:is|are|does|do|did) .{0,60}\bstill\b(?! (?:needed|used|required|there|supported|open))/,
  /^(?:wrong|incorrect|not (?:quite|right|correct|really|exactly|working|it|true|good enough)|bad (?:answer|idea|job)|nonsense|completely off|way off|false)\b/,
  /^(?:that|this)(?:'s| is) not\b(?! (?:a problem|an issue|bad|necessary|needed|urgent|important|required))/,
  /^(?:nothing (?:changed|happens|happened|works)|no (?:change|difference|effect|luck)|(?:it )?(?:had|has) no effect)\b/,
  /^(?:stop\b(?! the| using| at)|don't do (?:that|this|it)|do it (?:again )?properly|start over|try (?:again|harder)$|try again\b|read (?:it|the file|what i) again|not like (?:that|this))/,
  /^(?:i|we)(?:'m| am|'re| are)? (?:now |still )?get(?:ting)? (?:an?|another|this|the following|these|the|lots of|many)\b.{0,40}\b(?:error|exception|failure|warning|crash)/,
  /^getting (?:an?|another|this|the following|these|the)\b.{0,40}\b(?:error|exception|failure)/,
  /^(?:close|almost|nearly|not bad|better)\b/,
  /^(?:this|that|the) (?:\w{1,20} )?(?:function|method|api|file|option|flag|class|module|package|endpoint|field|column|command|link|url|import|library) (?:doesn't|does not|didn't|isn't|is not) (?:even )?(?:exist|there|real)\b/,
  /^there(?:'s| is) no such\b/,
  /^(?:made|makes|making) (?:it|things|this|everything) (?:worse|slower)\b|^it made (?:it|things|everything) (?:worse|slower)\b/,
];

/** A complaint about a named thing: the name is the first group. */
export const COMPLAINT_ABOUT_THING = new RegExp(
  `^(?:the|my|your|our|all|all the|some|some of the) ((?:[\\w-]{1,30} ){1,4}?)(?:(?:is|are|was|were) ${MUCH}${BROKEN}|${MUCH}${FAILS}|${MUCH}${CANNOT} (?:even |really |actually )?${DONE})\\b`,
);

/** A message that begins with what is broken since the reply. */
export const BROKEN_NOW = new RegExp(
  `^(?:(?:ok|okay|great|so|and|but|hm+|ah|nice|well|perfect|awesome),? ){0,2}now (?:i|we|it|the|my|everything|all|there|nothing)\\b.{0,80}\\b(?:get|getting|see|${FAILS}|${BROKEN}|doesn't|can't|won't|overlaps?|another error|an error)\\b`,
);

/** Matched anywhere in a clause that is not a request. */
export const CORRECTING_PHRASES: readonly RegExp[] = [
  /\bstill (?:not|fails?|failing|broken|doesn't|does not|don't|isn't|crash(?:es|ing)?|throws?|the same|wrong|shows?|showing|gets?|getting|see|seeing|red|happens?|happening|errors?|won't|can't|missing|nothing|no(?= |$)|looks?|says?|returns?|have (?:the|this|that|an?) (?:same |error|problem|issue|bug))\b/,
  /\b(?:the |exact(?:ly the)? )?same (?:old )?(?:errors?|problem|issue|bug|failure|exception|mistake)\b/,
  /\bnot (?:at all )?what i (?:asked|wanted|want|meant|said|need|needed|requested|had in mind|was asking)\b/,
  /\bwrong (?:file|one|person|place|branch|order|day|date|time|direction|column|folder|directory|repo|way|version|answer|number|line|language|project|button|page|thing)\b/,
  /\bthanks for nothing\b/,
  /\b(?:gives?|get|got|see|shows?|have|has) (?:me )?(?:\d{1,4}|lots of|a bunch of|tons of) (?:\w{1,20} )?(?:failures?|errors?|failing|exceptions?)\b/,
  /\b(?:broken|fails?|failed|wrong|crashes) again\b/,
  /\b(?:no longer works|stopped working)\b/,
];

/** Other languages, matched anywhere in the message. */
export const CORRECTIONS_IN_OTHER_LANGUAGES: readonly RegExp[] = [
  /^(?:nein|nee|nö)[,.! ]+(?:das|so|nicht|ich|falsch|es)/,
  /(?:das|es|dies) (?:ist|war) (?:leider |immer noch |noch |so |völlig |auch )?(?:falsch|nicht (?:richtig|korrekt|das|was|gut)|kaputt)/,
  /stimmt (?:so |leider |immer noch |noch |auch )?nicht/,
  /^(?:es |das |leider )?(?:geht|klappt|funktioniert|läuft)(?: \S{1,15}){0,4} nicht(?![\p{L}])/u,
  /(?:es|das) (?:geht|klappt|funktioniert|läuft)(?: \S{1,15}){0,4} nicht(?![\p{L}])/u,
  /(?:immer noch|nach wie vor|weiterhin)(?: \S{1,20}){0,5} (?:nicht|fehler|falsch|kein|derselbe|der gleiche)/,
  /(?:^|[,.!] )ich (?:meinte|sagte|habe (?:doch )?gesagt|hatte (?:doch )?gesagt|wollte (?:doch |nur )?(?:nicht|das|den|die))/,
  /(?:mach|mache|nimm) (?:das|es|die änderung)(?: \S{1,12}){0,2} (?:rückgängig|zurück)/,
  /nicht (?:das|so),? (?:was|wie) ich/,
  /du hast (?:\S{1,20} ){0,5}(?:vergessen|gelöscht|übersehen|kaputt|entfernt|ignoriert)/,
  /^(?:falsch|leider falsch|(?:der)?selbe fehler|der gleiche fehler)/,
  /^no[,.! ]+(?:eso|esto|así|es|quería|dije|está|te|lo)/,
  /(?:eso|esto|así) (?:no (?:es|está|funciona|era|sirve)|está (?:mal|incorrecto)|es incorrecto)/,
  /sigue (?:fallando|sin |igual|dando|mal|roto|saliendo)/,
  /(?:^|[,. ])te (?:dije|pedí)/,
  /^(?:pero |todavía |aún )?no (?:funciona|compila|sirve|es lo que|era lo que)/,
  /no (?:es|era) lo que (?:pedí|quería|te pedí|dije)/,
  /(?:deshaz|revierte|deshacer) (?:eso|esto|lo|el cambio|los cambios)/,
  /(?:el )?mismo (?:error|problema|fallo)/,
  /te equivocaste|está mal|olvidaste|borraste/,
  /^non[,.! ]+(?:ce|c'est|ça|pas|je|j'ai|il)/,
  /c'est (?:faux|incorrect|pas (?:ça|bon|ce que|correct)|toujours (?:faux|cassé))|ce n'est pas (?:ça|ce que|correct|bon|juste)/,
  /(?:ça|cela) ne (?:marche|fonctionne|compile)(?: toujours)? pas|(?:ça|cela) (?:marche|fonctionne)(?: toujours)? pas/,
  /toujours (?:pas|la même|le même|une erreur)/,
  /(?:annule|remets|rétablis) (?:ça|cela|tout|le changement|les changements)/,
  /j'ai (?:dit|demandé|bien dit)|je t'ai (?:dit|demandé)/,
  /(?:la )?même erreur|tu as (?:oublié|supprimé|cassé|effacé)/,
  /(?<!对)不对|不正确|错了|还是(?:不|报|错|有问题|一样|没)|仍然(?:不|报|有)|不是(?:这个|这样|我)|我(?:说|要|指)的是|撤销|撤回|改回|没有?(?:用|效果|生效)|不行|同样的(?:错|问题)|重做/,
];
