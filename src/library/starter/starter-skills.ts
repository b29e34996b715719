import { CODING_SKILLS } from './coding-skills.ts';
import type { StarterSkill } from './starter-skill.ts';
import { WORKING_SKILLS } from './working-skills.ts';

/** The starter set of a new library: small, general, and meant to be replaced by learned lessons. */
export const STARTER_SKILLS: readonly StarterSkill[] = [...CODING_SKILLS, ...WORKING_SKILLS];
