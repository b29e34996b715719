import { CLIENT_INFO_META_KEY, type McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { asObject, asString } from '../core/json.ts';

const LONGEST = 128;

/** The client's name: sent with each request, or once at initialisation in older protocol revisions. */
export function callerOf({ server }: McpServer, { mcpReq }: ServerContext): string | undefined {
  const name = asString(asObject(asObject(mcpReq.envelope)[CLIENT_INFO_META_KEY]).name);
  return (name ?? server.getClientVersion()?.name)?.slice(0, LONGEST);
}
