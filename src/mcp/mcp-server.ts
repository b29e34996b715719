import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { EpisodeOutcome } from '../core/evidence.ts';
import { errorMessage } from '../core/failure.ts';
import { asObject, asString, compact, type JsonObject, toJson } from '../core/json.ts';
import type {
  EpisodeApi,
  EpisodeResult,
  EpisodeSummary,
  FeedbackSubject,
  ListedLesson,
  RecalledLessons,
} from './episode-api.ts';
import { shortenAttempt } from './episodes.ts';
import { addFlowTools, type NamedTool } from './flow-tools.ts';
import {
  ATTEMPT_DESCRIPTION,
  attemptInput,
  END_DESCRIPTION,
  EVENT_DESCRIPTION,
  endInput,
  endOutput,
  eventInput,
  eventOutput,
  FEEDBACK_DESCRIPTION,
  feedbackInput,
  feedbackOutput,
  LIST_DESCRIPTION,
  listInput,
  listOutput,
  PULL_DESCRIPTION,
  pullInput,
  pullOutput,
  SERVER_INSTRUCTIONS,
  START_DESCRIPTION,
  startInput,
  startOutput,
  tallyOutput,
} from './tool-schemas.ts';

export interface McpParts {
  readonly api: EpisodeApi;
  /** Instar's version, which clients may show. */
  readonly version: string;
}

/** Instar's tools for one connection. It has no state: episodes outlive the connection. */
export function createMcpServer({ api, version }: McpParts): McpServer {
  const server = new McpServer(
    { name: 'instar', title: 'Instar', version },
    { instructions: SERVER_INSTRUCTIONS, capabilities: { tools: { listChanged: true } } },
  );
  addFlowTools({
    server,
    api,
    own: [...addEpisodeTools(server, api), ...addReportTools(server, api), ...addLessonTools(server, api)],
    callerOf: (context) => compact({ client: clientName(server, context) }),
    toResult: (asked, flow) =>
      toToolResult(asked, (calls) => {
        const data = { flow, calls: calls.map(toJson) };
        return { data, text: JSON.stringify(data) };
      }),
  });
  return server;
}

const REPORTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** The tools that report ongoing work. */
function addEpisodeTools(server: McpServer, api: EpisodeApi): readonly NamedTool[] {
  const startEpisode = server.registerTool(
    'start_episode',
    {
      title: 'Begin a task',
      description: START_DESCRIPTION,
      inputSchema: startInput,
      outputSchema: startOutput,
      annotations: REPORTS,
    },
    ({ task, ...asker }, context) =>
      toToolResult(
        api.start({ task, ...compact({ ...asker, client: clientName(server, context) }) }),
        (told) => ({
          data: { episode: told.episode, ...recalledData(told.recalled) },
          text: `Episode ${told.episode} has started. Report attempts with this id, and end it when the task is finished.\n\n${recalledText(told.recalled)}`,
        }),
      ),
  );
  const logAttempt = server.registerTool(
    'log_attempt',
    {
      title: 'Report an attempt',
      description: ATTEMPT_DESCRIPTION,
      inputSchema: attemptInput,
      outputSchema: tallyOutput,
      annotations: REPORTS,
    },
    ({ episode, action, result, ok }) =>
      toToolResult(
        api.attempt({ episode, ...shortenAttempt({ action, result, ok }) }),
        ({ attempts, failed }) => ({
          data: { episode, attempts, failed },
          text: `Noted: attempt ${attempts} ${ok ? 'worked' : 'failed'} (${failed} of ${attempts} failed).`,
        }),
      ),
  );
  const endEpisode = server.registerTool(
    'end_episode',
    {
      title: 'End a task',
      description: END_DESCRIPTION,
      inputSchema: endInput,
      outputSchema: endOutput,
      annotations: { ...REPORTS, idempotentHint: true },
    },
    ({ episode, outcome, note, wait }) =>
      toToolResult(api.end({ episode, outcome, ...compact({ note, wait }) }), (ended) => ({
        data: { episode, outcome, ...toJson(ended) },
        text: `The episode has ended: ${outcome}, ${ended.failed} of ${ended.attempts} attempts failed. ${sayLearning(outcome, ended)}`,
      })),
  );
  return [
    ['start_episode', startEpisode],
    ['log_attempt', logAttempt],
    ['end_episode', endEpisode],
  ];
}

/** The tools that report what happened beside an episode. */
function addReportTools(server: McpServer, api: EpisodeApi): readonly NamedTool[] {
  const reportEventTool = server.registerTool(
    'report_event',
    {
      title: 'Report an event',
      description: EVENT_DESCRIPTION,
      inputSchema: eventInput,
      outputSchema: eventOutput,
      annotations: REPORTS,
    },
    ({ kind, agent, runKind, session, data = {} }, context) => {
      // Within an episode it is that of the episode.
      const about = agent ?? (session === undefined ? clientName(server, context) : undefined);
      return toToolResult(
        api.report({ ...data, kind, ...compact({ agent: about, runKind, session }) }),
        () => ({
          data: { taken: true },
          text: 'The event was saved.',
        }),
      );
    },
  );
  const giveFeedbackTool = server.registerTool(
    'give_feedback',
    {
      title: "Pass on the user's judgement",
      description: FEEDBACK_DESCRIPTION,
      inputSchema: feedbackInput,
      outputSchema: feedbackOutput,
      annotations: REPORTS,
    },
    ({ episode, turn, session, score, note }) => {
      const subjects: readonly FeedbackSubject[] = [
        ...(episode === undefined ? [] : [{ episode }]),
        ...(turn === undefined ? [] : [{ turn }]),
        ...(session === undefined ? [] : [{ session }]),
      ];
      return toToolResult(giveFeedback(api, subjects, score, note), () => ({
        data: { taken: true },
        text: 'The feedback was saved.',
      }));
    },
  );
  return [
    ['report_event', reportEventTool],
    ['give_feedback', giveFeedbackTool],
  ];
}

/** What becomes of an episode, as it really is. */
function sayLearning(outcome: EpisodeOutcome, { learns, learned }: EpisodeSummary): string {
  if (!learns)
    return outcome === 'failure'
      ? 'Nothing in it worked: it is learned from together with failures like it.'
      : 'Nothing in it failed: it counts for the lessons that it was shown.';
  if (learned === undefined)
    return 'A failure stands beside something that worked: one lesson is being drawn from it.';
  const { lessons, why } = learned;
  const said = lessons
    .map(({ name, outcome: state }) => `${name} (${LEARNED_STATES[state] ?? state})`)
    .join(', ');
  const reason = why === undefined ? '' : ` ${why}`;
  return said === '' ? `No lesson was drawn from it.${reason}` : `Drawn from it: ${said}.${reason}`;
}

const LEARNED_STATES: Readonly<Record<string, string>> = {
  live: 'in force',
  trial: 'in force on trial',
  proposed: 'waits for a person',
  refused: 'refused',
};

async function giveFeedback(
  api: EpisodeApi,
  subjects: readonly FeedbackSubject[],
  score: number,
  note: string | undefined,
): Promise<EpisodeResult<null>> {
  const [subject, second] = subjects;
  if (subject !== undefined && second === undefined)
    return api.feedback({ subject, score, ...compact({ note }) });
  return {
    ok: false,
    why: 'It is not clear what the feedback is about.',
    fix: 'Name exactly one of episode, turn and session.',
  };
}

const MOST_LISTED = 100;
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** The read-only tools. */
function addLessonTools(server: McpServer, api: EpisodeApi): readonly NamedTool[] {
  const pullExperiences = server.registerTool(
    'pull_experiences',
    {
      title: 'Look up lessons',
      description: PULL_DESCRIPTION,
      inputSchema: pullInput,
      outputSchema: pullOutput,
      annotations: READS,
    },
    ({ task, name, ...rest }, context) => {
      const asker = compact({ ...rest, client: clientName(server, context) });
      const asked =
        name !== undefined
          ? api.recall({ name, ...asker }, context.mcpReq.signal)
          : task !== undefined
            ? api.recall({ task, ...asker }, context.mcpReq.signal)
            : NOTHING_ASKED;
      return toToolResult(asked, (recalled) => ({
        data: recalledData(recalled),
        text:
          name !== undefined && recalled.text === ''
            ? `No lesson named "${name}" is in use here.`
            : recalledText(recalled),
      }));
    },
  );
  const listLessons = server.registerTool(
    'list_lessons',
    {
      title: 'List what was learned',
      description: LIST_DESCRIPTION,
      inputSchema: listInput,
      outputSchema: listOutput,
      annotations: READS,
    },
    (query, context) => toToolResult(api.list(compact(query), context.mcpReq.signal), sayList),
  );
  return [
    ['pull_experiences', pullExperiences],
    ['list_lessons', listLessons],
  ];
}

const NOTHING_ASKED: Promise<EpisodeResult<RecalledLessons>> = Promise.resolve({
  ok: false,
  why: 'It is not clear what to look up.',
  fix: 'Give the task, or the name of a lesson.',
});

/** A long list is cut, because it would fill the agent's context. */
function sayList(lessons: readonly ListedLesson[]): ToolReply {
  const listed = lessons.slice(0, MOST_LISTED);
  const lines = listed.map(
    ({ id, kind, name, description, state }) => `- ${name} (${kind}, ${state}, ${id}): ${description}`,
  );
  const more = lessons.length - listed.length;
  const rest = more > 0 ? [`… and ${more} more. Narrow the list by state or kind.`] : [];
  return {
    data: {
      lessons: listed.map(({ id, kind, name, description, state, revision }) => ({
        id,
        kind,
        name,
        description,
        state,
        revision,
      })),
      total: lessons.length,
    },
    text: lessons.length === 0 ? 'No matching lessons.' : [...lines, ...rest].join('\n'),
  };
}

/** A tool's reply: the same content as data and as text. */
interface ToolReply {
  readonly data: JsonObject;
  readonly text: string;
}

/**
 * Turns an API result into a tool result. A failure is a result too, with its fix, so that the model can correct its
 * call. A rejection, which the API does not allow, is treated as a failure.
 */
async function toToolResult<T>(
  asked: Promise<EpisodeResult<T>>,
  say: (value: T) => ToolReply,
): Promise<CallToolResult> {
  try {
    const told = await asked;
    if (!told.ok) return refusal(told.why, told.fix);
    const { data, text } = say(told.value);
    return { content: [{ type: 'text', text }], structuredContent: { ...data } };
  } catch (error) {
    return refusal(errorMessage(error), UNKNOWN_FIX);
  }
}

const UNKNOWN_FIX = 'Continue the task without this tool; run "instar doctor" to find the cause.';

const refusal = (why: string, fix: string): CallToolResult => ({
  content: [{ type: 'text', text: `${why}\n${fix}` }],
  isError: true,
});

const recalledData = ({ text, lessons, said }: RecalledLessons): JsonObject => ({
  lessons: text,
  ids: lessons.map(({ id }) => id),
  said: said.map((quote) => ({ ...quote, times: quote.times.map((time) => ({ ...time })) })),
});

const recalledText = ({ text }: RecalledLessons): string =>
  text === '' ? 'No lesson fits this task.' : text;

const LONGEST = 128;

/** The client's name: sent with each request, or once at initialisation in older protocol revisions. */
function clientName({ server }: McpServer, { mcpReq }: ServerContext): string | undefined {
  const name = asString(asObject(asObject(mcpReq.envelope)[CLIENT_INFO_META_KEY]).name);
  return (name ?? server.getClientVersion()?.name)?.slice(0, LONGEST);
}
