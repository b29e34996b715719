import type { ChatMessage } from '../../../src/core/chat.ts';
import type { TurnEvidence } from '../../../src/core/evidence.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import type { AppraisedTurn } from '../../../src/evidence/evidence-reader.ts';
import { createSessionTexts, readMaterial } from '../../../src/evidence/turn-material.ts';
import { turnOf } from '../../evidence/turn-fixtures.ts';

/** One request of an agent: the call it makes and what the tool answers, or the user's next message after an answer in words. */
export type Round =
  | { readonly tool?: string; readonly input: object; readonly result: string }
  | { readonly says: string; readonly user?: string };

/** A shell call in Codex's shape, which prints the exit code. */
export const ran = (command: string, code: number, output = ''): Round => ({
  tool: 'shell',
  input: { command },
  result: `Exit code: ${code}\nWall time: 0.4 seconds\nOutput:\n${output}`,
});

/** A session as the evidence reader would read it: every turn with all that came before it. */
export function turnsOf(
  task: string,
  rounds: readonly Round[],
  shown?: readonly string[],
): readonly AppraisedTurn[] {
  const messages: ChatMessage[] = [{ role: 'user', content: [{ type: 'text', text: task }] }];
  let asked = task;
  return rounds.map((round, index): AppraisedTurn => {
    const before = [...messages];
    const id = `c${index}`;
    const reply: TurnEvidence['reply'] =
      'says' in round
        ? [{ type: 'text', text: round.says }]
        : [{ type: 'tool-call', id, name: round.tool ?? 'shell', arguments: JSON.stringify(round.input) }];
    const followed: ChatMessage[] = [{ role: 'assistant', content: reply }];
    if (!('says' in round))
      followed.push({ role: 'tool', callId: id, content: [{ type: 'text', text: round.result }] });
    else if (round.user !== undefined)
      followed.push({ role: 'user', content: [{ type: 'text', text: round.user }] });
    messages.push(...followed);
    const evidence = turnOf({
      turn: `t${index}`,
      task: asked,
      reply,
      next:
        'says' in round
          ? { tools: [], ...(round.user === undefined ? {} : { user: round.user }) }
          : { tools: [{ callId: id, text: round.result }] },
    });
    if ('says' in round && round.user !== undefined) asked = round.user;
    return {
      evidence,
      appraisal: appraise(evidence),
      generation: 0,
      material: readMaterial(
        { request: { system: [], messages: before }, reply, followed, given: [] },
        createSessionTexts(),
      ),
      ...(shown === undefined ? {} : { shown }),
    };
  });
}
