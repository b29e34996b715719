/** A network address that a lesson names. */
export interface Address {
  readonly kind: 'a URL' | 'an e-mail address' | 'an IP address' | 'a host';
  readonly text: string;
}

const URL = /\b[a-z][a-z0-9+.-]{1,12}(?::|\(:\)|\[:\])\/\/[^\s"'`<>)\]]{1,500}/g;
const OTHER_URL =
  /\b(?:mailto|tel|sms|javascript|data|vbscript|magnet|ssh|git)\s?:[^\s/"'`<>)\]][^\s"'`<>)\]]{2,500}/g;
const MAIL = /[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/g;
const SPELLED_MAIL =
  /[a-z0-9._-]{2,64} ?(?:\(at\)|\[at\]|\{at\}| at ) ?[a-z0-9-]{2,63} ?(?:\(dot\)|\[dot\]|\{dot\}| dot ) ?[a-z]{2,24}\b/g;
const IPV4 = /(?<!\bversion )(?<!\brelease )(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]?\d)/g;
const IPV6 = /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![\w:])/g;
const NUMBER_HOST = /\b0x[0-9a-f]{8}\b/g;
const HOST =
  /(?<![\w@./\\$-])(?:[a-z0-9-]{1,63}(?:\.|\[\.\]|\(\.\)|\[dot\]|\(dot\)| dot )){1,6}(?:com|net|org|io|ai|biz|xyz|online|site|website|cloud|host|space|club|ru|cn|tk|su|pw|icu|onion|ws|cc|gg|ly|eu|ch|uk|nl|page|chat|run)\b(?![\w-]|\.[a-z])(?:\/[^\s"'`<>)\]]{0,200})?/g;

/** Names that lead nowhere but to the reader's own machine, or are kept free for examples. */
const HARMLESS =
  /^(?:[a-z][a-z0-9+.-]{1,12}:\/\/)?(?:[^@/\s]{1,64}@)?(?:localhost|127\.0\.0\.1|\[::1\]|::1|0x7f000001|(?:[a-z0-9-]{1,63}\.){0,4}(?:example(?:\.(?:com|org|net))?|test|invalid|localhost))(?::\d{1,5})?(?:[/?#].{0,500})?$/;
/** Qualified names in code that end like a host name. */
const CODE =
  /^(?:java|javax|system|socket|node|torch|asp|kotlin|scala|org|com|net|io|std|akka|self|this|app|req|res|process|engine)\./;

/** Addresses outside the reader's machine in a normalized text. */
export function findAddresses(folded: string): readonly Address[] {
  const found = new Map<string, Address>();
  const take = (
    kind: Address['kind'],
    pattern: RegExp,
    isAddress: (text: string) => boolean = () => true,
  ) => {
    for (const [match] of folded.matchAll(pattern)) {
      const text = match.replace(/[.,;:!?]+$/, '');
      const isKnown = [...found.keys()].some((known) => known.includes(text));
      if (!isKnown && !HARMLESS.test(text) && isAddress(text)) found.set(text, { kind, text });
    }
  };
  take('a URL', URL);
  take('a URL', OTHER_URL);
  take('an e-mail address', MAIL);
  take('an e-mail address', SPELLED_MAIL);
  take('an IP address', IPV4, (text) => text.split('.').every((part) => Number(part) <= 255));
  take(
    'an IP address',
    IPV6,
    (text) => /\d/.test(text) && (text.includes('::') || text.split(':').length === 8),
  );
  take('an IP address', NUMBER_HOST);
  take('a host', HOST, (text) => !CODE.test(text));
  return [...found.values()];
}
