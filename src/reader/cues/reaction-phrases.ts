import { compilePhrases } from './phrase-table.ts';

/**
 * Phrases with which a person rejects the last answer, by language. English has clauses of its own in
 * `correction-patterns`. Written as people write them; accents are folded on both sides.
 */
const GERMAN = compilePhrases(`
  (das|es|dies|so|format) (ist|war|stimmt)… (falsch|kaputt|nicht|unsinn|quatsch)
  stimmt… nicht|falsch(er?|es|en)?|(der)?selbe fehler|der gleiche fehler|keine lösung
  (geht|klappt|funktioniert|läuft|baut|passt|tut)… nicht(?! nur)
  (immer noch|nach wie vor|weiterhin)… (nicht|fehler|falsch|kein|derselbe|der gleiche|kaputt|verschoben)
  ich (meinte|sagte|hab(e)?( dir)?( doch| schon)* gesagt|hatte( doch)? gesagt|wollte( doch| nur)? (nicht|das|den|die|nur))
  (das|so) (habe|hab|hatte) ich nicht (gemeint|gesagt|gewollt)|nicht (das|so),? (was|wie) ich
  (mach|mache|nimm) (das|es|die änderung|alles)… (rückgängig|zurück)
  du hast… (vergessen|gelöscht|übersehen|kaputt|kaputtgemacht|entfernt|ignoriert|überschrieben|verändert|erfunden)
  (warum|wieso|wozu) (hast|machst|nimmst|löschst) du
  (ist|sind) (jetzt|nun|auf einmal)… (weg|kaputt|leer)|jetzt (ist|sind|sieht|geht|fehlt)… (weg|kaputt|leer|nichts|gar)
  fehlt|fehlen|(viel )?zu (lang|kurz|groß|klein|förmlich|locker|kompliziert|technisch|steif)
  na toll|klingt (hölzern|komisch|steif|seltsam)|schon wieder|so nicht|was soll das
`);
const FRENCH = compilePhrases(`
  c'est (faux|incorrect|pas (ça|bon|ce que|correct|le bon)|toujours|mal|cassé|nul)
  (ce n'est|c'est|ce sont)( toujours)? pas|ça ne (marche|fonctionne|compile|change|va)… (pas|rien)
  (ça|cela) (marche|fonctionne|change|compile)( toujours)? (pas|rien)|toujours (pas|la même|le même|une erreur|décalé|cassé)
  (annule|remets|rétablis) (ça|cela|tout|le changement|les changements)|j'ai (bien )?(dit|demandé)|je (te|t'ai|vous ai)( déjà)?( bien)? (dit|demandé|répète)
  je (ne )?voulais (pas|juste|seulement)|même erreur|tu m'as déjà|tu (l')?(as|t'es)( encore| tout)? (oublié|supprimé|cassé|effacé|changé|inventé|trompé)
  pourquoi (as-tu|tu as|t'as|avoir)|(trop|pas assez) (long|court|familier|formel|grand|petit|compliqué)|il manque|mauvais (endroit|fichier|format|bouton)
  n'existe pas|pas (ce|celui|celle)( [^ ]+)?,|encore (une fois )?(npm|la même|pareil)
`);
const SPANISH = compilePhrases(`
  (eso|esto|así|formato|esta|está)… (mal|incorrecto|equivocado)|(eso|esto|así) no (es|está|funciona|era|sirve|va)
  sigue (fallando|sin|igual|dando|mal|roto|saliendo|descentrado|desalineado|[^ ]+ando|[^ ]+iendo)|(ya )?te (dije|pedí|he dicho)
  no (funciona|compila|sirve|cambia|era|es lo que|es eso|es el|es la)|(solo|sólo) te pedí|no te pedí
  (deshaz|revierte|deshacer|vuelve a poner) (eso|esto|lo|el|los)|mismo (error|problema|fallo)
  te equivocaste|olvidaste|te olvidaste|borraste|te faltó|falta(n)?|rompiste|te (has )?equivoca(do|ste)
  por qué (has|borraste|cambiaste|quitaste|hiciste|usaste|instalaste)|demasiado (largo|corto|formal|grande|pequeño)|otra vez
`);
const PORTUGUESE = compilePhrases(`
  (isso|isto|assim|está|tá|formato)… (errado|incorreto|errada)|não (funcionou|funciona|compila|era|é isso|foi isso|é o que|deu certo|mudou)
  (continua|segue|ainda) (desalinhado|errado|quebrado|com erro|não|igual|falhando|dando)|(eu )?já (falei|disse)|eu (falei|disse|pedi)
  (você|vc|tu) (esqueceu|apagou|quebrou|removeu|ignorou|errou|mudou)|por que (você|vc|tu)? ?(apagou|removeu|mudou|instalou|deletou)
  mesmo (erro|problema)|faltou|(desfaz|desfaça|reverte|volta) (isso|isto|tudo|o)|de novo|só pedi|muito (longo|curto|formal)
`);
const ITALIAN = compilePhrases(`
  (è|e|sono) (sbagliat[oaie]|errat[oa]|rott[oa])|non (funziona|va|compila|è (quello|questo|corretto|giusto|cambiato)|era)|(ancora|sempre) (non|lo stesso|rotto)
  (ti )?(ho|avevo)( già)? (detto|chiesto)|hai (dimenticato|cancellato|rotto|sbagliato|rimosso|ignorato|inventato)|perché hai
  stesso errore|manca(no)?|(annulla|ripristina|rimetti) (tutto|il|le|i|lo|questo)|di nuovo|troppo (lungo|corto|formale|grande|piccolo)
`);
const DUTCH = compilePhrases(`
  (dat|dit|het) klopt (niet|nog)|(dat|dit|het) is (fout|verkeerd|kapot|onzin|niet (goed|juist|wat|de))|werkt (nog steeds |nog |dus )?niet|nog steeds… niet
  je (bent|hebt)… (vergeten|verwijderd|kapotgemaakt|weggehaald|genegeerd)|waarom heb je|dezelfde fout|ik (zei|bedoelde|had gezegd|heb… gezegd)
  (maak|draai) (dat|het) (ongedaan|terug)|ontbreekt|te (lang|kort|formeel|groot|klein)|alweer
`);
const POLISH = compilePhrases(`
  (to )?(jest )?(źle|błędne|błędnie|niepoprawne|zepsute)|(nadal|wciąż|dalej|ciągle)… (nie|błąd|to samo|źle)|nie (działa|kompiluje|o to|to|tak)
  (dlaczego|czemu|po co) (usun|zmieni|skasow|zrobi|zainstalow)[^ ]*|zapomnia(łeś|łaś|łes)|usun(ąłeś|ęłaś)|ten sam błąd|mówił(em|am)|brakuje|za (długie|krótkie|duże|małe)|znowu
`);
const RUSSIAN = compilePhrases(`
  (это |все |всё )?(неправильно|неверно|не так|не то|не правильно|ошибка|сломано)|(все равно|всё равно|все еще|всё ещё|по-прежнему|опять)… (не|ошибка|сломано)
  не (работает|компилируется|помогло|запускается|открывается|о том|этот|эта|тот)|(зачем|почему) ты|(я )?(же|уже|просто)? ?(говорил|сказал|просил|имел в виду)[а-я]*
  ты… (забыл|удалил|сломал|пропустил|проигнорировал|перепутал)[а-я]*|та же ошибка|верни (как|все|всё|обратно)|не [^,]{1,30}, (а|теперь) [^ ]+|откати|плохо|ужасно|слишком (длинно|коротко|много|сложно)|не хватает
`);
const TURKISH = compilePhrases(`
  (bu |o )?(yanlış|hatalı|bozuk)|(hâlâ|halen|yine)… (çalışmıyor|olmadı|olmuyor|hata|bozuk|aynı)|(çalışmıyor|olmadı|olmamış|derlenmiyor)
  (neden|niye)… (sildin|değiştirdin|kaldırdın|ekledin|yaptın|kurdun)|(unuttun|unutmuşsun)|aynı hata|(söyledim|demiştim|dedim)|geri al|eksik|çok (uzun|kısa)
`);
const HINDI = compilePhrases(`
  (ye|yeh|yah|wo|woh|format)… (galat|kharab)|galat (hai|h|tha|kiya)|nahi,|(abhi bhi|ab bhi|phir bhi)… (nahi|nhi|error|galat)|kaam nahi… (kar|ho)
  (kyu|kyun|kyon)… (delete|hata|kiya|kiye|badal|kar diya)|bhool gay[ae]|maine (bola|kaha)|wahi error
`);
const CHINESE = compilePhrases(
  '(?<!对)不对|不正确|错了|错误的|有误|还是(?:不|报|错|有问题|一样|没)|仍然(?:不|报|有)|不是(?:这个|这样|我)|我(?:说|要|指)的是|撤销|撤回|改回|没有?(?:用|效果|生效|反应)|不行|打不开|理解(?:错|反)|换个思路|实际上|准确地说|更正|纠正一下|而不是|同样的(?:错|问题)|重做|太(?:长|短|大|小|慢|正式|啰嗦)了?|为什么.{0,8}(?:删|改|去掉|移除)|你(?:忘|漏|删|弄坏|搞错)|说过|又(?:用|错|改|忘|来)|漏了|少了|缺少|乱了',
  false,
);
const JAPANESE = compilePhrases(
  '違(?:う|い?ます)(?:よ|ね|ってば|って|けど)?(?:[、。！!,. ]|$)|間違[っい]|(?:そう|そっち|それ|これ|ここ|あれ)(?:じゃ|では)(?:ない|なく|ありません)|(?:取り消して|戻して)(?:$|くだ|ほし|。|、)|まだ.{0,12}(?:ない|ません|エラー|だめ)|直って(?:い)?(?:ない|ません)|動か?(?:ない|きません|かない)|(?:なんで|なぜ|どうして).{0,20}(?:消|削除|変え|変更)|じゃなく|ではなく|元に戻し|やり直し(?:て|ください|です)|頼んでい?(?:ない|ません)|また.{0,10}(?:忘れ|間違)|忘れて(?:い)?(?:る|ます)|同じエラー|長すぎ|短すぎ|と言(?:った|いました)|おかしい',
  false,
);
const KOREAN = compilePhrases(
  '틀렸|틀린|(?<!내가 |제가 )잘못|아니(?:요|야|에요|,)|안 ?(?:돼|되|됩|됨)|(?:아직|여전히).{0,12}(?:안|못|오류|에러|그대로)|왜.{0,16}(?:지웠|삭제|바꿨|바꾼|없앴)|말했|되돌려|같은 (?:오류|에러)|빠졌|잊었|너무 (?:길|짧|크|작)|말고|그게 아니',
  false,
);
const HINDI_LETTERS = compilePhrases(
  'गलत|(?:अभी|अब) भी.{0,20}नहीं|काम नहीं|नहीं,|क्यों.{0,20}(?:हटा|मिटा|बदल|डिलीट)|भूल गए|मैंने (?:कहा|बोला)',
  false,
);

export const FOREIGN_COMPLAINTS: readonly RegExp[] = [
  GERMAN,
  FRENCH,
  SPANISH,
  PORTUGUESE,
  ITALIAN,
  DUTCH,
  POLISH,
  RUSSIAN,
  TURKISH,
  HINDI,
  CHINESE,
  JAPANESE,
  KOREAN,
  HINDI_LETTERS,
];

/** A "no" at the start of a message. */
export const NO =
  /^(?:hm+,? |uh+,? |um+,? |well,? |wait,? |dude,? |man,? |what\?* )?(?:no+|nope|nah|nein|nee|no|non|nao|nie|нет|hayir|nahi|not)(?:[,.!\n ]+|$)(?:no+[,.! ]*)*/u;
/** A "no" that only answers a question, thanks or lets be. */
export const HARMLESS_NO =
  /^(?:no+|nope|nah|nein|nee|non|nao|nie|нет|nahi)[,.! ]+(?:problem|worries|need|thanks|thank|that's (?:fine|ok|okay|good|all|it|enough)|further|more|rush|it's (?:fine|ok|okay|good)|idea|issues?|questions?|changes|one|longer|matter|doubt|hurry|leave|danke|merci|gracias|grazie|hay|pasa|alles gut|te preocupes|se preocupe|спасибо)/u;

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

/** Sets of which one is chosen: whoever answers a reply that took one with another name corrects it. */
const CHOICES: readonly (readonly string[])[] = [
  'npm pnpm yarn bun',
  'pip uv poetry conda pipenv',
  'tab tabs space spaces',
  'celsius fahrenheit kelvin',
  'metric imperial',
  'jest vitest mocha ava jasmine',
  'pytest unittest nose',
  'snake_case camelcase kebab-case pascalcase',
  'px rem em',
  'axios fetch got ky undici',
  'iso american us european german british',
  'javascript typescript js ts jsx tsx',
  'mysql postgres postgresql sqlite mariadb mongodb',
  'formal informal casual',
  'light dark',
  'http https',
  'merge rebase squash',
  'kg lb lbs pounds',
  'km miles',
  'eur usd gbp euro euros dollars',
  'monday tuesday wednesday thursday friday saturday sunday',
  'montag dienstag mittwoch donnerstag freitag samstag sonntag',
].map((line) => line.split(' '));
const MOST_WORDS = 4;
const POLITE = /\b(?:please|pls|bitte|svp|por favor|no|nope|not?|use|it's|i said|the)\b/g;

/** "pnpm!!" after a reply that used npm; "8081" after one that named another number. */
export const isOtherChoice = (folded: string, about: string): boolean =>
  folded.length < LONGEST_CHOICE &&
  (isOtherNumber(folded, about) || folded.split(', ').some((clause) => isOther(clause, about)));

const LONGEST_CHOICE = 60;

function isOtherNumber(folded: string, about: string): boolean {
  const number = /^(?:no,? |nope,? |it's )?(\d{2,6})[.!]*$/.exec(folded)?.[1];
  return number !== undefined && /\d{2,}/.test(about) && !about.includes(number);
}

function isOther(clause: string, about: string): boolean {
  const bare = clause
    .replace(POLITE, ' ')
    .replace(/[^\p{L}\p{N}_-]+/gu, ' ')
    .trim();
  const words = bare.split(' ');
  if (bare === '' || words.length > MOST_WORDS) return false;
  const named = new Set(about.split(/[^\p{L}\p{N}_-]+/u));
  return CHOICES.some(
    (choice) =>
      words.some((word) => choice.includes(word) && !named.has(word)) &&
      choice.some((other) => named.has(other)),
  );
}

const LONGEST_FACT = 10;
const FACT =
  /^(?:no,? |hm+,? |well,? |but |actually,? )*(?:(?:the|our|my|her|his|their) ([\p{L}\p{N}_ -]{2,40}?) (?:is|are|starts?|ends?) |it(?:'s| is) |that(?:'s| is) |we(?:'re| are) |([\p{L}_-]{3,20}) means )(?:in |on |at |called |named |only |actually )*([\p{L}\p{N}./:_-]{1,40})/u;
const NUMBER_WORD =
  /^(?:\d[\d.,:/-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)$/;

/** "The port is 8081": a value for something that the reply had given another value. */
export function isOtherValue(folded: string, about: string): boolean {
  if (folded.split(' ').length > LONGEST_FACT) return false;
  const fact = FACT.exec(folded);
  if (fact === null) return false;
  const value = (fact[3] ?? '').replace(/[.!,:]+$/, '');
  const thing = fact[1] ?? fact[2];
  if (/^(?:her|his|my|their) name is /.test(folded)) return true;
  const isKnown =
    thing === undefined || thing.split(' ').some((word) => word.length > 2 && about.includes(word));
  if (fact[2] !== undefined) return isKnown;
  const isValue = NUMBER_WORD.test(value) || /[/\d]/.test(value);
  return isKnown && isValue && !about.split(/[\s,;()"]+/).includes(value);
}

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
