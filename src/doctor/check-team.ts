import { SAFE_FOR_TEAM, whyUnsafeForTeam } from '../config/address.ts';
import type { Config } from '../config/schema.ts';
import { type DoctorCheck, passed, warned } from './doctor-check.ts';

/** Whether the address of the gateway is one that members of a team can use: beyond loopback it needs TLS before it. */
export function checkTeam({ gateway }: Pick<Config, 'gateway'>): readonly DoctorCheck[] {
  const why = whyUnsafeForTeam(gateway);
  if (why !== undefined) return [warned('address', why, SAFE_FOR_TEAM)];
  return gateway.trustedProxy ? [passed('address', `a proxy with TLS stands before ${gateway.host}`)] : [];
}
