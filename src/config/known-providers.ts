import { findBaseUrlFault, isLoopbackHost, PLAIN_HTTP_FAULT, sendsKeyInClear } from './address.ts';
import type { Problem } from './config-error.ts';
import type { ProviderEntry } from './schema.ts';

interface KnownProvider {
  readonly name: string;
  /** The name for display. */
  readonly title: string;
  readonly wire: ProviderEntry['wire'];
  readonly baseUrl: string;
  /** The environment variable that its users already have. */
  readonly keyEnv: string;
  /** The environment variable for another base URL, and the suffix to add to its value. */
  readonly baseUrlEnv?: { readonly name: string; readonly suffix: string };
  /** The alias `default` when the config has none. */
  readonly defaultModel?: string;
  /** Its agents have their own login, which can pass through. */
  readonly passThrough?: true;
}

/** Providers that need only a key in the environment, in the order in which `init` offers them. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  {
    name: 'openai',
    title: 'OpenAI',
    wire: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    keyEnv: 'OPENAI_API_KEY',
    baseUrlEnv: { name: 'OPENAI_BASE_URL', suffix: '' },
    defaultModel: 'gpt-5.2',
    passThrough: true,
  },
  {
    name: 'anthropic',
    title: 'Anthropic',
    wire: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyEnv: 'ANTHROPIC_API_KEY',
    baseUrlEnv: { name: 'ANTHROPIC_BASE_URL', suffix: '/v1' },
    defaultModel: 'claude-sonnet-5',
    passThrough: true,
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    wire: ['openai-chat', 'anthropic'],
    baseUrl: 'https://openrouter.ai/api/v1',
    keyEnv: 'OPENROUTER_API_KEY',
    defaultModel: 'openrouter/auto',
  },
  {
    name: 'gemini',
    title: 'Google Gemini',
    wire: 'openai-chat',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyEnv: 'GEMINI_API_KEY',
  },
  {
    name: 'groq',
    title: 'Groq',
    wire: 'openai-chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyEnv: 'GROQ_API_KEY',
  },
  {
    name: 'mistral',
    title: 'Mistral',
    wire: 'openai-chat',
    baseUrl: 'https://api.mistral.ai/v1',
    keyEnv: 'MISTRAL_API_KEY',
  },
  {
    name: 'deepseek',
    title: 'DeepSeek',
    wire: 'openai-chat',
    baseUrl: 'https://api.deepseek.com/v1',
    keyEnv: 'DEEPSEEK_API_KEY',
  },
  { name: 'xai', title: 'xAI', wire: 'openai', baseUrl: 'https://api.x.ai/v1', keyEnv: 'XAI_API_KEY' },
];

/** Model servers on this machine: discovered while they run, so an alias may name them without an entry. */
export const LOCAL_PROVIDER_NAMES: readonly string[] = ['ollama', 'lmstudio'];

interface EnvironmentProviders {
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  /** `provider/model` for the alias `default`, from the first provider with a default model. */
  readonly defaultRef: string | undefined;
  readonly notes: readonly string[];
  readonly problems: readonly Problem[];
}

/** The providers whose variables are set; used when the config names none. */
export function environmentProviders(env: NodeJS.ProcessEnv, ownPort: number): EnvironmentProviders {
  const providers: Record<string, ProviderEntry> = {};
  const notes: string[] = [];
  const problems: Problem[] = [];
  for (const known of KNOWN_PROVIDERS) {
    if (!env[known.keyEnv]?.trim()) continue;
    const moved = movedBaseUrl(known, env);
    let baseUrl = moved ?? known.baseUrl;
    if (moved !== undefined && isOwnAddress(moved, ownPort)) {
      baseUrl = known.baseUrl;
      notes.push(`${known.baseUrlEnv?.name} points at Instar itself; ${known.name} is called at ${baseUrl}`);
    }
    const fault =
      findBaseUrlFault(baseUrl) ?? (sendsKeyInClear(baseUrl, true) ? PLAIN_HTTP_FAULT : undefined);
    if (fault) problems.push({ path: known.baseUrlEnv?.name ?? known.name, ...fault });
    else providers[known.name] = { wire: known.wire, baseUrl, keyEnv: known.keyEnv };
  }
  const first = KNOWN_PROVIDERS.find(
    ({ name, defaultModel }) => name in providers && defaultModel !== undefined,
  );
  return { providers, defaultRef: first && `${first.name}/${first.defaultModel}`, notes, problems };
}

function movedBaseUrl(known: KnownProvider, env: NodeJS.ProcessEnv): string | undefined {
  const given = known.baseUrlEnv && env[known.baseUrlEnv.name]?.trim().replace(/\/+$/, '');
  if (!known.baseUrlEnv || !given) return undefined;
  const { suffix } = known.baseUrlEnv;
  return given.endsWith(suffix) ? given : `${given}${suffix}`;
}

/** The environment of a connected agent points at Instar: using that address would make Instar call itself. */
function isOwnAddress(text: string, ownPort: number): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return port === ownPort && isLoopbackHost(url.hostname);
}
