import { confinementHere, describeConfiner } from '../agent/sandbox/find-confiner.ts';
import { type DoctorCheck, passed, warned } from './doctor-check.ts';

/** What confines the commands of the agent that practises: found by running the isolation checks in it. */
export async function checkSandbox(): Promise<DoctorCheck> {
  const found = await confinementHere();
  if (!found.ok)
    return warned(
      'sandbox',
      `no command of a practising agent is run: ${found.why}`,
      'install bubblewrap',
      'sandbox-missing',
    );
  const { confiner } = found;
  const text = describeConfiner(confiner);
  return confiner.filter === undefined
    ? warned('sandbox', text, 'install bubblewrap or perl, which install the filter', 'sandbox-unfiltered')
    : passed('sandbox', text);
}
