import type { Random } from '../../../src/base/random.ts';
import { pick, shuffled, some } from '../draw.ts';
import { forSplit } from '../splits.ts';
import type { Split, World } from '../world.ts';
import { COMPANIES, FAMILY_NAMES, GIVEN_NAMES, PRODUCTS, PROJECTS, ROLES } from './pools.ts';

const PEOPLE = 8;
const PROJECT_COUNT = 6;

/** A company of its own; nobody in it shares a name, so that a surname alone is enough to know who is meant. */
export function makeWorld(random: Random, split: Split): World {
  const given = some(random, forSplit(GIVEN_NAMES, split), PEOPLE);
  const family = shuffled(random, forSplit(FAMILY_NAMES, split));
  const roles = shuffled(random, ROLES);
  return {
    company: pick(random, forSplit(COMPANIES, split)),
    product: pick(random, forSplit(PRODUCTS, split)),
    people: given.map((name, at) => ({ name: `${name} ${family[at] ?? ''}`, role: roles[at] ?? '' })),
    projects: some(random, forSplit(PROJECTS, split), PROJECT_COUNT),
  };
}
