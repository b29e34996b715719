import { alnum, createRandom, keyBlock, NAMELESS, pick, type Random, SHAPES } from './secret-makers.ts';

/** A text with a secret in it. */
export interface Planted {
  readonly label: string;
  readonly secret: string;
  readonly text: string;
}

type Write = (secret: string) => string;

/** Contexts for a secret of a known shape. */
export const PLACES: Readonly<Record<string, Write>> = {
  alone: (s) => s,
  prose: (s) => `I called it with ${s} and got a 401 back.`,
  'end of a sentence': (s) => `They are using ${s}.`,
  parentheses: (s) => `the old one (${s}) still works`,
  backticks: (s) => `Please use \`${s}\` for now.`,
  code: (s) => `const client = createClient("${s}", { retries: 2 });`,
  'single quotes': (s) => `run('${s}')`,
  json: (s) => JSON.stringify({ note: 'x', data: [s, 1] }),
  'json in json': (s) => JSON.stringify({ arguments: JSON.stringify({ command: `deploy ${s}` }) }),
  'json in json in json': (s) => JSON.stringify(JSON.stringify({ a: JSON.stringify({ b: s }) })),
  'env file': (s) => `# settings\nPORT=8080\nSERVICE_API_KEY=${s}\nDEBUG=1\n`,
  'numbered lines': (s) =>
    s
      .split('\n')
      .map((line, i) => `${String(i + 1).padStart(6)}\t${line}`)
      .join('\n'),
  log: (s) => `2025-01-02T03:04:05Z WARN upstream said: invalid credentials ${s} (attempt 2)`,
  'escaped line': (s) => `"stdout":"first\\n${s.replaceAll('\n', '\\n')}\\nlast"`,
  'terminal colour': (s) => `\u001b[32m${s}\u001b[0m`,
  markdown: (s) => `| name | value |\n|---|---|\n| prod | ${s} |`,
  diff: (s) =>
    s
      .split('\n')
      .map((line) => `+${line}`)
      .join('\n'),
};

/** Contexts in which only the name indicates the secret. */
export const NAMED_PLACES: Readonly<Record<string, Write>> = {
  'env file': (s) => `HOST=localhost\nDB_PASSWORD=${s}\nPORT=5432\n`,
  export: (s) => `export SERVICE_TOKEN="${s}" && ./run`,
  'docker -e': (s) => `docker run -e API_SECRET=${s} image`,
  yaml: (s) => `auth:\n  api_key: ${s}\n  retries: 3\n`,
  toml: (s) => `[server]\nsecret_key = "${s}"\n`,
  ini: (s) => `[default]\naws_secret_access_key = ${s}\nregion = eu-west-1\n`,
  json: (s) => JSON.stringify({ user: 'ada', client_secret: s, ttl: 5 }),
  'json in json': (s) => JSON.stringify({ arguments: JSON.stringify({ clientSecret: s }) }),
  'json in json in json': (s) => JSON.stringify(JSON.stringify({ a: JSON.stringify({ access_token: s }) })),
  python: (s) => `client = Client(api_key="${s}", timeout=3)`,
  go: (s) => `apiKey := "${s}"`,
  ruby: (s) => `config = { :secret_token => '${s}' }`,
  'environment in code': (s) => `os.environ["SECRET_KEY"] = "${s}"`,
  call: (s) => `setAccessToken("${s}");`,
  'flag with a space': (s) => `tool --api-key ${s} --verbose`,
  'flag with a sign': (s) => `tool --token=${s} --verbose`,
  'argument list': (s) => JSON.stringify(['tool', '--password', s]),
  'http header': (s) => `GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${s}\r\n\r\n`,
  'curl header': (s) => `curl -H 'X-Auth-Token: ${s}' https://api.example.org/v1`,
  bearer: (s) => `Authorization: Bearer ${s}\nAccept: */*`,
  'query parameter': (s) => `GET /v1/items?key=${encodeURIComponent(s)}&page=2`,
  'url password': (s) => `postgres://ada:${encodeURIComponent(s)}@db.internal:5432/app`,
  'connection string': (s) => `Endpoint=https;AccountName=ada;AccountKey=${s};EndpointSuffix=core`,
  xml: (s) => `<server><password>${s}</password></server>`,
  'xml attribute': (s) => `<add key="ApiToken" value="${s}" />`,
  kubernetes: (s) => `env:\n  - name: DB_PASSWORD\n    value: "${s}"\n`,
  prose: (s) => `the API key is ${s} as far as I know`,
  'prose on the next line': (s) => `Your access token:\n\n    ${s}\n`,
  'markdown bold': (s) => `**Client secret:** \`${s}\``,
  'markdown table': (s) => `| API_KEY | ${s} |`,
  npmrc: (s) => `//registry.example.org/:_authToken=${s}`,
  cookie: (s) => `Cookie: theme=dark; sid=${s}; lang=en`,
  log: (s) => `level=info msg="signed in" token=${s} user=42`,
  'url-encoded body': (s) => `grant_type=password&client_secret=${encodeURIComponent(s)}&scope=all`,
};

const rows = (
  makers: Readonly<Record<string, (random: Random) => string>>,
  places: Readonly<Record<string, Write>>,
): Planted[] =>
  Object.entries(makers).flatMap(([shape, make], i) =>
    Object.entries(places).map(([place, write], j) => {
      const secret = make(createRandom(1000 * i + j));
      return { label: `${shape}, ${place}`, secret, text: write(secret) };
    }),
  );

const random = createRandom(42);
const key40 = pick(random, alnum, 40);
const key24 = pick(random, alnum, 24);
const pem = keyBlock(random, 'RSA PRIVATE KEY');
const pair = Buffer.from(`ada:${key24}`).toString('base64');

const one = (label: string, secret: string, write: Write): Planted => ({
  label,
  secret,
  text: write(secret),
});

/** Typed passwords and other special forms. */
const SPECIAL: readonly Planted[] = [
  one('short password, env', 'hunter2', (s) => `DB_PASSWORD=${s}`),
  one('word as password, env', 'swordfish', (s) => `MYSQL_ROOT_PASSWORD=${s}\n`),
  one('word as password, json', 'swordfish', (s) => `{"user":"ada","password":"${s}"}`),
  one('word as password, code', 'swordfish', (s) => `login(user="ada", password="${s}")`),
  one('digits as password, json', '80412297', (s) => `{"password":"${s}"}`),
  one('short password, yaml', 'hunter2', (s) => `db:\n  password: ${s}\n  port: 1`),
  one('password with signs, env', 'p@ss,w0rd;x!', (s) => `PASSWORD=${s}\nNEXT=1`),
  one('password with signs, yaml', 'Tr0ub4dor&3', (s) => `  password: ${s}\n`),
  one('password with signs, prose', 'Tr0ub4dor&3', (s) => `the password is ${s} for now`),
  one('password, flag', 'hunter2abc', (s) => `mysql --user ada --password ${s} app`),
  one('password, url', 'hunter2', (s) => `redis://:${s}@cache:6379/0`.replace('//:', '//ada:')),
  one('word as password, url', 'swordfish', (s) => `amqp://guest:${s}@mq`),
  one('password, curl', 'h0pk1ns~21s', (s) => `curl -s --user 'johns:${s}' https://x`),
  one('password, curl on two lines', 'yqDVtkqPE', (s) => `curl -X POST https://x \\\n  -u developer:${s}`),
  one('password, ado', 'hunter2abc', (s) => `Server=db;User Id=sa;Password=${s};Encrypt=true`),
  one('password, xml', 'hunter2', (s) => `<password>${s}</password>`),
  one('password, spring', 'hunter2abc', (s) => `spring.datasource.password=${s}\n`),
  one('password, camel case', 'hunter2abc', (s) => `dbPassword: "${s}",`),
  one('password, smtp', 'hunter2abc', (s) => `SMTP_PASS='${s}'`),
  one('password, powershell', 'hunter2abc', (s) => `$env:ADMIN_PASSWORD = "${s}"`),
  one('password, sql', 'hunter2abc', (s) => `CREATE USER ada WITH PASSWORD '${s}!Q';`),
  one('basic', pair, (s) => `Authorization: Basic ${s}`),
  one('basic in code', pair, (s) => `headers["Authorization"] = "Basic ${s}"`),
  one('basic in prose', pair, (s) => `it sent Basic ${s} twice`),
  one('bearer in curl', key40, (s) => `curl -H "Authorization: Bearer ${s}" https://x`),
  one('bearer in prose', key40, (s) => `the header was bearer ${s}, I think`),
  one('bearer in json', key40, (s) => JSON.stringify({ headers: { authorization: `Bearer ${s}` } })),
  one('token scheme', key40, (s) => `authorization: token ${s}`),
  one('authorization without scheme', key40, (s) => `Authorization: ${s}`),
  one('digest', key40, (s) => `Authorization: Digest username="ada", realm="x", response="${s}"`),
  one('aws signature', key40, (s) => `Authorization: AWS4-HMAC-SHA256 Credential=x/y, Signature=${s}`),
  one('presigned url', key40, (s) => `https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=${s}`),
  one('sas url', key40, (s) => `https://a.blob.core.windows.net/c?sv=2022&sig=${s}%3D&se=1`),
  one('oauth code', key40, (s) => `GET /callback?state=1&code=${s} HTTP/1.1`),
  one('token in a fragment', key40, (s) => `Location: https://x/cb#access_token=${s}&expires_in=1`),
  one('cookie header', key40, (s) => `Cookie: sessionid=${s}`),
  one('set-cookie header', key40, (s) => `Set-Cookie: sid=${s}; Path=/; HttpOnly`),
  one('cookie in json', key40, (s) => JSON.stringify({ headers: { cookie: `a=1; sid=${s}` } })),
  one('cookie, curl', key40, (s) => `curl --cookie "sid=${s}" https://x`),
  one('header as a pair', key40, (s) => JSON.stringify({ name: 'X-Api-Key', value: s })),
  one('token as a url user', key40, (s) => `git clone https://${s}@git.example.org/a/b.git`),
  one('uuid as api key', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', (s) => `HEROKU_API_KEY=${s}`),
  one('entra secret', `abc8Q~${pick(random, alnum, 34)}`, (s) => `value: ${s}`),
  one('account json', pem, (s) => JSON.stringify({ type: 'service_account', private_key: s })),
  one('account json in json', pem, (s) => JSON.stringify({ out: JSON.stringify({ private_key: s }) })),
  one('key block cut off', pem.slice(0, 500), (s) => `cat key.pem\n${s}`),
  one('key block with headers', pem, (s) =>
    s.replace('-\n', '-\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n'),
  ),
  one('key block as strings', pem, (s) =>
    s
      .split('\n')
      .map((l) => `"${l}\\n"`)
      .join(' +\n'),
  ),
  one('key block as a list', pem, (s) => JSON.stringify(s.split('\n'))),
  one(
    'key block in yaml',
    pem,
    (s) =>
      `key: |\n${s
        .split('\n')
        .map((l) => `    ${l}`)
        .join('\n')}\n`,
  ),
  one(
    'mnemonic',
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
    (s) => `{"mnemonic":"${s}"}`,
  ),
  one('passphrase of signs', 'Xk29!aab-7', (s) => `passphrase = "${s}"`),
  one('letters only, env', 'mysupersecretjwtkey', (s) => `JWT_SECRET=${s}\nPORT=1`),
  one('letters only, quoted env', 'correcthorsebattery', (s) => `export JWT_SECRET="${s}"`),
  one('passphrase', 'correct horse battery staple', (s) => `passphrase: "${s}"`),
];

export const PLANTED: readonly Planted[] = [
  ...rows(SHAPES, PLACES),
  ...rows(NAMELESS, NAMED_PLACES),
  ...SPECIAL,
];

/** The remains of a secret in a text: substrings that are too long to be guessed. */
export function leftOf({ secret, text }: Planted, redacted: string): readonly string[] {
  const lines = secret
    .replace(/-----[A-Z ]+-----/g, '')
    .replace('https://hooks.slack.com/services/', '')
    .split(/\n|\\n/)
    .filter((line) => line.length > 12);
  if (lines.length === 0 || secret.length < 40)
    return [secret, encodeURIComponent(secret)].filter((s) => redacted.includes(s));
  const windows = lines.flatMap((line) => {
    const from = lines.length > 1 ? 0 : Math.min(14, line.length - 14);
    return Array.from({ length: line.length - from - 11 }, (_, i) => line.slice(from + i, from + i + 12));
  });
  return windows.filter((window) => text.includes(window) && redacted.includes(window));
}
