import { compilePhrases } from './phrase-table.ts';

/** Phrases by which a person takes back what was said before: "the friday rule is gone", "you may use emojis again". */
const TAKES_BACK: readonly RegExp[] = [
  /\b(?:rule|convention|policy|ban|restriction|requirement|freeze)s?(?: \S{1,24}){0,4} (?:is|are|was|were|has been|have been) (?:gone|off|lifted|dropped|over|outdated|obsolete|no longer)\b/,
  /\b(?:no longer|not any ?more|doesn't|does not|don't|do not) (?:appl(?:y|ies)|holds?|valid|counts?|in force)(?:\sany ?more)?\b|\bno longer (?:use|need|have to|want|do|required|necessary)\b/,
  /\bwe(?:'ve| have)? (?:just |now |finally )?(?:dropped|abandoned|retired|ditched|got rid of|moved (?:away )?(?:from|off)|migrated (?:away )?from|switched (?:away )?from|stopped (?:using|doing))\b/,
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

/** "Forget that, I was thinking of another project": what was said just before. */
const TAKES_BACK_LAST =
  /(?:^|[,;–-] )(?:(?:no|ah|ach|oh|ok|okay|sorry|hm+|actually|wait|nein|non|nee|doch nicht|нет)[,.!]* )*(?:(?:please |pls )?(?:forget|ignore|scratch|scrap|disregard) (?:that|this|it|what i (?:just )?said|my last)\b|i take (?:that|it) back\b|strike that\b|vergiss das\b|vergiss es\b|oublie (?:ca|cela)\b|olvida (?:eso|lo)\b|olvidalo\b|esquece (?:isso)?\b|dimentica(?:lo)?\b|vergeet (?:dat|het)\b|zapomnij o tym|забудь|bunu unut)/u;

/** The sentence takes back something that it names. */
export const isRevocation = (folded: string): boolean => TAKES_BACK.some((pattern) => pattern.test(folded));

/** The sentence takes back what was said just before. */
export const isRevocationOfLast = (folded: string): boolean => TAKES_BACK_LAST.test(folded);
