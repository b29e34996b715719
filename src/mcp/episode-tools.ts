import type { McpServer } from '@modelcontextprotocol/server';
import { compact } from '../core/json.ts';
import { truncateMiddle } from '../text/truncate.ts';
import { callerOf } from './caller.ts';
import type { EpisodeDesk, Subject, Told } from './episode-desk.ts';
import { recalledData, recalledText } from './recalled.ts';
import { replyWith } from './reply.ts';
import {
  attemptInput,
  endInput,
  endOutput,
  feedbackInput,
  feedbackOutput,
  startInput,
  startOutput,
  tallyOutput,
} from './shapes.ts';
import { ATTEMPT, END, FEEDBACK, START } from './words.ts';

const LONGEST_ACTION = 4000;
const LONGEST_RESULT = 12_000;
const REPORTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** The tools that report ongoing work. */
export function addEpisodeTools(server: McpServer, desk: EpisodeDesk): void {
  server.registerTool(
    'start_episode',
    {
      title: 'Begin a task',
      description: START,
      inputSchema: startInput,
      outputSchema: startOutput,
      annotations: REPORTS,
    },
    ({ task, ...asker }, context) =>
      replyWith(
        desk.start({ task, ...compact({ ...asker, client: callerOf(server, context) }) }),
        (told) => ({
          data: { episode: told.episode, ...recalledData(told.recalled) },
          text: `Episode ${told.episode} has started. Report attempts with this id, and end it when the task is finished.\n\n${recalledText(told.recalled)}`,
        }),
      ),
  );
  server.registerTool(
    'log_attempt',
    {
      title: 'Report an attempt',
      description: ATTEMPT,
      inputSchema: attemptInput,
      outputSchema: tallyOutput,
      annotations: REPORTS,
    },
    ({ episode, action, result, ok }) =>
      replyWith(
        desk.attempt({
          episode,
          action: truncateMiddle(action, LONGEST_ACTION, { headShare: 0.5 }),
          result: truncateMiddle(result, LONGEST_RESULT, { headShare: 0.5 }),
          ok,
        }),
        ({ attempts, failed }) => ({
          data: { episode, attempts, failed },
          text: `Noted: attempt ${attempts} ${ok ? 'worked' : 'failed'} (${failed} of ${attempts} failed).`,
        }),
      ),
  );
  server.registerTool(
    'end_episode',
    {
      title: 'End a task',
      description: END,
      inputSchema: endInput,
      outputSchema: endOutput,
      annotations: { ...REPORTS, idempotentHint: true },
    },
    ({ episode, outcome, note }) =>
      replyWith(desk.end({ episode, outcome, ...compact({ note }) }), ({ attempts, failed, learns }) => ({
        data: { episode, outcome, attempts, failed, learns },
        text: `The episode has ended: ${outcome}, ${failed} of ${attempts} attempts failed. ${learns ? 'It will be learned from.' : 'It has nothing to learn from.'}`,
      })),
  );
  server.registerTool(
    'give_feedback',
    {
      title: "Pass on the user's judgement",
      description: FEEDBACK,
      inputSchema: feedbackInput,
      outputSchema: feedbackOutput,
      annotations: REPORTS,
    },
    ({ episode, turn, session, score, note }) => {
      const subjects: readonly Subject[] = [
        ...(episode === undefined ? [] : [{ episode }]),
        ...(turn === undefined ? [] : [{ turn }]),
        ...(session === undefined ? [] : [{ session }]),
      ];
      return replyWith(giveFeedback(desk, subjects, score, note), () => ({
        data: { taken: true },
        text: 'The feedback was saved.',
      }));
    },
  );
}

async function giveFeedback(
  desk: EpisodeDesk,
  subjects: readonly Subject[],
  score: number,
  note: string | undefined,
): Promise<Told<null>> {
  const [subject, second] = subjects;
  if (subject !== undefined && second === undefined)
    return desk.feedback({ subject, score, ...compact({ note }) });
  return {
    ok: false,
    why: 'It is not clear what the feedback is about.',
    fix: 'Name exactly one of episode, turn and session.',
  };
}
