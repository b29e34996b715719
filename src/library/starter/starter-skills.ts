import { CODING_SKILLS } from './coding-skills.ts';
import type { StarterSkill } from './starter-skill.ts';
import { WORKING_SKILLS } from './working-skills.ts';

/** What a new library can begin with: small, general, and meant to be replaced by what is learned. */
export const STARTER_SKILLS: readonly StarterSkill[] = [...CODING_SKILLS, ...WORKING_SKILLS];
