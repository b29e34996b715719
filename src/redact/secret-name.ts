/**
 * The kind of secret that a name indicates. `password`: typed by people. `token`: generated (keys, tokens, secrets). `weak`:
 * a secret only if the value looks random. `query`: only as a URL parameter. `phrase`: may be a sequence of words. `spoken`: a
 * word with other meanings (`pass`), so that the value must look like a password.
 */
export type NameKind =
  | 'spoken'
  | 'password'
  | 'token'
  | 'weak'
  | 'query'
  | 'phrase'
  | 'authorization'
  | 'cookie';

/** Suffixes that do not change the kind: `DB_PASSWORD_PROD`, `apiKeyValue`, `token2`. */
const QUALIFIERS = new Set(
  (
    'prod production dev development test testing staging stage live sandbox local ci value val str string text raw ' +
    'plain plaintext b64 base64 hex env new old current default primary secondary main backup'
  ).split(' '),
);

const ENDINGS: readonly (readonly [NameKind, readonly string[]])[] = [
  ['authorization', ['authorization']],
  ['cookie', ['cookie', 'cookies']],
  ['phrase', ['passphrase', 'mnemonic', 'seedphrase', 'recoveryphrase', 'seedwords']],
  ['password', ['password', 'passwd', 'passwort', 'kennwort', 'wachtwoord', 'pwd', 'psk']],
  [
    'token',
    (
      'token secret credential credentials creds apikey accesskey secretkey privatekey privkey authkey encryptionkey ' +
      'signingkey masterkey accountkey servicekey deploykey licensekey storagekey clientkey appkey applicationkey ' +
      'consumerkey webhookkey hmackey jwtkey sessionkey adminkey subscriptionkey rolekey anonkey functionkey cipherkey ' +
      'cryptkey aeskey serverkey integrationkey ingestkey secretid authsecret clientkeydata privatekeydata jwt'
    ).split(' '),
  ],
  ['weak', ['apikeys', 'secrets', 'passwords', 'tokens', 'privatekeys', 'accesskeys', 'auth', 'bearer']],
  ['query', ['sig', 'signature', 'code']],
];

/** Tokens that are positions in a list or a text, and public ones. */
const HARMLESS =
  /(?:page|next|continuation|cursor|sync|resume|cancel|cancellation|eos|bos|pad|unk|sep|cls|mask|special|end|start|stop|public|publishable)token$/;
const HARMLESS_KEY =
  /(?:public|pub|primary|foreign|unique|composite|cache|query|row|partition|sort|hash|range|object|s3|blob|file|image|item|map|lookup|registry|hot|short|index|message|translation|locale|i18n|route|state|react|lock|redis|memo|idempotency|dedup|dedupe|group|issue|project|dict|json|config|event|session|storage|search|tuple|candidate|natural|surrogate|host)keys?$/;
/** Last words of names that describe a property of a secret, not the secret. */
const ABOUT = new Set(
  (
    'id ids name names type types url uri urls path paths file files dir count counts length len size limit limits hash ' +
    'sha sha1 sha256 md5 digest fingerprint checksum version ttl expiry expires expiration at format field fields header ' +
    'headers prefix suffix regex pattern ref refs arn policy policies class rotation manager provider store storage vault ' +
    'usage budget index position offset kind label hint stdin strength reset endpoint issuer audience scope scopes ' +
    'lifetime age minutes seconds days enabled required valid status error errors message help description generator'
  ).split(' '),
);

const LONGEST = 200;
const MAX_REMEMBERED = 2048;
const remembered = new Map<string, NameKind | undefined>();

/** The kind of a name such as `api_key`, `x-api-key`, `dbPassword` or `Set-Cookie`; undefined for a name without a secret. */
export function kindOfName(name: string): NameKind | undefined {
  if (name.length > LONGEST) return undefined;
  const known = remembered.get(name);
  if (known !== undefined || remembered.has(name)) return known;
  const kind = judge(name);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  // A copy: a slice would keep the whole source text in memory.
  remembered.set(Buffer.from(name, 'utf16le').toString('utf16le'), kind);
  return kind;
}

function judge(name: string): NameKind | undefined {
  const words = wordsOf(name);
  while (words.length > 1 && QUALIFIERS.has(words.at(-1) ?? '')) words.pop();
  const last = words.at(-1);
  if (last === undefined || ABOUT.has(last)) return undefined;
  const squeezed = words.join('');
  if (HARMLESS.test(squeezed)) return undefined;
  for (const [kind, endings] of ENDINGS) {
    if (endings.some((ending) => squeezed.endsWith(ending))) return kind;
  }
  if (squeezed.endsWith('pass') && words.length > 1) return 'password';
  if (/(?:db|user|smtp|ftp|admin|root|mysql|pg|store|key|login)pass$/.test(squeezed)) return 'password';
  if (last === 'pat' && words.length > 1) return 'token';
  if (last === 'key' || last === 'keys') {
    return squeezed.length > last.length && !HARMLESS_KEY.test(squeezed) ? 'weak' : undefined;
  }
  return /passw|secret|token(?!s|iz)|apikey|credential/.test(squeezed) ? 'weak' : undefined;
}

/** The words of a name, in lower case, without trailing digits. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => (QUALIFIERS.has(word) || ABOUT.has(word) ? word : word.replace(/\d{1,4}$/, '')))
    .filter((word) => word !== '');
}
