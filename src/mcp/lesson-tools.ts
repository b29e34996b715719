import type { McpServer } from '@modelcontextprotocol/server';
import { compact } from '../core/json.ts';
import { callerOf } from './caller.ts';
import type { EpisodeDesk, ListedLesson } from './episode-desk.ts';
import { recalledData, recalledText } from './recalled.ts';
import { replyWith, type Saying } from './reply.ts';
import { listInput, listOutput, pullInput, pullOutput } from './shapes.ts';
import { LIST, PULL } from './words.ts';

const MOST_LISTED = 100;
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** The read-only tools. */
export function addLessonTools(server: McpServer, desk: EpisodeDesk): void {
  server.registerTool(
    'pull_experiences',
    {
      title: 'Look up lessons',
      description: PULL,
      inputSchema: pullInput,
      outputSchema: pullOutput,
      annotations: READS,
    },
    ({ task, ...rest }, context) =>
      replyWith(
        desk.recall(
          { task, ...compact({ ...rest, client: callerOf(server, context) }) },
          context.mcpReq.signal,
        ),
        (recalled) => ({ data: recalledData(recalled), text: recalledText(recalled) }),
      ),
  );
  server.registerTool(
    'list_lessons',
    {
      title: 'List what was learned',
      description: LIST,
      inputSchema: listInput,
      outputSchema: listOutput,
      annotations: READS,
    },
    (query, context) => replyWith(desk.list(compact(query), context.mcpReq.signal), sayList),
  );
}

/** A long list is cut, because it would fill the agent's context. */
function sayList(lessons: readonly ListedLesson[]): Saying {
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
