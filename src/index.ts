export type {
  ChatEvent,
  ChatMessage,
  ChatModel,
  ChatOptions,
  ChatRequest,
  Tool,
  Usage,
} from './core/chat.ts';
export type { Failure } from './core/failure.ts';
