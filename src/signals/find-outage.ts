import { headLines, tailLines } from './lines.ts';

/** Failures outside the agent's control, as fixed codes that are safe to show anywhere. */
const OUTAGES: readonly (readonly [string, RegExp])[] = [
  ['ECONNRESET', /\bECONNRESET\b|connection reset by peer|socket hang up|\bEPIPE\b|connection broken by/i],
  [
    'ETIMEDOUT',
    /\bETIMEDOUT\b|\bESOCKETTIMEDOUT\b|\bconnection timed out\b|\bread timed out\b|\bconnect(?:ion)? timeout\b|\bTLS handshake timeout\b|\bi\/o timeout\b|\boperation (?:has )?timed out\b|\brequest timed out\b|\bReadTimeout\b|\bConnectTimeout\b|\baborted due to timeout\b|\bcontext deadline exceeded\b|\bTimeout was reached\b|\btimeout of \d{1,9} ?ms exceeded\b|\b(?:request|upstream|gateway) timed out\b|\bupstream request timed out\b|\btimed out waiting for (?:a )?(?:response|reply)\b/i,
  ],
  [
    'dns',
    /\bENOTFOUND\b|\bEAI_AGAIN\b|could not resolve host|temporary failure (?:in name resolution|resolving)|name or service not known|no such host|getaddrinfo|nodename nor servname/i,
  ],
  [
    'unreachable',
    /\bENETUNREACH\b|\bEHOSTUNREACH\b|network is unreachable|no route to host|\bnetwork error\b|failed to establish a new connection|could not connect to server|unable to connect to the (?:server|internet)|fetch failed|\bECONNREFUSED\b|connection refused/i,
  ],
  [
    'rate-limited',
    /\b(?:rate[ -]?limit(?:ed|s)?(?: (?:exceeded|reached|error|hit))?|too many requests|toomanyrequests|quota exceeded|exceeded your (?:current )?quota)\b|\b(?:status|code|error|http|https)[^\w\n]{0,4}(?:code[^\w\n]{0,3})?429\b|^429\b|\b429 too/i,
  ],
  [
    'upstream-error',
    /\b(?:50[0234]|529)[ :-]{1,3}(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|server error|site is overloaded)|\b(?:status|code|error)[^\w\n]{0,4}(?:code[^\w\n]{0,3})?(?:50[0234]|529)\b|^service (?:temporarily )?unavailable|"(?:code|status)":50[0234]\b|\boverloaded_error\b|\b(?:down for|under|in) maintenance\b|\btemporarily unavailable\b|\bserver is overloaded\b|^overloaded$/i,
  ],
  ['no-space', /\bENOSPC\b|no space left on device|disk quota exceeded/i],
  [
    'out-of-memory',
    /\bENOMEM\b|javascript heap out of memory|cannot allocate memory|^killed$|out of memory: kill/i,
  ],
];
/** Services on this machine are the agent's to start. */
const LOCAL = /localhost|127\.0\.0\.1|\[?::1\]?|0\.0\.0\.0|\.sock\b/;

const FIRST = 40;
const LAST = 120;

/** The outage that explains a failed result; undefined when it failed for another reason. */
export function findOutage(text: string): string | undefined {
  for (const line of [...headLines(text, FIRST), ...tailLines(text, LAST)]) {
    const found = OUTAGES.find(([code, pattern]) => pattern.test(line) && !isLocal(code, line));
    if (found !== undefined) return found[0];
  }
  return undefined;
}

const isLocal = (code: string, line: string): boolean => code === 'unreachable' && LOCAL.test(line);
