import type { ProviderEntry } from './schema.ts';

export interface KnownProvider {
  readonly name: string;
  /** As people call it. */
  readonly title: string;
  readonly wire: ProviderEntry['wire'];
  readonly baseUrl: string;
  /** The variable its users already have. */
  readonly keyEnv: string;
  /** The variable that moves its base URL, and what that URL lacks to be one of ours. */
  readonly baseUrlEnv?: { readonly name: string; readonly suffix: string };
  /** What `default` means when nobody said. */
  readonly usualModel?: string;
  /** Agents that log in by themselves: their own credentials can pass through. */
  readonly passThrough?: true;
}

/** Providers that need nothing but the key their users already have, in the order they are offered. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  {
    name: 'openai',
    title: 'OpenAI',
    wire: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    keyEnv: 'OPENAI_API_KEY',
    baseUrlEnv: { name: 'OPENAI_BASE_URL', suffix: '' },
    usualModel: 'gpt-5.2',
    passThrough: true,
  },
  {
    name: 'anthropic',
    title: 'Anthropic',
    wire: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyEnv: 'ANTHROPIC_API_KEY',
    baseUrlEnv: { name: 'ANTHROPIC_BASE_URL', suffix: '/v1' },
    usualModel: 'claude-sonnet-5',
    passThrough: true,
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    wire: ['openai-chat', 'anthropic'],
    baseUrl: 'https://openrouter.ai/api/v1',
    keyEnv: 'OPENROUTER_API_KEY',
    usualModel: 'openrouter/auto',
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

/** Model servers on one's own machine: found when they run, so an alias may name them without an entry. */
export const LOCAL_PROVIDER_NAMES: readonly string[] = ['ollama', 'lmstudio'];
