/*
 * How people say in plain sentences what holds: in English, and the basics of German, French and Spanish. All patterns read folded
 * text: lower case, without accents, quotations and code.
 */

/** What a sentence begins with before it says something. */
export const OPENERS =
  /^(?:(?:and|but|so|also|ok|okay|actually|hey|hi|btw|by the way|fyi|argh(?: no)?|ah|oh|hm+|nope|nah|ubrigens|au fait|por cierto)\b[,:.!]* |(?:no|well|right|correction|update|sorry|non|nein|not quite|wrong|change of plans?|new rule|one more thing|quick note|for the record|final|(?:ok )?final|nebenbei|my mistake|reminder)[,:.!]+ )+/;

/** Somebody who names himself: "Tom here:", "Lena (ops):". */
export const SPEAKER = /^[\p{L}][\p{L}'-]{1,20}(?: here| \([^()\n]{1,20}\)):\s+/u;

/** Kept although it is of the moment: only what it adds at its end is. */
export const ASIDE =
  /[,;–-] ?(?:i was wrong|my (?:mistake|bad|fault)|sorry|remember (?:that|this)|use (?:that|it)(?: one)?|i misspoke|i said it wrong|as (?:i|we) said|please|pls|thanks?)[.!]*$/;

/** Asks to forget something; the group names it. */
export const FORGETS: readonly RegExp[] = [
  /(?:^|[,;:.!–-] |\b(?:please|pls|and|so|ok|can|may|no) )(?:forget|disregard|scratch|scrap|unlearn)(?! (?:to|it all)\b)(?: about)?(?: (?:everything|anything|all|what(?:ever)?)(?: (?:that )?(?:i|we) (?:ever )?(?:said|told you|wrote|asked|taught you))?(?: you)?(?: about| on| regarding)?)? ?((?:the |that |my |our |those |these )?(?:rule |thing |part |bit |convention |stuff )?(?:about |with |on |for )?.{2,60}?)(?=[,.;!]|$| any ?more\b| from now on\b)/u,
  /(?:^|[,;:.!–-] )(?:please |pls )?ignore (?:what|everything|all|whatever) (?:i|we) (?:said|told you|wrote|asked)(?: you)? (?:about|on|regarding) (.{2,60}?)(?=[,.;!]|$)/,
  /^(?:ok,? |so,? )?(?:the|that|my|our) ((?:\S+ ){1,4}?)(?:rule|convention|policy|thing|ban|requirement|habit) (?:is|was|has been) (?:gone|off|cancelled|canceled|lifted|dropped|over|obsolete|outdated|no longer (?:valid|needed|true)|history)\b/,
  /^(?:ok,? |so,? )?(?:the|that|my|our) ((?:\S+ ){1,4}?)(?:rule|convention|policy|thing|ban|requirement|habit) (?:no longer|doesn't|does not) (?:appl|hold|count)\w*\b/,
  /(?:^|[,;:.!–-] |\bbitte )vergiss(?! nie\b| nicht\b| bitte nicht\b)(?: bitte)?,? (?:alles,? )?(?:was ich (?:dir )?(?:uber|zu|zum|zur|von) )?((?:die |das |den )?(?:regel |sache )?(?:mit |uber )?.{2,60}?)(?: gesagt(?: habe?)?)?(?=[,.;!]|$)/,
  /(?:^|[,;:.!–-] )(?:s'il te plait,? )?oublie(?:z)?(?! pas\b)(?: tout)? ?(?:ce que j'ai dit (?:sur|de|a propos de) |l'histoire (?:de|avec) )?(.{2,60}?)(?=[,.;!]|$)/,
  /(?:^|[,;:.!–-] )(?:por favor,? )?olvida(?:te)?(?: de)?(?: todo)? ?(?:lo (?:que (?:te )?(?:dije|he dicho) (?:sobre|de) |de )|la regla (?:de|sobre) )?(.{2,60}?)(?=[,.;!]|$)/,
];
/** It is said of what was told, and not of the task. */
export const OF_WORDS =
  /\b(?:what(?:ever)? (?:i|we) (?:said|told|wrote|asked)|everything|rule|thing|convention|told you|regel|sache|ce que j'ai dit|regla|lo que|lo de|gone|cancelled|any ?more|remember(?:ed)?)\b/;
/** A task in which something is left out for once. */
export const LEAVES_OUT = /[,;] ?(?:just|only|do|let's|focus|first|go|start|continue)\b|\bfor now\b/;
