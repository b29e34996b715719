/**
 * English phrases that reject the last reply, in lower case. They refer to the reply (that, it, you, still, again)
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
  /^(?:undo|revert|roll ?back|redo)(?: (?:please|that|this|it|those|these|everything|all of|your|what you|the (?:last|previous|rest|changes?|renames?|edits?|refactor\w*)(?: \w{1,12})?)\b.{0,60})?$/,
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
  /^(?:way |far |much |a bit |a little |still |slightly )?too (?!bad\b|many thanks)[a-z]{2,16}\b/,
  /^(?:meh|ugh+|yikes|eww+|nit:|nitpick:|not even close|what the (?:hell|fuck|heck))(?:\W|$)/,
  /^(?:who (?:told|asked) you to|did (?:i|we) (?:ask|tell) you|did you even|have you even|do you even)\b/,
  /^i (?:(?:really |just )?don't (?:like|think you)|hate|wanted|needed|wouldn't (?:say|do|write|use|call)|had to (?:undo|revert|fix|redo)|reverted|undid)\b/,
  /^i(?:'ve| have) (?:discarded|reverted|undone|thrown away|rolled back)\b/,
  /^i (?:only |just )?(?:get|got|see) (?:an? )?(?:[A-Z]{4,}\w*|e[a-z]{5,}|\d{3}\b|"|nothing|errors?|null|nan|undefined)/,
  /^(?:that|this|it|which) (?:just )?(?:gives|gave|throws|shows|says|prints|returns|links|points) (?:me )?(?:an? |the )?(?:nan|null|undefined|nothing|errors?|wrong|blank|empty|permission denied|command not found|missing|\d{3}\b|old|same)\b/,
  /^that gives me\b/,
  /^you (?:should|shouldn't|must|mustn't|need to|have to) (?!be able|see|find|know|get|now|have\b(?! (?:to|used|done))|think|consider)(?:really |first |always |not )?\w/,
  /^(?:👎|😡|😤|🤦)/u,
  /^you said\b.{0,80}\bbut\b|^we(?:'ve)? (?:already |just )(?:discussed|talked about|agreed on|went over|decided)\b/,
  /^doesn't (?:seem|look|feel|sound) (?:right|good|correct)\b|^why did i have to\b/,
  /^(?:we|i) don't (?:actually |really )?(?:need|want) (?:the|this|that|these|those|it|an?|any|to)\b/,
  /^(?!when|if|whenever|after)[^ ]{1,40}(?: [^ ]{1,24}){0,5} should (?:say|read|match)\b/,
  /^(?:it|that|this|they) should(?:n't| not)? (?:be|have been)\b(?! (?:able|possible|good|fine|enough|easy|ok))/,
  /^(?:much |a bit |a little |way )?(?:simpler|shorter|slower|less|fewer|smaller|briefer|plainer)\b(?! than)/,
  /^instead of [^ ]{2,40}.{0,20} (?:use|name|call|write|put|make|do)\b/,
  /^[\w.%-]{1,20} is (?:huge|tiny|enormous|way off)$/,
  /^you got (?:the |that |this |it |my )?[\w -]{0,40}\bwrong\b|^we(?:'re| are) going (?:in|around in) circles\b/,
  /^i(?:'m| am) (?:still |now )?(?:getting|seeing) (?:"|an? |the )/,
  /^(?:that|this|it)(?:'s| is) (?:very |really |so )?(?:confusing|annoying|frustrating|overkill|overengineered|unreadable|unnecessary|not needed)\b/,
  /^(?:the )?(?:only |one |main )?(?:issue|problem|bug) (?:is|now is)\b/,
  /^it shouldn't be\b|^there should (?:only |just )?be (?:just |only |exactly )?one\b/,
  /^(?:that|this|it) (?:seems|looks|sounds|feels) (?:wrong|off|odd|weird|incorrect|broken|bad)\b/,
  /^the (?:other|left|right) [\w-]{2,20}\W*$/,
  /^(?:i|we) need(?:ed)? the [\w-]{2,20} ones?\b/,
  /^(?:that|this|it)(?:'s| is| was) (?:the )?(?:old|wrong|other|previous) \w/,
  /^(?:bring|put|get|give) (?:the |my |those |them |it |that |these )?(?:\w{1,20} )?back\b|^restore (?:the|my|it|that|them|those|everything|[\w.-]{1,40}\/)/,
  /^there (?:are|is|'s) still\b|^still (?:\d|an?|some|there|the|no|off|wrong)\b/,
  /\bwould have been (?:enough|better|fine)\b|\bshould have been\b/,
  /^(?:you|u) (?!(?:fixed|solved|nailed|helped|saved|mentioned|suggested|proposed|asked|recommended|showed|listed|called|need|explained|described|used to|indeed|rocked)\b)(?:also |just |even |only |again |still |already |then |now )*(?:[a-z]{2,12}ed|put|wrote|made up|did (?:nothing|it again|not|that)|forgot|left|broke|took|went|ran|set|cut|keep \w+ing|used)\b(?! my day| sense| it work)/,
  /^why (?:did|would|have|are|do) you (?:install|add|creat|push|commit|put|start|edit|modif|us(?:e|ing) (?:npm|the wrong)|back|keep)/,
  /^why is (?:it|this|that) (?!so\b|called|needed|used|important|necessary|there\b|done)\w{2,12}\W*$/,
  /^(?:syntax|type|reference|value|key|runtime|import|name|parse|compile|build)? ?error(?:s)?\b.{0,40}$/,
  /^(?:made|makes|making) (?:it|things|this|everything) (?:worse|slower)\b|^it made (?:it|things|everything) (?:worse|slower)\b/,
];

/** A complaint about a named thing: the name is the first group. */
export const COMPLAINT_ABOUT_THING = new RegExp(
  `^(?:the|my|your|our|all|all the|some|some of the) ((?:[\\w-]{1,30} ){1,4}?)(?:(?:is|are|was|were) ${MUCH}${BROKEN}|${MUCH}${FAILS}|${MUCH}${CANNOT} (?:even |really |actually )?${DONE})\\b`,
);

/** A message that begins with what is broken since the reply. */
export const BROKEN_NOW = new RegExp(
  `^(?:(?:ok|okay|great|so|and|but|hm+|ah|nice|well|perfect|awesome),? ){0,2}now (?!it's time)(?:i|we|it|the|my|everything|all|there|nothing)\\b(?:.{0,20}\\b(?:get|getting|see) (?!this (?!error)[a-z]|that|it|them|rid|started|going)|.{0,80}\\b(?:${FAILS}|${BROKEN}|doesn't|can't|won't|overlaps?|another error|an error)\\b)`,
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
  /\bdoes(?:n't| not) (?:even )?exist\b/,
  /\b(?:is|are) (?:not|n't) (?:an? )?(?:fix|solution|flaky|what|how)\b|\b(?:is|are) (?:wrong|missing|gone|invented|made up|deprecated|a mess|full of (?:mistakes|errors|bugs)|off by|useless|backwards|upside down|swapped|twice|duplicated|cut off|misaligned)\b/,
  /\b(?:is|are|looks?|sounds?|feels?) (?:still )?(?:way |far |much |a bit |a little )?(?:too (?!\w+ to\b)\w{2,16}|worse)\b/,
  /\bi (?:meant|only asked|just asked|asked (?:why|for|you|how|about)|told you|said (?!hello|hi\b|to\b)|keep (?:saying|telling))/,
  /\b(?:it|that|this) (?:only|just) (?:works|worked|tests?|covers?|shows?|handles?)\b/,
  /\bpasses even (?:if|when|without)\b|\bdidn't (?:mention|include|test|handle|check|read|update|change)\b/,
  /\bhow (?:often|many times) do i\b|\bnow (?:nothing|everything|the|my|there(?:'s| is| are))\b.{0,40}\b(?:gone|broken|anymore|again|missing|fails?|swapped)\b/,
];
