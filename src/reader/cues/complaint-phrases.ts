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
