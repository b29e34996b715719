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
export type { Pipeline } from './pipeline/pipeline.ts';
export { createPipeline } from './pipeline/pipeline.ts';
export { createHttpReport } from './pipeline/report-over-http.ts';
export type { StageContext } from './pipeline/stage-context.ts';
export type { StageOutcome } from './pipeline/stage-outcome.ts';
