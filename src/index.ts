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
export type { Pipeline, StageContext } from './pipeline/pipeline.ts';
export { createPipeline } from './pipeline/pipeline.ts';
export type { StageOutcome } from './pipeline/stage-outcome.ts';
export { createHttpReport } from './pipeline/stage-report.ts';
