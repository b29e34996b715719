/** A skill of the starter set, within the limits of a lesson's text. */
export interface StarterSkill {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly category: string;
  readonly keywords: readonly string[];
}

/** One skill, its content line by line. */
export const createStarterSkill = (
  head: Omit<StarterSkill, 'content'>,
  lines: readonly string[],
): StarterSkill => ({ ...head, content: lines.join('\n') });
