/** Commands and settings that a person reviews before a lesson may contain them. */
const COMMANDS: readonly (readonly [why: string, pattern: RegExp])[] = [
  [
    'a command that fetches from the network',
    /(?:^|[\s`"'(|;&$])(?:curl|wget|aria2c|httpie|lynx|nc|ncat|netcat|telnet|socat|ftp|sftp|scp|rsync|ssh|sshpass|iwr|irm|invoke-webrequest|invoke-restmethod|start-bitstransfer|certutil|bitsadmin|dig|nslookup|ngrok|cloudflared)(?=\s+[-"'$`\w./@~]|`|$)(?!\s+(?:is|are|was|and|or|to|for|may|can|does|with|commands?|output)\b)/gm,
  ],
  [
    'a pipe into an interpreter',
    /[|;&]\s*(?:sudo\s+)?(?:ba|z|da|k|fi)?sh\b|\|\s*(?:python\d?|perl|ruby|node|php|iex|powershell|pwsh|cmd)\b|<\(\s*(?:curl|wget)/g,
  ],
  [
    'code that is run from text',
    /\beval\s*[("'$`]|\bexec\s*\(|\biex\b|invoke-expression|\bsource\s+<\(|\b(?:ba|z)?sh\s+-c\b|\b(?:python\d?|perl|ruby|node|php)\s+-[ce]\b|-enc(?:odedcommand)?\s|\bos\.system\s*\(|shell\s?=\s?true|pickle\.loads?\b|\bdeserialize untrusted/g,
  ],
  [
    'a decoder of hidden text',
    /\bbase64\s+(?:-d|-di|--decode)\b|\batob\s*\(|\bb64decode\b|frombase64string|\bxxd\s+-r\b|\bopenssl\s+(?:enc|base64)\b|\buudecode\b|\bfromcharcode\b/g,
  ],
  [
    'a command that deletes',
    /\brm\s+-[a-z]*[rf]|\brmdir\s+\/s|\bdel\s+\/[sfq]|remove-item\b.{0,60}-recurse|\bshred\b\s|\bmkfs|\bdd\s+if=|\bformat\s+[a-z]:|\bgit\s+clean\s+-[a-z]*f|\bgit\s+reset\s+--hard|\bgit\s+(?:checkout|restore)\s+(?:--\s+)?\.(?=\s|$|`)|\bfind\b.{0,80}-delete\b|\btruncate\s+-s|\bdrop\s+(?:table|database|schema)\b|\bdelete\s+from\s+\w+\s*(?:;|`|$)|\btruncate\s+table\b|\bkubectl\s+delete\b|\bterraform\s+destroy\b|\bdocker\s+(?:system|volume)\s+(?:prune|rm)\b|\bflushall\b|shutil\.rmtree|\brimraf\b/g,
  ],
  [
    'a command that rewrites what others have',
    /\bpush\b.{0,40}(?:\s--force\b(?!-with-lease)|\s-f\b)|\bfilter-(?:branch|repo)\b|\bgit\s+config\s+(?:--global|--system)|\bgit\s+remote\s+(?:add|set-url)\b/g,
  ],
  [
    'a command with more rights',
    /(?:^|[\s`"'(|;&])(?:sudo|doas|su\s+-|runas)\s|\bchmod\s+(?:-r\s+)?(?:[0-7]?777|[0-7]?666|a\+|o\+w|\+s|u\+s)|\bchown\s+-r\b|\bsetcap\b|\busermod\b|\buseradd\b|\bnet\s+user\b|--privileged\b|\bcap_add\b|set-executionpolicy|\bvisudo\b|\bxattr\s+-[a-z]*d/g,
  ],
  [
    'a command that stays running or comes back',
    /\bcrontab\b|\bnohup\b|\bsystemctl\s+(?:enable|disable|stop|mask)|\blaunchctl\b|\bschtasks\b|\breg\s+add\b|\bsc\s+(?:create|config)\b|\bsetx\b|\bdisown\b|\bat\s+now\b|\bhistory\s+-c\b|\bunset\s+histfile|\bkill(?:all)?\s+-9|\bpkill\b/g,
  ],
  [
    'a setting that lowers a protection',
    /verify\s?=\s?false|rejectunauthorized|node_tls_reject_unauthorized|--insecure\b|--no-verify\b|--no-gpg-sign\b|--no-check-certificate|--allow-unauthenticated|--trusted-host\b|stricthostkeychecking|sslverify\b|pythonhttpsverify|insecureskipverify|--disable-(?:web-security|gpu-sandbox|setuid-sandbox)|--no-sandbox\b|--dangerously|--allow-all\b|--unsafe|--ignore-scripts=false|access-control-allow-origin['"]?\s?[:,]\s?['"]?\*|\b0\.0\.0\.0\b|public-read|allusers\b|\bbypass\b.{0,20}\bcsp\b|csrf_exempt|\becb\b mode|setenforce\s+0|ufw\s+disable|iptables\s+-f|\bverify_signature['"]?\s?:\s?false|alg['"]?\s?:\s?['"]?none|check_hostname\s?=\s?false|cert_none|-k\s+https?:/g,
  ],
  [
    'a change of where packages or models come from',
    /(?:--index-url|--extra-index-url|--registry|--find-links|index-url|registry\s?=|goproxy|pip_index_url|npm_config_registry|add-apt-repository|apt-key|\b(?:openai|anthropic|api)_base(?:_url)?\b|base_url\s?=|https?_proxy\b|all_proxy\b)/g,
  ],
];

const INSTALL =
  /\b(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|gem|go|brew|apt(?:-get)?|apk|dnf|yum|conda|mamba|composer|dotnet|choco|winget|npx|uvx|bunx|code)\s+(?:(?:global|pip|tool|package)\s+)?(?:(?:install|add|i|get|require|exec|dlx|--install-extension)\s{1,4})?(?:-[\w=-]{0,40}\s{1,4}){0,8}([@a-z0-9][\w@./:+-]{1,120})/g;
const RUNNERS = /\b(?:npx|uvx|bunx)\s/;
/** Development tools that a project usually depends on. */
const PROJECT_TOOLS =
  /^(?:tsc|vitest|jest|eslint|prettier|biome|vite|webpack|playwright|cypress|mocha|nx|turbo|next|prisma|ruff|mypy|black|pytest|knip|tsx)$/;
const INSTALLS = /\s(?:install|add|i|get|require|exec|dlx|--install-extension)\s/;
/** Words after an install command that name no package. */
const NO_PACKAGE =
  /^(?:-r$|\.|requirements[\w.-]*\.txt$|[\w./-]*\.(?:txt|toml|lock|ya?ml|json)$|\/|(?:un)?install$|run$|add$|get$|test$|the$|and$|or$|to$|in$|again$|before$|after$|it$|them$|all$|its?$|what|from$|every|new$|if$|with$|packages?$|dependenc|instead$|only$|once$|any$)/;

export interface Command {
  readonly why: string;
  readonly text: string;
  readonly index: number;
}

/** The commands and settings in a normalized text that can do harm, each with the reason. */
export function findCommands(folded: string): readonly Command[] {
  const found: Command[] = [];
  for (const [why, pattern] of COMMANDS) {
    for (const match of folded.matchAll(pattern))
      found.push({ why, text: around(folded, match), index: match.index });
  }
  for (const match of folded.matchAll(INSTALL)) {
    const [whole, name = ''] = match;
    if (!INSTALLS.test(`${whole} `) && !RUNNERS.test(whole)) continue;
    if (NO_PACKAGE.test(name) || PROJECT_TOOLS.test(name)) continue;
    found.push({ why: 'a package to be installed', text: name.replace(/[.,;:]+$/, ''), index: match.index });
  }
  return found;
}

/** A match with the surrounding part of its line. */
function around(text: string, { index, 0: { length } }: RegExpExecArray): string {
  const from = Math.max(text.lastIndexOf('\n', index) + 1, index - 20);
  const end = text.indexOf('\n', index + length);
  return text.slice(from, Math.min(end < 0 ? text.length : end, index + length + 30)).trim();
}
