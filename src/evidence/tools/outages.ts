import type { ReportedAttempt } from '../../core/evidence.ts';
import { headLines, tailLines } from '../../text/lines.ts';

/**
 * Failures outside the agent's control, in the wordings of package managers, container tools, clouds, databases, browsers,
 * providers and operating systems. The codes are fixed words that are safe to show anywhere.
 */
const OUTAGES: readonly (readonly [code: string, pattern: RegExp])[] = [
  [
    'ECONNRESET',
    /\bECONNRESET\b|\bEPIPE\b|\bECONNABORTED\b|connection (?:was |has been |is )?(?:forcibly |unexpectedly )?(?:reset|closed|terminated|aborted|lost|broken|dropped|interrupted)\b|socket hang up|socket (?:was )?(?:disconnected|closed)|(?:reset|closed) by peer|closed (?:the )?connection unexpectedly|server closed the connection|disconnect\/reset before headers|RemoteDisconnected|IncompleteRead|ERR_(?:CONNECTION|HTTP2|SOCKET|NETWORK)_[A-Z_]{3,30}|network (?:was )?(?:aborted|changed)|spurious network error|stream (?:disconnected|closed) (?:before|unexpectedly)|early EOF|unexpected disconnect|transport (?:failure|error|closed)|(?:page|browser|context)(?: or browser)? has been closed|remote end hung up|download failed: size mismatch/i,
  ],
  [
    'ETIMEDOUT',
    /\bE(?:SOCKET)?TIMEDOUT\b|\b(?:connection|connect|read|write|operation|request|response|resolving|handshake|upstream|gateway|socket|network|download|upload|query|lookup|call|fetch|api call) (?:has |was |is )?timed[- ]?out\b|\b(?:connect(?:ion)?|read|gateway|handshake|socket|network|request|i\/o|upstream|client|dns|navigation) ?time-?out\b|\b(?:Read|Connect|Gateway|Request)Timeout(?:Error)?\b|\bClient\.Timeout\b|aborted due to timeout|deadline[ _]exceeded|\bTimeout was reached\b|\btimeout of \d{1,9} ?ms exceeded\b|\btimed out (?:while )?(?:waiting for|awaiting|connecting|after|reading|fetching|during) ?(?:a |an |the )?(?:response|reply|connection|server|condition|lock|headers|host|network|api|upstream|download)\b|request canceled while waiting|\bcurl: \(28\)|no response from (?:the )?(?:server|host|api|upstream)|(?:server|host|service|api|registry) (?:did not|does not|didn't|doesn't|is not|isn't) (?:respond|answer)/i,
  ],
  [
    'dns',
    /\bENOTFOUND\b|\bEAI_(?:AGAIN|NONAME|FAIL)\b|(?:could not|couldn't|cannot|can't|unable to|failed to) (?:resolve|look ?up) (?:the )?(?:host|hostname|address|proxy|name|domain|dns)\b|temporary failure (?:in name resolution|resolving)|name or service not known|no such host|getaddrinfo|nodename nor servname|NameResolutionError|failed to resolve '[\w-]{1,60}\.[\w.-]{1,200}'|ERR_NAME_NOT_RESOLVED|UnknownHostException|unknown host\b|no address associated with|name does not resolve|\bdns (?:lookup|resolution|error|failure|server)|server can't find|NXDOMAIN|could not translate host name|failed to lookup address|dns error|\bcurl: \(6\)/i,
  ],
  [
    'unreachable',
    /\bENETUNREACH\b|\bEHOSTUNREACH\b|\bENETDOWN\b|\bECONNREFUSED\b|connection refused|(?:network|host|server|registry|service|destination) (?:is |was )?(?:unreachable|not reachable|down)\b|no route to host|\bnetwork (?:error|failure)\b|network connectivity|(?:check|no) (?:your |the )?(?:network|internet) connection|failed to establish a (?:new )?connection|\bERR_(?:INTERNET_DISCONNECTED|ADDRESS_UNREACHABLE|PROXY_CONNECTION_FAILED|TIMED_OUT)|(?:could not|couldn't|cannot|can't|unable to|failed to|not able to) (?:connect|reach|contact|communicate|establish (?:a )?connection)\b|fetch failed\b|error connecting to|CONNECTION FAILED|connect to host \S{1,200} port|Max retries exceeded with url|brokers? (?:are )?(?:reachable|unavailable|down)|\bcurl: \((?:5|7)\)/i,
  ],
  [
    'rate-limited',
    /\brate[- _]?limit(?:s|ed|ing|error)?\b|too[ _]?many[ _]?(?:concurrent |open |parallel )?(?:requests|queries|connections|files)\b|\bquota\b.{0,40}\b(?:exceed|exhaust|reach|hit|limit)|\b(?:exceed\w{0,4}|exhaust\w{0,3}|over|out of|insufficient)[^.\n]{0,30}\bquota|insufficient_quota|RESOURCE_?EXHAUSTED|\b(?:usage|request|api|daily|hourly|monthly|weekly|pull|concurrency|session|spending|submit|search|plan|credit)s? limit\b|\blimit (?:for (?:today|this)|of \d{1,9} (?:requests|calls|queries))|\b(?:http|status|code|error)\b[^\w\n]{0,4}(?:code[^\w\n]{0,3})?429\b|^429\b|\b429 (?:too|-)|throttl(?:ed|ing)|\bSlowDown\b|insufficient (?:balance|credits?|funds)|credit balance is too low|payment required|account (?:is |has been |was )?suspended|billing (?:details|limit|hard limit|not active)|(?:connection|job) slots? (?:are|is) (?:reserved|full|exhausted)|no more connections|QOS policy|\bEMFILE\b|\bENFILE\b|limit for number of file watchers/i,
  ],
  [
    'upstream-error',
    /\b(?:50[0-4]|52[0-9])\b[ :-]{1,3}(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|server error|site is overloaded|web server)|\bhttp(?: error| status| code)?[ /:=]{1,3}(?:1\.1 |2 )?5\d\d\b|\b(?:status|code|error)\b[^\w\n]{0,4}(?:code[^\w\n]{0,3})?(?:50[0-4]|52[0-9])\b|"(?:code|status|statusCode)": ?5\d\d\b|\bbad[ _]gateway\b|\bservice (?:is )?(?:currently |temporarily )?unavailable\b|\bgateway (?:time-?out|unavailable)\b|^(?:remote: )?internal server error\b|\boverloaded(?:_error)?\b|(?:down for|under|in|for|scheduled|undergoing) maintenance\b|\b(?:currently|temporarily|momentarily) (?:unavailable|down|offline|disabled|out of service)\b|\bexperiencing (?:an? )?(?:incident|outage|issues|problems|high (?:load|demand|traffic))|\b(?:major|partial|service|ongoing|widespread) outage\b|(?:engineers|team) (?:have|has) been notified|(?:database|server|system) (?:system )?is (?:starting up|shutting down|in recovery mode|busy)|(?:server|service) is (?:shutting down|restarting|overloaded|busy)|\bunavailable \(|upstream connect error|\bproxy error from\b|\b(?:UNAVAILABLE|ServiceUnavailable(?:Error|Exception)?|InternalServerError|APIConnectionError)\b|Agent terminated early due to an API error/i,
  ],
  [
    'no-space',
    /\bENOSPC\b|no space left on|disk quota exceeded|\bEDQUOT\b|(?:disk|volume|device|file ?system) (?:is )?full\b|\bEROFS\b|read-only file ?system|\binput\/output error\b|node was low on resource|not enough (?:disk )?space|insufficient (?:disk|storage)/i,
  ],
  [
    'out-of-memory',
    /\bENOMEM\b|std::bad_alloc|\]? Killed$|heap out of memory|(?:cannot|could not|failed to|unable to) allocate memory|^killed\b|out of memory|\bOOM(?:Killed|-killed| killed)|OutOfMemoryError|killed signal terminated|signal: killed|\bSIGKILL\b|container (?:was )?killed|exceed(?:ed|ing)? (?:the )?memory limits?|virtual memory exhausted|\bEvicted\b/i,
  ],
  [
    'credentials',
    /unable to locate credentials|no (?:valid )?credentials?\b|(?:invalid|expired|missing|bad|incorrect|wrong|revoked|no) (?:\w{1,20} )?(?:credentials?|api[ _-]?keys?|access tokens?|auth tokens?|security tokens?|session tokens?|licen[cs]e)\b|\b(?:token|credentials?|session|certificate|cert|api[ _-]?key|licen[cs]e|password|subscription|trial|secret|grant)s?\b[^.\n]{0,50}\b(?:(?:has|have|is|are|was|were)(?: been)? )?(?:expired|revoked|not valid|invalid|missing|not set|not configured|disabled)\b|ExpiredToken|InvalidClientTokenId|UnrecognizedClientException|invalid_grant|permission denied \((?:publickey|password|keyboard|gssapi)|\bENEEDAUTH\b|\bneed auth\b|auth(?:entication|orization|entifizierung)? (?:is )?(?:required|failed|failure|error|needed|expired)\b|(?:must|need to|have to|required to|please) (?:be logged in|log ?in|sign in|re-?authenticate|authenticate)\b|\b(?:re-?authentication|login|log in) (?:is )?(?:required|failed|needed)|not logged in|bad credentials|\b(?:http|status|code|error)\b[^\w\n]{0,4}(?:code[^\w\n]{0,3})?40[17]\b|\b40[17] (?:unauthorized|proxy)|\(unauthorized\)|^unauthorized\b|\bunauthorized: |unauthenticated\b|\b403 forbidden\b|\bAccessDenied(?:Exception)?\b|not authorized(?: to (?:perform|access)|$|[.:!])|please run \S{0,20}\/?login\b|is not allowed to access|(?:requested )?access to the resource is denied|could not read (?:username|password) (?:for|from)|host key verification failed|password authentication failed|passphrase you entered|proxy authentication required|SSL certificate problem|certificate (?:has expired|verify failed|is not trusted)|CERTIFICATE_VERIFY_FAILED|CERT_HAS_EXPIRED|self[- ]signed certificate|SSL_connect|SSL_ERROR_\w{3,30}|TLS handshake|\bcurl: \((?:35|60)\)|refreshing your current auth tokens/i,
  ],
  [
    'locked',
    /could not get lock|unable to acquire the \S{1,40}[^.\n]{0,20} lock|error acquiring the \S{0,20} ?lock|index\.lock'?: File exists|another (?:\w{1,20} )?process (?:seems to be |is )?(?:running|using)|is another process using|database (?:table )?is locked|\bEBUSY\b|(?:device or )?resource busy|text file busy|lock (?:is )?held by|held by (?:process|another)|waiting for (?:another|other) \S{1,40} (?:process|lock)|being used by another process/i,
  ],
  [
    'machine-failed',
    /(?:container|sandbox|runtime|runner|kernel|executor|worker|vm|instance|node|pod|environment|process)\b[^.\n]{0,40}\b(?:was|has been|is|got|has)? ?(?:terminated unexpectedly|died|lost|preempted|evicted|unreachable|restarting|crashed unexpectedly|not responding)|ExecutorLost|docker daemon(?: is)?(?: not)? running|is the docker daemon running|cannot connect to the docker|is the server running (?:locally|on that host)|the connection to the server \S{1,200} was refused - did you specify|can't connect to (?:local )?(?:mysql|mariadb) server|could not connect to redis at|MongoServerSelectionError|couldn't communicate with the \w{1,20} driver|no devices(?:\/emulators)? found|no (?:gpu|cuda|device)s? (?:is |are )?(?:available|found|detected)|unable to (?:boot|allocate) (?:device|resources)|Executable doesn't exist at .{0,200}(?:ms-playwright|puppeteer)/i,
  ],
];
/** Services on this machine are the agent's to start. */
const LOCAL = /localhost|127\.0\.0\.1|\[?::1\]?(?![\w:])|0\.0\.0\.0|\.sock\b/;
const LOCAL_ALL = new RegExp(LOCAL, 'g');
/** A proxy on this machine may name the host behind it, which is not on this machine. */
const REMOTE = /https?:\/\/[\w-]{1,60}\.|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d/;
/** What a program of the agent's own can cause on a service that it also runs. */
const CAN_BE_OWN: ReadonlySet<string> = new Set([
  'unreachable',
  'upstream-error',
  'credentials',
  'ECONNRESET',
  'ETIMEDOUT',
  'rate-limited',
]);
/** Retries that a tool reports and then goes on. */
const RECOVERED = /\bretry(?:ing)?\b.{0,60}\bok\b|\b0 (?:errors|failed|failures)\b/i;

const FIRST = 40;
const LAST = 120;

/**
 * The outage that explains a failed result; undefined when it failed for another reason. `isOwnService`: the call talks to a
 * service on this machine, whose answers are the result of the agent's work.
 */
export function findOutage(text: string, isOwnService = false): string | undefined {
  for (const line of [...headLines(text, FIRST), ...tailLines(text, LAST)]) {
    const code = findOutageIn(line, isOwnService);
    if (code !== undefined) return code;
  }
  return undefined;
}

/** The outage that one line reports. */
export function findOutageIn(line: string, isOwnService = false): string | undefined {
  if (RECOVERED.test(line)) return undefined;
  const isLocal = isOwnService || (LOCAL.test(line) && !REMOTE.test(line.replace(LOCAL_ALL, '')));
  return OUTAGES.find(
    ([code, pattern]) => !(isLocal && CAN_BE_OWN.has(code)) && pattern.test(line.trim()),
  )?.[0];
}

/** Whether a command or an address names a service on this machine. */
export const isLocalAddress = (text: string): boolean => LOCAL.test(text);

/** The reported attempts that say something about the work: one that an outage ended does not. */
export const tellingAttempts = (attempts: readonly ReportedAttempt[]): readonly ReportedAttempt[] =>
  attempts.filter(({ ok, result }) => ok || findOutage(result) === undefined);
