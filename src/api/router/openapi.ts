import { z } from 'zod';
import { VERSION } from '../../base/package.ts';
import type { JsonObject } from '../../core/json.ts';
import type { LazySchema, RouteShape } from './route-shape.ts';

/** The routes as an OpenAPI document, with the schemas that read requests and that tests check replies with. */
export function describeApi(routes: readonly RouteShape[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    Object.assign(paths[path], { [route.method.toLowerCase()]: describeRoute(route) });
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Instar', version: VERSION },
    components: {
      securitySchemes: {
        owner: { type: 'http', scheme: 'bearer', description: 'The owner key.' },
        caller: { type: 'http', scheme: 'bearer', description: 'A caller key, or the owner key.' },
        member: { type: 'http', scheme: 'bearer', description: 'The key of a member of the team.' },
        page: { type: 'apiKey', in: 'cookie', name: 'instar_page', description: 'A person on the page.' },
      },
    },
    paths,
  };
}

const ACCESS: Readonly<Record<RouteShape['access'], readonly JsonObject[]>> = {
  anyone: [{}],
  caller: [{ caller: [] }, { page: [] }],
  member: [{ owner: [] }, { member: [] }, { page: [] }],
  reviewer: [{ owner: [] }, { member: [] }, { page: [] }],
  owner: [{ owner: [] }, { page: [] }],
};

function describeRoute({ path, access, says, query, body, reply }: RouteShape): JsonObject {
  const content =
    typeof reply === 'function'
      ? { 'application/json': { schema: schemaOf(reply, 'output') } }
      : { [reply.type]: {} };
  return {
    summary: says,
    security: ACCESS[access],
    parameters: [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...parametersOf(query),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: schemaOf(body, 'input') } } } }),
    responses: {
      200: { description: 'Done.', content },
      default: {
        description: 'Why not, and what to do.',
        content: { 'application/json': { schema: FAILURE } },
      },
    },
  };
}

const FAILURE: JsonObject = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: { message: { type: 'string' }, code: { type: 'string' } },
      required: ['message'],
    },
  },
  required: ['error'],
};

function parametersOf(query: LazySchema | undefined): readonly JsonObject[] {
  if (query === undefined) return [];
  const { properties = {} } = schemaOf(query, 'input') as { readonly properties?: JsonObject };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

function schemaOf(schema: LazySchema, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema(), { io, unrepresentable: 'any' });
  return rest as JsonObject;
}
