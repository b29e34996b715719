import { McpServer } from '@modelcontextprotocol/server';
import type { EpisodeDesk } from './episode-desk.ts';
import { addEpisodeTools } from './episode-tools.ts';
import { addLessonTools } from './lesson-tools.ts';
import { INSTRUCTIONS } from './words.ts';

export interface McpParts {
  readonly desk: EpisodeDesk;
  /** Instar's version, which clients may show. */
  readonly version: string;
}

/** Instar's tools for one connection. It has no state: episodes outlive the connection. */
export function createMcpServer({ desk, version }: McpParts): McpServer {
  const server = new McpServer(
    { name: 'instar', title: 'Instar', version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  );
  addEpisodeTools(server, desk);
  addLessonTools(server, desk);
  return server;
}
