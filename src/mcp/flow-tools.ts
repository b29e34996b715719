import type { McpServer, RegisteredTool, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type FlowCall, instantiateFlow } from '../base/flow-calls.ts';
import { within } from '../base/within.ts';
import { asObject, type Json, toJson } from '../core/json.ts';
import type { EpisodeApi, EpisodeCaller, EpisodeResult, OfferedFlow } from './episode-api.ts';

/** A tool that was registered under a name. */
export type NamedTool = readonly [name: string, tool: RegisteredTool];

interface FlowToolsOptions {
  readonly server: McpServer;
  readonly api: EpisodeApi;
  /** The tools that are always there. */
  readonly own: readonly NamedTool[];
  readonly callerOf: (context: ServerContext) => EpisodeCaller;
  /** The tool result of what was asked. */
  readonly toResult: (
    asked: Promise<EpisodeResult<readonly FlowCall[]>>,
    flow: string,
  ) => ReturnType<Parameters<McpServer['registerTool']>[2]>;
}

/** A client waits for the list when it starts. */
const LOOK_UP_MS = 2_000;
const LONGEST_NAME = 64;
const toolName = (flow: string): string =>
  `flow_${flow.replace(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, LONGEST_NAME);

/**
 * Each flow in force for the caller as one tool, whose answer is the list of calls to make. They are looked up whenever the tools are
 * listed, and again when one is called: a flow that was taken back is refused. Without an answer only the other tools are listed.
 */
export function addFlowTools({ server, api, own, callerOf, toResult }: FlowToolsOptions): void {
  const offered = new Map<string, { readonly text: string; readonly tool: RegisteredTool }>();
  const register = (name: string, flow: OfferedFlow): RegisteredTool =>
    server.registerTool(
      name,
      {
        title: `Flow ${flow.name}`,
        description: describe(flow),
        inputSchema: inputOf(flow),
        outputSchema: flowOutput,
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      },
      (values: Readonly<Record<string, unknown>>, context: ServerContext) =>
        toResult(
          api
            .flows(callerOf(context), context.mcpReq.signal)
            .then((flows) => (flows.ok ? callsOf(flows.value, flow.name, asObject(values)) : flows)),
          flow.name,
        ),
    );
  server.server.setRequestHandler('tools/list', async (_, context) => {
    const asked = api.flows(callerOf(context), context.mcpReq.signal).catch(() => undefined);
    const answer = await within(asked, LOOK_UP_MS);
    const flows = new Map(
      (answer?.ok === true ? answer.value : []).map((flow) => [toolName(flow.name), flow]),
    );
    for (const [name, { text, tool }] of offered) {
      const flow = flows.get(name);
      if (flow !== undefined && JSON.stringify(flow) === text) continue;
      tool.remove();
      offered.delete(name);
    }
    for (const [name, flow] of flows)
      if (!offered.has(name)) offered.set(name, { text: JSON.stringify(flow), tool: register(name, flow) });
    const tools = [...own, ...[...offered].map(([name, { tool }]): NamedTool => [name, tool])];
    return { tools: tools.map(listTool) };
  });
}

const flowOutput = z.object({
  flow: z.string(),
  calls: z.array(z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) })),
});

function inputOf({ parameters }: OfferedFlow) {
  const types = { string: () => z.string().max(4000), number: () => z.number(), boolean: () => z.boolean() };
  return z.object(
    Object.fromEntries(
      parameters.map(({ name, type, example }) => [
        name,
        types[type]().describe(`For example ${JSON.stringify(example).slice(0, 200)}.`),
      ]),
    ),
  );
}

const describe = ({ steps }: OfferedFlow): string =>
  `Answers with ${steps.length} calls that always follow each other here: ${steps
    .map(({ tool }) => tool)
    .join(', ')
    .slice(
      0,
      600,
    )}. Make them with your own tools, in this order, and leave the list when one fails. It calls nothing itself.`;

function callsOf(
  flows: readonly OfferedFlow[],
  name: string,
  values: Readonly<Record<string, Json | undefined>>,
): EpisodeResult<readonly FlowCall[]> {
  const flow = flows.find((one) => one.name === name);
  if (flow === undefined)
    return { ok: false, why: `No flow named "${name}" is in use here.`, fix: 'List the tools again.' };
  const calls = instantiateFlow(
    flow,
    new Map(Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
  );
  return calls === undefined
    ? { ok: false, why: 'A parameter is missing or has another type.', fix: 'Give all of them.' }
    : { ok: true, value: calls };
}

const listTool = ([name, { title, description, inputSchema, outputSchema, annotations }]: NamedTool) => ({
  name,
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
  inputSchema: { ...schemaOf(inputSchema, 'input'), type: 'object' as const },
  ...(outputSchema === undefined
    ? {}
    : { outputSchema: { ...schemaOf(outputSchema, 'output'), type: 'object' as const } }),
  ...(annotations === undefined ? {} : { annotations }),
});

const TARGET = { target: 'draft-2020-12' } as const;

const schemaOf = (schema: RegisteredTool['inputSchema'], io: 'input' | 'output') =>
  toJson(schema?.['~standard'].jsonSchema[io](TARGET) ?? {});
