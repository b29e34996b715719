const DEFAULT_PORT = 11434;

/**
 * The server in `OLLAMA_HOST`, as `scheme://host:port[/path]` without a trailing slash. The variable may contain `host`,
 * `host:port`, `:port` or a URL; `0.0.0.0`, on which servers listen, becomes loopback. As in Ollama itself, a URL
 * without a port means the scheme's default port.
 */
export function parseOllamaHost(value: string | undefined, defaultPort = DEFAULT_PORT): string {
  const text = (value ?? '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  const fallback = `http://127.0.0.1:${defaultPort}`;
  const scheme = /^(https?):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (text === '' || (scheme === undefined && text.includes('://'))) return fallback;
  const rest = scheme === undefined ? text : text.slice(scheme.length + 3);
  const bracketed = isBareIpv6(rest) ? `[${rest}]` : rest;
  const address = `${scheme ?? 'http'}://${bracketed.startsWith(':') ? `127.0.0.1${bracketed}` : bracketed}`;
  if (!URL.canParse(address)) return fallback;
  const url = new URL(address);
  const host = CALLABLE.get(url.hostname) ?? url.hostname;
  const port = portOf(url, rest, scheme === undefined ? defaultPort : undefined);
  return `${url.protocol}//${host}${port}${withoutTrailingSlash(url.pathname)}`;
}

const CALLABLE: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['[::]', '[::1]'],
]);

const isBareIpv6 = (text: string): boolean => /^[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*$/i.test(text);

/** `URL` drops a scheme's default port, so `host:80` and `host` must be distinguished in the text. */
function portOf(url: URL, rest: string, defaultPort: number | undefined): string {
  if (url.port !== '') return `:${url.port}`;
  const written = /:\d+(\/|$)/.test(rest) && !isBareIpv6(rest);
  return written || defaultPort === undefined ? '' : `:${defaultPort}`;
}

const withoutTrailingSlash = (path: string): string => path.replace(/\/{1,64}$/, '');
