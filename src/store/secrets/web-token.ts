import { asString, isObject, parseJson } from '../../core/json.ts';
import { classAt, DASH, DIGIT, DOT, isEdge, runEnd, runStart, TILDE, TOKEN, WORD } from './char-class.ts';
import { NONE, type Rule } from './page.ts';
import { isCredible } from './secret-value.ts';

const LONGEST_HEAD = 8192;

/** A JSON web token: `head.payload.signature` with a JSON head; five parts if it is encrypted. */
export const findJsonWebToken: Rule = ({ text, floor }, start) => {
  if (!isEdge(text, start, WORD | DASH, floor)) return NONE;
  const headEnd = runEnd(text, start, TOKEN, text.length);
  if (text.charCodeAt(headEnd) !== 0x2e || headEnd - start > LONGEST_HEAD) return NONE;
  const payloadEnd = runEnd(text, headEnd + 1, TOKEN, text.length);
  if (text.charCodeAt(payloadEnd) !== 0x2e) return NONE;
  let end = runEnd(text, payloadEnd + 1, TOKEN, text.length);
  if (end - payloadEnd < 8 || !isTokenHead(text.slice(start, headEnd))) return NONE;
  for (let more = 0; more < 2 && text.charCodeAt(end) === 0x2e; more++) {
    const next = runEnd(text, end + 1, TOKEN, text.length);
    if (next - end < 8) break;
    end = next;
  }
  return [{ start, end }];
};

function isTokenHead(part: string): boolean {
  const head = parseJson(Buffer.from(part, 'base64url').toString('utf8'));
  return isObject(head) && ['alg', 'enc', 'typ', 'kid'].some((name) => asString(head[name]) !== undefined);
}

/** A bot's number, a colon, and 35 characters that begin with `AA`. */
export const findTelegramToken: Rule = ({ text, floor }, start, end) => {
  const number = runStart(text, start, DIGIT, Math.max(floor, start - 13));
  const length = start - number;
  if (length < 7 || length > 12) return NONE;
  const stop = runEnd(text, end, TOKEN, end + 40);
  return stop - end < 30 || stop - end > 36 ? NONE : [{ start: number, end: stop }];
};

/** The base64 of a user id, a dot, six characters, a dot, a signature. Called at many dots, so it rejects early. */
export const findDiscordToken: Rule = ({ text, floor }, dot) => {
  if (text.charCodeAt(dot + 7) !== 0x2e || runEnd(text, dot + 1, TOKEN, dot + 8) !== dot + 7) return NONE;
  const stop = runEnd(text, dot + 8, TOKEN, dot + 60);
  const start = stop - dot < 33 ? -1 : startOfUser(text, dot, floor);
  if (start < 0) return NONE;
  const user = Buffer.from(text.slice(start, dot), 'base64url').toString('latin1');
  return /^\d{15,22}$/.test(user) ? [{ start, end: stop }] : NONE;
};

/** The start of the base64 of 16 to 21 digits before the dot; −1 without one. */
function startOfUser(text: string, dot: number, floor: number): number {
  for (let length = 22; length <= 28; length++) {
    const start = dot - length;
    if (start < floor) return -1;
    if ('MNO'.includes(text.charAt(start)) && isEdge(text, start, TOKEN, floor)) return start;
  }
  return -1;
}

/** An application's secret in Microsoft Entra: three characters, a digit, `Q~`, some thirty more. */
export const findEntraSecret: Rule = ({ text, floor }, start, end) => {
  const from = runStart(text, start, TOKEN | DOT | TILDE, Math.max(floor, start - 4));
  if (start - from !== 4 || (classAt(text, start - 1) & DIGIT) === 0) return NONE;
  const stop = runEnd(text, end, TOKEN | DOT | TILDE, end + 40);
  const length = stop - end;
  if (length < 31 || length > 36 || !isCredible(text.slice(end, stop))) return NONE;
  return [{ start: from, end: stop }];
};
