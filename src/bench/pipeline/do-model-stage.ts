import type { ChatMessage } from '../../core/chat.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Said, Speak } from '../../core/speak.ts';
import type { StageContext } from '../../pipeline/stage-context.ts';
import { readAnswer } from './read-answer.ts';
import type { ModelStage, Problem } from './stage.ts';
import {
  assistantMessage,
  type PromptPlace,
  refinePrompt,
  requestOf,
  stagePrompt,
  userMessage,
} from './stage-prompt.ts';

/** One reply of the model with the findings of the check. */
export interface Judged {
  readonly said: Said;
  readonly problems: readonly Problem[];
}

export interface ModelStageWork {
  readonly stage: ModelStage;
  readonly material: JsonObject;
  readonly place: PromptPlace;
  readonly speak: Speak;
  readonly model: string;
  readonly check: (output: JsonObject) => readonly Problem[];
  readonly maxRefines: number;
  readonly observe: (judged: Judged) => void;
}

const NO_JSON: Problem = { reason: 'Answer with one JSON object and nothing else.' };

/** One attempt: an answer, and refine cycles with the findings of the check up to the limit. */
export async function doModelStage(work: ModelStageWork, context: StageContext): Promise<JsonObject> {
  const { stage, material, place, speak, model, check, maxRefines, observe } = work;
  let messages: readonly ChatMessage[] = [userMessage(stagePrompt(stage, material, place))];
  for (let cycle = 0; ; cycle++) {
    const said = await speak(requestOf(model, messages), context.speaker, context.signal);
    context.heard(said.turn);
    if (said.failure !== undefined) {
      observe({ said, problems: [] });
      context.interrupt(said.failure);
    }
    const output = readAnswer(said.text);
    const problems = output === undefined ? [NO_JSON] : check(output);
    observe({ said, problems });
    if (output !== undefined && problems.length === 0) return output;
    const reasons = problems.map(({ reason }) => reason);
    const seen = problems.flatMap(({ detail }) => detail ?? []).join('; ');
    const detail = seen === '' ? undefined : seen;
    if (cycle >= maxRefines) context.fail(reasons, detail);
    context.refine(reasons, detail);
    messages = [...messages, assistantMessage(said.text), userMessage(refinePrompt(problems))];
  }
}
