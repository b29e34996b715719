import { compilePhrases } from './phrase-table.ts';

/** Phrases by which a person takes back what was said before: "the friday rule is gone", "you may use emojis again". */
const TAKES_BACK: readonly RegExp[] = [
  /\b(?:rule|convention|policy|ban|restriction|requirement|freeze)s?(?: \S{1,24}){0,4} (?:is|are|was|were|has been|have been) (?:gone|off|lifted|dropped|over|outdated|obsolete|no longer)\b/,
  /\b(?:no longer|not any ?more|doesn't|does not|don't|do not) (?:appl(?:y|ies)|holds?|valid|counts?|in force)(?:\sany ?more)?\b|\bno longer (?:use|need|have to|want|do|required|necessary)\b/,
  /\bwe(?:'ve| have)? (?:just |now |finally )?(?:dropped|abandoned|retired|ditched|got rid of|(?:moved|migrated|switched) (?:away from|off|from (?!.{2,40} to\b))|stopped (?:using|doing))\b/,
  /\b(?:i |we |the team )(?:have |'ve )?changed (?:my|our|its|their) minds? (?:on|about)\b|\b(?:no more|instead of the) \S{2,30}(?: \S{2,30})?(?:\sany ?more)?[.!,]?$|\b(?:from now on|the team voted|as of (?:today|now|this week))\b.{0,60}\b(?:no more|not|instead of|no) \S{2,30}/,
  /\b(?:you|we) (?:may|can|are allowed to) (?:now )?(?:\S+ ){1,8}again\b|\bis (?:allowed|fine|ok|okay) again\b/,
  /\b(?:forget|ignore|scrap|disregard) (?:the|that|my) (?:\S+ ){0,4}(?:rule|convention|instruction|advice|thing)s?\b/,
  compilePhrases(`
    (gilt|gelten) nicht mehr|(regel|vorgabe) ist (weg|aufgehoben|hinfällig)|(darfst|dürfen|kannst) wieder|(benutzen|nutzen|verwenden|brauchen) wir nicht mehr
    ne s'applique(nt)? plus|n'est plus (valable|en vigueur)|on n'utilise plus|tu peux de nouveau|(règle|consigne) est (levée|annulée)
    ya no (aplica|vale|usamos|hace falta)|(regla|norma) ya no|puedes volver a|hemos dejado de
    não (vale|usamos) mais|(regra) não vale mais|pode voltar a|deixamos de usar
    non vale più|non usiamo più|(regola) non vale|puoi di nuovo
    geldt niet meer|gebruiken we niet meer|je mag weer
    już nie (obowiązuje|używamy)|znowu możesz
    больше не (действует|используем|нужно|актуально)|правило отменено|снова можно
    artık (geçerli değil|kullanmıyoruz)
  `),
  /(?:不再(?:用|使用|需要|适用)|(?:规则|规定)(?:取消|作废)|もう(?:使わない|使っていません|適用されない|不要)|더 이상 (?:안 쓰|사용하지|적용))/u,
];

/** A sentence that names what is over, in a group, and what takes its place. */
const REPLACES: readonly RegExp[] = [
  /\b(?:we|the team|everyone)(?:'ve| have| has|'re| are)?(?: just| now| all| finally)? (?:(?:mov|switch|migrat)(?:ed|ing) from (.{2,40}?) (?:over )?to|(?:replaced|swapped|traded) (.{2,40}?) (?:with|for|by)|used to (?:use |do |have |write |be on |run )?(.{2,40}?)(?:,| but) (?:but )?now) .{2,40}/,
  /(?:^|, |: )(.{2,40}?) (?:was|were|is|are|has been|have been|got) (?:now )?(?:replaced (?:by|with)|(?:dropped|retired|abandoned) in favou?r of) .{2,40}/,
  /(?:^|, |: )(.{2,30}?) (?:was|were|is|are) (?:so )?(?:last (?:year|month|week|season)|the old (?:way|rule|style|standard))(?:,|\.| but| -| –) (?:but )?(?:it's |we use |use )?(?:now |today )(?!we (?!use)|i\b|you\b|let|the\b|can\b|please)(?:it's |we use |use |only )?[^ ]+(?: [^ ]+){0,2}$/,
  compilePhrases(`
    (?:sind|haben)(?: jetzt| inzwischen)? von (.{2,40}?) (?:auf|zu) .{2,40} (?:umgestiegen|gewechselt|umgestellt)|(.{2,30}?) (?:ist|sind) (?:ab (?:jetzt|heute|sofort) )?(?:raus|abgeschafft|abgelöst|eingefroren)|(.{2,30}?) war gestern, (?:jetzt|heute|ab)|statt (.{2,30}?) (?:nehmen|nutzen|benutzen|verwenden|haben) wir (?:jetzt|nun|ab)|(?:nehmen|nutzen|benutzen|verwenden|brauchen) wir (?:jetzt )?keine?n? (.{2,30}?) mehr|wir (?:nehmen|nutzen|benutzen|verwenden) (?:jetzt )?keine?n? (.{2,30}?) mehr
    (?:on est|nous sommes|on a) passes? de (.{2,40}?) a .{2,40}|(.{2,30}?),? c'est fini, (?:maintenant|on)|on a (?:remplace|abandonne) (.{2,30}?) (?:par|pour) .{2,30}
    (?:pasamos|hemos pasado|cambiamos|hemos cambiado|migramos) de (.{2,40}?) a .{2,40}|(.{2,30}?) ya no, ahora .{2,30}
    (?:mudamos|passamos|migramos) de (.{2,40}?) (?:para|pra) .{2,40}|trocamos (.{2,30}?) por .{2,30}
    siamo passati da (.{2,40}?) a .{2,40}|abbiamo sostituito (.{2,30}?) con .{2,30}
    (?:zijn )?overgestapt van (.{2,40}?) naar .{2,40}
    (?:przeszlismy|przechodzimy) z (.{2,40}?) na .{2,40}
    (?:перешли|переходим|переехали) с (.{2,40}?) на .{2,40}|вместо (.{2,30}?) теперь .{2,30}
    (.{2,30}?) yerine artik .{2,30}
  `),
  /从(.{1,20}?)(?:换成|改成|改用|迁移到|切换到).{1,20}|(.{1,20}?)から.{1,20}に(?:移行|変更|切り替え|乗り換え)(?:した|しまし|てい)|(\S{1,20}?)에서 \S{1,20}?로 (?:바꿨|바꾸|옮겼|전환|갈아)/u,
];

/** "Tabs are out": only where the message also says what holds from now on. "Out of sync" is something else. */
const OVER =
  /(?:^|[,;:–-] |\b(?:and|but|so) )((?:[\p{L}\p{N}'._/-]{1,30} ){1,4}?)(?:is|are|was|were) (?:now |officially |finally |all )?(?:out|over|gone|dead|history|dropped|retired|banned|off the table|deprecated|obsolete)(?=$|[,.;:!)]| (?:from|as of|since|now|today|for good|here)\b)/u;
const HOLDS_NOW =
  /\b(?:from (?:now|today|here|tomorrow|\w{3,6}day|this \w+|next \w+)(?: on)?\b|(?:as of|starting|effective|since) (?:now|today|tomorrow|\w{3,6}day|this|next|last)\b|going forward|(?:we|the team|they)(?:'ve| have| has)? (?:decided|voted|agreed|chose|settled)|(?:it's|we're|we are|use|take) [^ ]+(?: [^ ]+)? (?:now|instead)\b|now (?:it's|we use|use|only)\b|the new (?:rule|standard|default|way|convention)\b)/;

/** The parts of a folded text that name something that is over and was replaced. */
export function findReplaced(folded: string): readonly string[] {
  const replaced = REPLACES.flatMap((pattern) => pattern.exec(folded)?.slice(1) ?? []);
  const over = HOLDS_NOW.test(folded) ? (OVER.exec(folded)?.slice(1) ?? []) : [];
  return [...replaced, ...over].filter((part) => part !== undefined && part.trim() !== '');
}

/** "Forget that, I was thinking of another project": what was said just before. */
const TAKES_BACK_LAST =
  /(?:^|[,;–-] )(?:(?:no|ah|ach|oh|ok|okay|sorry|hm+|actually|wait|nein|non|nee|doch nicht|нет)[,.!]* )*(?:(?:please |pls )?(?:forget|ignore|scratch|scrap|disregard) (?:that|this|it|what i (?:just )?said|my last)\b|i take (?:that|it) back\b|strike that\b|vergiss das\b|vergiss es\b|oublie (?:ca|cela)\b|olvida (?:eso|lo)\b|olvidalo\b|esquece (?:isso)?\b|dimentica(?:lo)?\b|vergeet (?:dat|het)\b|zapomnij o tym|забудь|bunu unut)/u;

/** "Forget what I said about the tabs", whenever it was said; the group names it. */
const FORGET_ALL_ABOUT: readonly RegExp[] = [
  /(?:^|[,;:–-] )(?:(?:please|pls|ok|okay|no|and|so|actually|sorry|just|now|you (?:can|may))[,.!]* )*(?:forget|ignore|disregard|scrap) (?:what|whatever|everything|all|anything) (?:that )?(?:i|we)(?:'ve| have| had|'d)?(?: just| ever| once)? (?:said|told you|wrote|asked(?: for)?|taught you)(?: you)?(?: \S{1,12}){0,2}? (?:about|on|regarding|concerning) (.{2,60}?)[.!]?$/,
  compilePhrases(`
    vergiss(?: bitte)?,? (?:alles,? )?was ich(?: dir)? (?:uber|zu|zum|zur|von|wegen) (.{2,60}?) (?:gesagt|erzahlt|geschrieben)(?: habe?)?
    oublie(?:z)? (?:tout )?ce que (?:j'ai|je t'ai|je vous ai) dit (?:sur|de|au sujet de|a propos de) (.{2,60}?)[.!]?$
    olvida(?:te de)? (?:todo )?lo que (?:te )?(?:dije|he dicho) (?:sobre|de|acerca de) (.{2,60}?)[.!]?$
  `),
];

/** What a folded sentence asks to forget all earlier words about. */
export const findForgotten = (folded: string): readonly string[] =>
  FORGET_ALL_ABOUT.flatMap((pattern) => pattern.exec(folded)?.slice(1) ?? []).filter(
    (part) => part !== undefined && part.trim() !== '',
  );

/** The sentence takes back something that it names. */
export const isRevocation = (folded: string): boolean =>
  TAKES_BACK.some((pattern) => pattern.test(folded)) ||
  findReplaced(folded).length > 0 ||
  findForgotten(folded).length > 0;

/** It takes back a rule that it names as such: "the friday rule is gone". */
export const isRuleOver = (folded: string): boolean => TAKES_BACK.some((pattern) => pattern.test(folded));

/** The sentence takes back what was said just before. */
export const isRevocationOfLast = (folded: string): boolean => TAKES_BACK_LAST.test(folded);
