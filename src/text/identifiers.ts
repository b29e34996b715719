/**
 * Whether a text names somebody by an identifier: an e-mail address, a number of a phone, card, account, booking or document, a postal
 * address. It errs on the side of yes: it decides whether words of one person may be shown to another.
 */
export function hasIdentifier(text: string): boolean {
  const plain = text.replace(NUMBERS_OF_NOBODY, ' ');
  return PATTERNS.some((pattern) => pattern.test(plain)) || (plain.match(CODE) ?? []).some(isCode);
}

/** Dates, times, versions and addresses of machines. */
const NUMBERS_OF_NOBODY =
  /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?\b|\b\d{4}\d{2}\d{2}_\w{1,40}|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\bv?\d{1,5}(?:\.\d{1,5}){2,3}\b/g;

const PATTERNS: readonly RegExp[] = [
  // An e-mail address.
  /[\w.+-]{1,64}@[\w-]{1,63}\.\w/u,
  // A user id such as mia_li_3668.
  /\b[a-z]{2,20}(?:_[a-z]{1,20}){0,3}_\d{3,}\b/i,
  // Seven digits or more, with or without separators: phones, cards, accounts, documents.
  /\d(?:[ ().-]{0,2}\d){6,}/,
  // "my order number is 41", "customer ID: K-77".
  /\b(?:user|customer|account|member(?:ship)?|booking|reservation|order|ticket|passport|confirmation|policy|invoice|card|licen[cs]e|insurance|patient)[ -]?(?:id|number|no\.?|code|reference|#)\s{0,3}(?:is|was|of|:|=|#)?\s{0,3}[\w-]{0,20}\d/i,
  /\b(?:iban|ssn|social security|date of birth|born on)\b/i,
  // A postal address.
  /\b\d{1,5}[a-z]?\s+(?:[A-Z][\w'’]{1,30}\s+){1,3}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|square|way)\b/i,
  /\b[A-Z][\w-]{2,30}(?:stra(?:ß|ss)e|weg|platz|gasse)\s+\d{1,4}\b/,
];

/** Codes as tickets and bookings have them: capital letters and digits mixed. */
const CODE = /\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{5,12}\b/g;
/** Names of standards, formats and versions look alike. */
const STANDARD =
  /^(?:SHA|UTF|ISO|RFC|GPT|CVE|PEP|HTTP|BASE|AES|RSA|MD|ES|IPV|INT|UINT|FLOAT|ASCII|LATIN|MP|H26|WIN|X86|ARM|EC2|S3|OAUTH|TLS|CP|KOI|EUC|CRC)/;
const isCode = (word: string): boolean => !STANDARD.test(word) && !/^\d+[A-Z]{1,3}$/.test(word);
