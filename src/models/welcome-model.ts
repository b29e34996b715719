import type { ChatModel } from '../core/chat.ts';
import { createScriptedModel } from './scripted-model.ts';

const WELCOME =
  'Hello! Instar is running and your agent has reached it, but no model provider is configured yet, so this reply is ' +
  'scripted. To talk to a real model, run `instar init`; or set OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama, ' +
  'and start Instar again.';

/** Answers when no provider is configured: it says so, explains what to do, and calls no tools. */
export const createWelcomeModel = (): ChatModel => createScriptedModel(() => WELCOME, 'instar/welcome');
