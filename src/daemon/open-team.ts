import type { ServedTeam, ServeTeamOptions } from '../../team/serve-team.ts';
import type { Caller } from '../core/caller.ts';
import { MEMBERS_SUBJECT } from '../core/member.ts';

/**
 * The members of the team that a gateway serves. `team/` is loaded for a record that several gateways write, for one that has members,
 * and when a person asks about members.
 */
export async function openTeam<Keys extends { find(presented: string): Caller | undefined }>(
  options: ServeTeamOptions<Keys>,
): Promise<ServedTeam<Keys>> {
  const { keys, records, shared } = options;
  let team: ServedTeam<Keys> | undefined;
  let opening: Promise<ServedTeam<Keys>> | undefined;
  const open = (): Promise<ServedTeam<Keys>> => {
    opening ??= import('../../team/serve-team.ts').then(async ({ serveTeam }) => {
      team = await serveTeam(options);
      return team;
    });
    return opening;
  };
  // A record that cannot be read now may have members.
  const hasNone = async (): Promise<boolean> =>
    records.events(MEMBERS_SUBJECT).then(
      (facts) => facts.length === 0,
      () => false,
    );
  if (shared !== undefined || !(await hasNone())) await open();
  return {
    keys: { ...keys, find: (presented) => (team?.keys ?? keys).find(presented) },
    api: async (request) => (await open()).api(request),
    refuseUnsafe: () => team?.refuseUnsafe(),
  };
}
