import { separateTypedText } from '../../text/typed-text.ts';
import { compilePhrases } from './phrase-table.ts';

const CAP = 2000;

/** Services, networks and accounts: things that break without the agent. */
const SERVICE =
  '(?:api|apis|service|server|servers|backend|registry|npm|pypi|github|gitlab|docker hub|network|internet|wifi|wi-fi|vpn|dns|proxy|platform|cluster|provider|upstream|site|endpoint|host|cloud|aws|azure|gcp|openai|anthropic|cdn|queue|runner|ci|staging|prod|production|database|db|mirror|dienst|netz|netzwerk|serveur|réseau|servidor|red)';
const DOWN =
  '(?:down|offline|unreachable|unavailable|overloaded|out|dead|broken again|acting up|flaky|having (?:issues|problems|an outage)|not (?:responding|reachable|answering)|under maintenance|in maintenance|nicht erreichbar|weg|ausgefallen|überlastet|en panne|hors service|indisponible|caído|caida|no responde)';

/** What a person says about an outage. */
const SAID_BY_PERSON: readonly RegExp[] = [
  new RegExp(
    `\\b${SERVICE}\\b[^.!?\\n]{0,40}\\b(?:is|are|was|were|'s|seems|looks|went|ist|sind|war|est|está|gerade|grad)\\b[^.!?\\n]{0,25}\\b${DOWN}\\b`,
    'i',
  ),
  /\b(?:outage|status ?page|incident)\b[^.!?\n]{0,60}\b(?:says?|shows?|reports?|ongoing|at|on|again|right now)\b|\b(?:says|shows|there(?:'s| is)|having|an?) (?:\w{1,12} )?outage\b|\boutage\b.{0,40}\b(?:later|again|wait)\b/i,
  /\b(?:my|the|our) (?:\w{1,16} )?(?:token|api key|key|session|login|licen[cs]e|certificate|cert|credentials?|subscription|credits?|quota)s? (?:has |have |had |is |are |was |were )?(?:just )?(?:expired|ran out|run out|out|invalid|revoked|used up|exhausted)\b/i,
  /\b(?:vpn|wi-?fi|internet|network|docker|laptop|power|proxy)\b[^.!?\n]{0,20}\b(?:was|is|went|had been|wasn't|isn't|dropped)\b[^.!?\n]{0,12}\b(?:off|down|out|disconnected|on|running|dropped|gone)\b/i,
  /\b(?:hit|hitting|reached|exceeded|over|ran into|out of)\b[^.!?\n]{0,24}\b(?:rate limits?|usage limits?|quota|daily limit|limits? for today)\b/i,
  /\bnot your fault\b/i,
  /(?:disk|platte|festplatte) (?:was|is|ist|war) (?:full|voll)\b/i,
  /(?:服务|服务器|网络|接口)(?:.{0,6})(?:挂了|宕机|不可用|断了|故障|超时)/,
];
/** The same words in a request for work. */
const WANTED =
  /^\s*(?:please |can you |could you |now |next |let's |also )?(?:add|implement|write|fix|handle|make|build|change|show|explain|document|test|simulate|mock|support|retry when|catch)\b/i;
/** Blames the agent's own work for it. */
const OWN =
  /\byour (?:code|change|fix|script|edit)\b|\byou\b.{0,30}\b(?:broke|killed|crashed|took|brought|said|told)\b/i;
const OUTAGE_ENGLISH =
  /\b(?:api|server|servers|registry|npm|pypi|github|gitlab|actions|ci|network|internet|wi-?fi|vpn|proxy|provider|service|cloud|aws|azure|database host|dns|connection|machine|laptop|disk|power|site)\b.{0,40}\b(?:(?:is|are|was|were|seems?|went|goes|being|still|currently|to be) (?:\w+ ){0,3}(?:down|offline|unreachable|out|slow today)|down again|having (?:an? )?(?:outage|issues|problems)|outage|died|dropped|unreachable|rate.?limit|ran out of|returns? (?:429|5\d\d)|(?:429|502|503|504)\b)|\b(?:hit|reached|over) (?:the|our|my) (?:rate.?limit|quota|usage limit)\b/;
const OUTAGE_FOREIGN = compilePhrases(`
  (registry|server|api|netz|internet|wlan|vpn)… (nicht erreichbar|down|weg|ausgefallen|ist aus|langsam)|liegt nicht an dir
  (l'api|le serveur|internet|le réseau|le wifi)… (en panne|est tombé|ne répond|coupé|hors service)
  se cayó (internet|la api|el servidor|la red)|(la api|el servidor|internet|la red)… (caíd[oa]|no responde|se cayó)
  (a api|o servidor|a internet)… (caiu|fora do ar)|(l'api|il server|la rete)… (giù|non risponde|caduto|caduta)
  (de api|de server|het netwerk|internet)… (plat|ligt eruit|onbereikbaar)|(api|serwer|sieć|internet)… (leży|padł|padło|nie odpowiada)
  (апи|api|сервер|сеть|интернет)… (лежит|упал|недоступен|не отвечает|отвалился)|(api|sunucu|internet)… (çöktü|kesildi|gitti|yanıt vermiyor)
`);
const OUTAGE_EAST_ASIAN =
  /(?:网络|服务器|接口|网)(?:.{0,6})(?:有问题|挂了|断了|崩了|不通)|(?:サーバー?|ネット(?:ワーク)?|api).{0,8}(?:落ち|障害|繋がらない)|(?:서버|네트워크|인터넷|api).{0,8}(?:다운|끊|장애|죽었)/u;
/** The person was at fault, or names what it was: "forgot to start it", "vpn. again". */
const OWN_FAULT =
  /^(?!.*\byou\b).{0,40}\bforgot to (?:start|launch|boot|connect|turn|plug|log ?in|enable|mount|unlock)\b|^(?:(?:ah|oh|ok|right|sorry|yes|yeah|sigh)[,.]? )*(?:the |my )?(?:vpn|wi-?fi|wlan|dns|proxy|network|internet)(?: again)?[.!]*$/;
const CONDITION = /^(?:if|when|unless|in case|falls|wenn|als|jesli|если|如果|もし)\b/;

/** Whether one sentence, in lower case without accents, says so. */
export const isOutageSentence = (folded: string): boolean =>
  !CONDITION.test(folded) &&
  !OWN.test(folded) &&
  (OUTAGE_ENGLISH.test(folded) ||
    OWN_FAULT.test(folded) ||
    OUTAGE_FOREIGN.test(folded) ||
    OUTAGE_EAST_ASIAN.test(folded));

/** Whether the person says that something outside the agent was broken. */
export function reportsOutage(message: string): boolean {
  const typed = separateTypedText(message.slice(0, CAP)).typed.trim();
  if (typed === '' || WANTED.test(typed) || OWN.test(typed) || CONDITION.test(typed.toLowerCase()))
    return false;
  return SAID_BY_PERSON.some((pattern) => pattern.test(typed));
}

/** What an agent says when it stops because of an outage; it counts only where a tool did not succeed. */
const SAID_BY_AGENT: readonly RegExp[] = [
  new RegExp(
    `\\b${SERVICE}\\b[^.!?\\n]{0,40}\\b(?:is|are|was|seems|appears|does|did|keeps|ist|est)\\b[^.!?\\n]{0,30}(?:\\b${DOWN}\\b|not (?:answer|respond)|returning (?:a )?5\\d\\d|tim(?:es|ing) out)`,
    'i',
  ),
  /\b(?:hit|reached|exceeded|exhausted)\b[^.!?\n]{0,24}\b(?:rate|usage|daily|monthly|request|api|search)? ?(?:limit|quota)\b/i,
  /\b(?:answers?|returns?|returned|responds?|responded|replies) (?:with )?(?:a |an )?(?:http )?(?:5\d\d|429)\b/i,
  /\b(?:(?:could|can|was|am) ?(?:not|n't)(?: able to)?|unable to) (?:reach|connect to|contact|access the (?:network|internet)|download|resolve)\b/i,
  /\b(?:asks?|need|needs|requires?|have) (?:you |me )?to (?:log ?in|sign in|re-?authenticate)\b|\b(?:credentials|token|session|certificate)\b[^.!?\n]{0,24}\b(?:expired|missing|invalid|not configured)\b/i,
  /\bno space left\b|\bdisk is full\b|\bout of (?:memory|disk space)\b/i,
];

/** Whether the agent says that it stopped because of something outside of it. */
export const blamesOutage = (said: string): boolean =>
  SAID_BY_AGENT.some((pattern) => pattern.test(said.slice(0, CAP)));
