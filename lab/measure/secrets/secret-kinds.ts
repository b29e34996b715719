/** A text as people and programs write it, with a secret in it. */
export interface SecretSample {
  readonly kind: string;
  readonly text: string;
  /** What must not be found afterwards. */
  readonly secret: string;
}

type Random = () => number;

/** A seeded generator, so that a missed secret can be produced again. */
export function createSeededRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const ALPHABETS: Readonly<Record<string, string>> = {
  a: LOWER + UPPER + DIGITS,
  l: LOWER + DIGITS,
  u: UPPER + DIGITS,
  d: DIGITS,
  h: `${DIGITS}abcdef`,
  b: `${LOWER}${UPPER}${DIGITS}+/`,
  w: `${LOWER}${UPPER}${DIGITS}_-`,
  t: `${UPPER}234567`,
};

/** A password as people make them: words, digits, a sign. */
const WORDS = 'river copper lantern maple orbit velvet thunder saddle crimson falcon ember willow'.split(' ');
const typed = (random: Random): string => {
  const word = (): string => WORDS[Math.floor(random() * WORDS.length)] ?? 'river';
  const upper = word();
  return `${upper.charAt(0).toUpperCase()}${upper.slice(1)}${word()}${10 + Math.floor(random() * 89)}`;
};

/**
 * `‹a:40›` is 40 random characters of the alphabet `a`, `‹p›` a typed password, `‹uuid›` a UUID; the secret stands between
 * « and ». None is real, and none is in this repository as text.
 */
const TEMPLATES: Readonly<Record<string, string>> = {
  'OpenAI project key': 'OpenAI answered 401 for «sk-proj-‹w:110›» again.',
  'OpenAI legacy key': 'client = OpenAI(api_key="«sk-‹a:48›»")',
  'Anthropic key': 'ANTHROPIC_API_KEY=«sk-ant-api03-‹w:93›AA»',
  'OpenRouter key': 'use «sk-or-v1-‹h:64›» for the fallback',
  'Google API key': 'https://maps.example.com/js?key=«AIzaSy‹w:33›»&v=3',
  'Google OAuth token': 'Authorization: Bearer «ya29.a0‹w:120›»',
  'Google OAuth client secret': '"client_secret":"«GOCSPX-‹w:28›»"',
  'GitHub classic token': 'git push https://«ghp_‹a:36›»@github.com/acme/app.git',
  'GitHub fine-grained token': 'gh auth login --with-token <<< «github_pat_‹a:22›_‹a:59›»',
  'GitLab token': 'PRIVATE-TOKEN: «glpat-‹w:20›»',
  'Slack bot token': 'slack.WebClient("«xoxb-‹d:12›-‹d:12›-‹a:24›»")',
  'Slack webhook': 'curl -X POST https://hooks.slack.com/services/«T‹u:10›/B‹u:10›/‹a:24›» -d @m.json',
  'Discord webhook': 'post it to https://discord.com/api/webhooks/«‹d:18›/‹w:68›»',
  'Telegram bot token': 'https://api.telegram.org/bot«1‹d:9›:AA‹w:33›»/sendMessage',
  'AWS access key id': 'the id «AKIA‹u:16›» is still active',
  'AWS secret key': '[default]\naws_secret_access_key = «‹b:40›»\n',
  'AWS CSV pair': 'Access key ID,Secret access key\nAKIA‹u:16›,«‹b:40›»\n',
  'AWS session token': 'export AWS_SESSION_TOKEN=«IQoJb3JpZ2luX2Vj‹b:200›==»',
  'Azure storage connection string':
    'DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«‹b:86›==»;EndpointSuffix=core.windows.net',
  'Azure SAS': 'https://acme.blob.core.windows.net/c/f?sv=2024-11-04&se=2027-01-01&sr=b&sp=r&sig=«‹a:43›%3D»',
  'Azure client secret': 'az login --service-principal -u app -p «‹a:3›8Q~‹a:34›» --tenant acme',
  'Azure DevOps token': 'AZURE_DEVOPS_EXT_PAT=«‹l:52›»',
  'Stripe key': "Stripe.api_key = '«sk_live_‹a:24›»'",
  'Stripe webhook secret': 'endpoint secret «whsec_‹a:32›»',
  'Twilio pair': 'TWILIO_ACCOUNT_SID=AC‹h:32›\nTWILIO_AUTH_TOKEN=«‹h:32›»',
  SendGrid: 'sg = SendGridAPIClient("«SG.‹w:22›.‹w:43›»")',
  Mailgun: 'curl --user "api:«key-‹h:32›»" https://api.mailgun.net/v3/x',
  Mailchimp: 'mailchimp key «‹h:32›-us14» works for the list',
  'npm token': '//npm.example.com/:_authToken=«npm_‹a:36›»',
  'npm password': '//registry.example.com/:_password=«‹b:24›==»\n//registry.example.com/:username=ci',
  'PyPI token': '[pypi]\nusername = __token__\npassword = «pypi-AgEIcHlwaS5vcmc‹w:150›»',
  'Hugging Face token': 'login(token="«hf_‹a:34›»")',
  'Groq key': 'GROQ «gsk_‹a:52›» rate limited',
  'xAI key': 'the header had «xai-‹a:80›»',
  'Perplexity key': '"apiKey": "«pplx-‹a:48›»"',
  'Replicate token': 'REPLICATE_API_TOKEN=«r8_‹a:37›»',
  'ElevenLabs key': 'voice key «sk_‹h:48›» please',
  'DigitalOcean token': 'doctl auth init -t «dop_v1_‹h:64›»',
  'Shopify token': 'X-Shopify-Access-Token: «shpat_‹h:32›»',
  'Vault token': 'vault login «hvs.‹w:96›»',
  'Databricks token': 'databricks configure --token «dapi‹h:32›»',
  'Doppler token': 'doppler run --token «dp.st.prd.‹a:43›»',
  'Cloudflare token': 'CLOUDFLARE_API_TOKEN: «‹w:40›»',
  'Heroku key': 'heroku key «HRKU-‹uuid›» was leaked',
  'New Relic key': 'use NRAK «NRAK-‹u:27›» to query',
  'Datadog key': 'DD_API_KEY=«‹h:32›» DD_SITE=datadoghq.eu agent run',
  'Grafana token': 'Bearer «glsa_‹a:32›_‹h:8›»',
  'Sentry token': 'sentry-cli --auth-token «sntrys_‹b:80›» releases new',
  'Docker Hub token': 'dckr: «dckr_pat_‹w:27›»',
  'Atlassian token': 'JIRA «ATATT3xFfGF0‹w:180›=‹u:8›»',
  'Airtable token': 'airtable uses «pat‹a:14›.‹h:64›» now',
  'Asana token': 'asana: «1/‹d:16›:‹h:32›» is the token',
  'Dropbox token': 'dbx = Dropbox("«sl.u.‹w:130›»")',
  'Linear key': 'linear «lin_api_‹a:40›»',
  'Notion token': 'notion «ntn_‹a:46›»',
  'Figma token': 'X-Figma-Token: «figd_‹w:40›»',
  'Tailscale key': 'tailscale up --authkey «tskey-auth-‹a:16›-‹a:32›»',
  'CircleCI token': 'circleci setup --token «CCIPAT_‹a:22›_‹h:40›»',
  'Buildkite token': 'buildkite «bkua_‹h:40›» revoked?',
  'Terraform Cloud token': 'credentials "app.terraform.io" {\n  token = "«‹a:14›.atlasv1.‹w:67›»"\n}',
  'Fly token': 'FLY_API_TOKEN="FlyV1 «fm2_‹b:120›»"',
  'Square token': 'square «EAAA‹w:60›» expired',
  'Braintree token': 'gateway «access_token$production$‹l:16›$‹h:32›»',
  'Mapbox secret token': 'mapboxgl.accessToken = "«sk.eyJ1Ijoi‹w:60›.‹w:22›»"',
  'Facebook token': 'graph.facebook.com/me?access_token=«EAAC‹a:150›»',
  'Twitter bearer': 'bearer «AAAAAAAAAAAAAAAAAAAAA‹a:50›%3D‹a:40›»',
  'Artifactory key': 'jfrog «AKCp8‹a:64›» for publishing',
  'NuGet key': 'dotnet nuget push *.nupkg -k «oy2‹l:43›» -s nuget',
  'Alibaba pair': 'AccessKeyId: LTAI5t‹a:18›\nAccessKeySecret: «‹a:30›»',
  '1Password service account': 'OP_SERVICE_ACCOUNT_TOKEN=«ops_eyJ‹w:300›»',
  'EasyPost key': 'curl -u "«EZAK‹a:54›»:" https://api.example.com/v2',
  'Cloudflare origin key': 'origin «v1.0-‹h:24›-‹h:146›» expires',
  'OpenShift token': 'oc whoami -t prints «sha256~‹w:43›» here',
  '1Password secret key': 'my key is «A3-‹u:6›-‹u:6›-‹u:5›-‹u:5›-‹u:5›-‹u:5›» from the kit',
  'XML element on lines of its own': '<deployToken>\n    «‹l:14›»\n</deployToken>',
  'Contentful token': 'contentful «CFPAT-‹w:43›» management',
  'Supabase service key': 'SUPABASE_SERVICE_ROLE_KEY=«eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.‹w:120›.‹w:43›»',
  'JSON web token': 'the cookie held «eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJ‹w:90›.‹w:340›» after login',
  'age key': 'AGE «AGE-SECRET-KEY-1‹u:58›»',
  'WireGuard key': '[Interface]\nAddress = 10.0.0.2/32\nPrivateKey = «‹b:43›=»\n',
  'kubeconfig client key': 'users:\n- name: admin\n  user:\n    client-key-data: «‹b:400›»\n',
  'kubeconfig token': 'users:\n- name: ci\n  user:\n    token: «‹w:120›»\n',
  'Kubernetes secret': 'kind: Secret\ndata:\n  password: «‹b:24›==»\n',
  netrc: 'machine api.example.com login ada password «‹p›»',
  pgpass: 'db.internal:5432:app:ada:«‹p›»',
  'pgpass with stars': '*:*:*:replicator:«‹a:16›»\n',
  'docker config': '{"auths":{"https://index.docker.io/v1/":{"auth":"«‹b:40›=»"}}}',
  htpasswd: 'ada:«$apr1$‹a:8›$‹a:22›»',
  'shadow line': 'root:«$6$‹a:16›$‹a:86›»:19800:0:99999:7:::',
  'bcrypt hash': "INSERT INTO users VALUES (1, 'ada', '«$2b$12$‹a:53›»');",
  'basic-auth URL': 'git remote add o https://ada:«‹p›»@git.example.com/a.git',
  'MongoDB URI': 'mongosh "mongodb+srv://app:«‹p›»@cluster0.ab1cd.mongodb.net/shop"',
  'Redis URL without a user': 'REDIS_URL=redis://:«‹p›»@cache:6379/0',
  'Postgres DSN': 'dsn = "host=db user=app password=«‹p›» dbname=shop sslmode=disable"',
  'JDBC URL': 'jdbc:mysql://db:3306/shop?user=app&password=«‹p›»&useSSL=true',
  'ADO connection string': 'Server=db;Database=shop;User Id=sa;Password=«‹p›»;Encrypt=true',
  'ODBC string': 'DRIVER={ODBC Driver 18};SERVER=db;UID=sa;PWD=«‹p›»',
  cookie: 'Cookie: theme=dark; connect.sid=«s%3A‹a:32›.‹a:43›»',
  'mysql -p': 'mysql -h db -u root -p«‹p›» shop < dump.sql',
  'mysqldump -p': 'mysqldump -uroot -p«‹p›» --all-databases > all.sql',
  'psql with a variable': 'PGPASSWORD=«‹p›» psql -h db -U app shop',
  'redis-cli -a': 'redis-cli -h cache -a «‹p›» ping',
  'sshpass -p': 'sshpass -p «‹p›» ssh -o StrictHostKeyChecking=no deploy@host uptime',
  'sshpass glued': "sshpass -p'«‹p›»' scp build.tgz deploy@host:/srv",
  'docker login -p': 'docker login -u ci -p «‹p›» registry.example.com',
  'helm --set': 'helm upgrade app ./chart --set db.auth.password=«‹p›» --wait',
  'kubectl literal': 'kubectl create secret generic db --from-literal=password=«‹p›»',
  'curl -u': 'curl -su ada:«‹p›» https://api.example.com/v1',
  'wget password': 'wget --user ada --password «‹p›» https://files.example.com/a.tgz',
  'ldapsearch -w': 'ldapsearch -x -D cn=admin,dc=example,dc=com -w «‹p›» -b dc=example,dc=com',
  'openssl pass:': 'openssl enc -d -aes-256-cbc -in a.enc -pass pass:«‹p›» -out a.txt',
  'mongo -p': 'mongosh --host db -u admin -p «‹p›» --authenticationDatabase admin',
  'sqlcmd -P': 'sqlcmd -S db -U sa -P «‹p›» -Q "select 1"',
  'sqlplus login': 'sqlplus scott/«‹p›»@orcl @run.sql',
  'smbclient user%password': 'smbclient //files/share -U ada%«‹p›» -c ls',
  'lftp user,password': 'lftp -u ada,«‹p›» sftp://files.example.com',
  'zip -P': 'zip -P «‹p›» -r backup.zip data/',
  '7z -p': '7z a -p«‹p›» backup.7z data/',
  'gpg passphrase': 'gpg --batch --passphrase «‹p›» -d a.gpg',
  'keytool storepass': 'keytool -list -keystore app.jks -storepass «‹p›»',
  'Java system property': 'java -Djavax.net.ssl.keyStorePassword=«‹p›» -jar app.jar',
  'net use': 'net use Z: \\\\files\\share /user:ACME\\ada «‹p›»',
  'net user': 'net user deploy «‹p›» /add',
  cmdkey: 'cmdkey /add:files /user:ada /pass:«‹p›»',
  'xfreerdp /p:': 'xfreerdp /v:host /u:ada /p:«‹p›» +clipboard',
  'ConvertTo-SecureString': '$p = ConvertTo-SecureString "«‹p›»" -AsPlainText -Force',
  'ConvertTo-SecureString with a name': "ConvertTo-SecureString -String '«‹p›»' -AsPlainText -Force",
  'echo into sudo': 'echo «‹p›» | sudo -S systemctl restart app',
  chpasswd: "echo 'deploy:«‹p›»' | chpasswd",
  'htpasswd -b': 'htpasswd -b -c .htpasswd ada «‹p›»',
  'SQL identified by': "CREATE USER 'app'@'%' IDENTIFIED BY '«‹p›»';",
  'SQL with password': "ALTER ROLE app WITH LOGIN PASSWORD '«‹p›»';",
  'Wi-Fi key': 'network={\n  ssid="home"\n  psk="«‹p›»"\n}',
  'nmcli password': 'nmcli dev wifi connect home password «‹p›»',
  'Dockerfile ENV': 'FROM node:22\nENV DB_PASSWORD=«‹p›» NODE_ENV=production',
  'Dockerfile ENV with a space': 'ENV SESSION_SECRET «‹a:32›»\n',
  'Terraform variable': 'db_password = "«‹p›»"\nregion = "eu-west-1"',
  'YAML password': 'database:\n  user: app\n  password: «‹p›»\n',
  'TOML token': '[deploy]\napi_token = "«‹a:32›»"',
  'INI password': '[mail]\nsmtp_password=«‹p›»\n',
  'XML password': '<server><id>nexus</id><username>ci</username><password>«‹p›»</password></server>',
  'XML attribute password': '<property name="password" value="«‹p›»"/>',
  'JSON password': '{"user":"ada","password":"«‹p›»","remember":true}',
  'CI log': '##[debug] env SONAR_TOKEN=squ_… DEPLOY_TOKEN=«‹a:40›» loaded',
  'export with a token': 'export INTERNAL_TOKEN=«‹a:32›»; make deploy',
  'password= in a sentence': 'I could log in with user=ada password=«‹p›» yesterday, now it says 403.',
  'password: in a sentence': 'Login with user ada, password: «‹p›», then open the dashboard.',
  'English prose, is': 'The password is «‹p›» for the staging box.',
  'English prose, word password': 'the admin password is «hunter2correct» and nobody changed it',
  'English prose, api key': 'my api key: «‹a:32›» please test with it',
  'English prose, use': 'log in as ada with the password «‹p›» and run it',
  'English prose, passphrase': 'The passphrase for the backup is «‹p›».',
  'TypeScript constant with a type': 'export const apiToken: string = "«‹a:32›»";',
  'Python parameter with a type': 'def connect(host: str, api_key: str = "«‹a:32›»"):',
  'Kotlin property with a type': 'private val dbPassword: String? = "«‹p›»"',
  'Rust constant with a type': 'pub const API_KEY: &\'static str = "«‹a:32›»";',
  'Go variable with a type': 'var clientSecret string = "«‹a:32›»"',
  'make, conditional': 'DEPLOY_TOKEN ?= «‹a:32›»\nall: build',
  'make, POSIX': 'DEPLOY_TOKEN ::= «‹a:32›»\nall: build',
  'English prose, PIN': 'PIN «‹d:6›» for the alarm, in case you need it',
  'English prose, PIN is': 'My pin is «‹d:4›».',
  'English prose, words as a passphrase': 'my passphrase: «correct horse battery staple»',
  'English prose, pass': 'my login is ada and my pass is «‹p›» thanks',
  'German prose': 'Das Passwort lautet «‹p›», bitte nicht weitergeben.',
  'German prose, Kennwort': 'Mein Kennwort ist «‹p›» und der Benutzer ist ada.',
  'German prose, Zugangsdaten': 'Zugangsdaten: ada / «‹p›»',
  'French prose': 'Le mot de passe est «‹p›» pour le serveur.',
  'French prose, colon': 'mot de passe : «‹p›»',
  'Spanish prose': 'La contraseña es «‹p›» para entrar.',
  'Spanish prose, colon': 'Contraseña: «‹p›»',
  'Italian prose': 'La password è «‹p›» per il server.',
  'Portuguese prose': 'A senha é «‹p›» no servidor.',
  'Chinese prose': '服务器的密码是 «‹p›» 请登录。',
  'credentials with a slash': 'credentials: ada / «‹p›»',
  'TOTP seed': 'otpauth://totp/ACME:ada?secret=«‹t:32›»&issuer=ACME&digits=6',
  'TOTP seed in prose': 'My 2FA secret: «‹t:16›»',
  'recovery codes': 'Recovery codes:\n1. «‹l:5›-‹l:5›»\n2. ‹l:5›-‹l:5›\n3. ‹l:5›-‹l:5›\n',
  'calendar address':
    'https://calendar.google.com/calendar/ical/ada%40example.com/private-«‹h:32›»/basic.ics',
  'RSA key':
    '«-----BEGIN RSA PRIVATE KEY-----\n‹b:64›\n‹b:64›\n‹b:64›\n‹b:64›\n‹b:40›==\n-----END RSA PRIVATE KEY-----»',
  'OpenSSH key':
    '«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA‹b:50›\n‹b:70›\n‹b:70›\n‹b:30›=\n-----END OPENSSH PRIVATE KEY-----»',
  'PGP key':
    '«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQVYBG‹b:58›\n‹b:64›\n‹b:64›\n=ab1C\n-----END PGP PRIVATE KEY BLOCK-----»',
  'PuTTY key':
    'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ada\nPublic-Lines: 2\nAAAAC3NzaC1lZDI1NTE5AAAAIO‹b:38›\n‹b:20›\nPrivate-Lines: 1\n«‹b:47›=»\nPrivate-MAC: ‹h:64›\n',
  'service account JSON':
    '{"type":"service_account","private_key_id":"‹h:40›","private_key":"«-----BEGIN PRIVATE KEY-----\\n‹b:64›\\n‹b:64›\\n‹b:64›\\n-----END PRIVATE KEY-----\\n»"}',
};

type Encode = (text: string) => string;
const base64: Encode = (text) => Buffer.from(text).toString('base64');
const percent: Encode = (text) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** The same secrets in another alphabet: what is inside, how it is encoded, and what stands around it. */
const WRAPPED: readonly (readonly [kind: string, inner: string, encode: Encode, around: string])[] = [
  ['base64 of a setting', 'DB_USER=app\nDB_PASSWORD=‹p›\n', base64, 'echo «@» | base64 -d > .env'],
  ['base64 of a GitHub token', 'token ghp_‹a:36›', base64, 'stored as «@» in the job'],
  ['base64 of a JSON key', '{"user":"ada","api_key":"‹a:32›"}', base64, '"payload":"«@»"'],
  [
    'base64url of a JSON key',
    '{"user":"ada?>","client_secret":"‹a:32›"}',
    (text) => Buffer.from(text).toString('base64url'),
    'state=«@»&x=1',
  ],
  [
    'base64 of a private key',
    '-----BEGIN PRIVATE KEY-----\n‹b:64›\n‹b:64›\n‹b:64›\n-----END PRIVATE KEY-----\n',
    base64,
    'TLS_KEY_B64=«@»',
  ],
  ['base64 of a connection string', 'postgres://app:‹p›@db:5432/shop', base64, 'data:\n  url: «@»\n'],
  ['base64 of prose', 'the admin password is ‹p› on every box', base64, 'decode this: «@»'],
  ['base64 of base64', 'AWS_SECRET_ACCESS_KEY=‹b:40›', (text) => base64(base64(text)), 'nested «@» twice'],
  [
    'base64 of URL-encoding',
    'grant=x&client_secret=‹a:32›',
    (text) => base64(percent(text)),
    'body «@» sent',
  ],
  [
    'base64 in lines',
    'export API_TOKEN=‹a:40›\nexport OTHER_SETTING=some-plain-value\n',
    (text) => base64(text).replace(/.{40}/g, '$&\n'),
    'data: |\n«@»\nend',
  ],
  ['hex of a token', 'token=ghp_‹a:36›', (text) => Buffer.from(text).toString('hex'), 'xxd -r -p <<< «@»'],
  [
    'hex of a password',
    'password=‹p›!',
    (text) => Buffer.from(text).toString('hex').toUpperCase(),
    'blob 0x«@» done',
  ],
  ['URL-encoding of a key', 'api_key=‹a:32›', percent, 'GET /log?m=«@» 200'],
  ['URL-encoding of JSON', '{"password":"‹p›"}', encodeURIComponent, 'GET /login?body=«@» 302'],
  ['data URL', '{"access_token":"‹a:40›"}', base64, 'data:application/json;base64,«@»'],
  [
    'PowerShell encoded command',
    '$password = "‹p›"; Connect-Host',
    (text) => Buffer.from(text, 'utf16le').toString('base64'),
    'powershell -EncodedCommand «@»',
  ],
];

/** One sample of every kind, the same for the same seed. */
export function makeSecretSamples(seed: number): readonly SecretSample[] {
  const plain = Object.entries(TEMPLATES).map(([kind, template], i) =>
    cut(kind, fill(template, createSeededRandom(seed * 1000 + i))),
  );
  const wrapped = WRAPPED.map(([kind, inner, encode, around], i) => {
    const encoded = encode(fill(inner, createSeededRandom(seed * 1000 + 500 + i)));
    return cut(
      kind,
      around.replace('@', () => encoded),
    );
  });
  return [...plain, ...wrapped];
}

const fill = (template: string, random: Random): string =>
  template.replace(
    /‹(?:([aludhbwt]):(\d+)|(p)|(uuid))›/g,
    (_, alphabet: string, length: string, password: string) => {
      if (password !== undefined) return typed(random);
      if (alphabet === undefined) return [8, 4, 4, 4, 12].map((n) => pick(random, 'h', n)).join('-');
      return pick(random, alphabet, Number(length));
    },
  );

function pick(random: Random, alphabet: string, length: number): string {
  const from = ALPHABETS[alphabet] ?? '';
  const picked = Array.from({ length }, () => from[Math.floor(random() * from.length)] ?? '').join('');
  // A short random text without a digit or a letter is not what such keys look like.
  return length >= 8 && from.includes('7') && !/\d/.test(picked) ? `${picked.slice(0, -1)}7` : picked;
}

function cut(kind: string, marked: string): SecretSample {
  const [before = '', secret = '', after = ''] = marked.split(/[«»]/);
  return { kind, secret, text: before + secret + after };
}
