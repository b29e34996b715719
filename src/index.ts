import type { Instar, OpenOptions } from './api/instar.ts';

export type {
  Episode,
  EpisodeAttempt,
  EpisodeEnd,
  Instar,
  InstarContext,
  InstarErrorCode,
  InstarEvent,
  InstarFeedback,
  InstarOverlay,
  InstarScope,
  InstarSubject,
  OpenOptions,
} from './api/instar.ts';
export { InstarError } from './api/instar.ts';
export type { LibraryGrade, LibraryTask, LibraryVerify, PracticeOptions } from './api/practice-options.ts';
export type { FlowCall } from './base/flow-calls.ts';
export type {
  ChatEvent,
  ChatMessage,
  ChatModel,
  ChatOptions,
  ChatRequest,
  Tool,
  Usage,
} from './core/chat.ts';
export type { EpisodeOutcome } from './core/evidence.ts';
export type { Failure } from './core/failure.ts';
export type { LessonKind, LessonState } from './core/lesson.ts';
export type { FlowArgument, FlowStep, OverlayPayload } from './core/overlay.ts';
export type { PolicyAnswer, PolicyRequest, PracticePolicy } from './learn/practice/function-attempts.ts';
export type { PracticeEvent, PracticeResult } from './learn/practice/practice-input.ts';
export type { EpisodeLearned, EpisodeSummary, ListedLesson, OfferedFlow } from './mcp/episode-api.ts';
export type { Pipeline, StageContext } from './pipeline/pipeline.ts';
export { createPipeline } from './pipeline/pipeline.ts';
export type { PipelineFigures } from './pipeline/pipeline-figures.ts';
export type { StageOutcome } from './pipeline/stage-outcome.ts';
export { createHttpReport } from './pipeline/stage-report.ts';

/**
 * Opens a home, and creates it if it is missing. A text is the home folder. Cheap: the store, the sentence model and, with
 * `learn`, the daemon are loaded when they are needed. Rejects with `InstarError`: `config` for a home that cannot be used,
 * and with `learn` also `home-in-use`.
 */
export async function open(home?: string | OpenOptions): Promise<Instar> {
  const { openInstar } = await import('./api/open-instar.ts');
  return openInstar(
    home,
    async (...args) => {
      const { startInProcess } = await import('./daemon/in-process.ts');
      return startInProcess(...args);
    },
    async (...args) => {
      const { openLibraryModels } = await import('./daemon/in-process.ts');
      return openLibraryModels(...args);
    },
  );
}
