/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** The price of a model by its name. Total: an unknown model has a price too. */
export type Prices = (model: string) => Price;

/**
 * The highest list price of each family, rounded up: these figures guard a budget, they are not for billing. The first row
 * whose words all occur in the name applies.
 */
const FAMILIES: readonly (readonly [words: readonly string[], input: number, output: number])[] = [
  [['ollama/'], 0, 0],
  [['lmstudio/'], 0, 0],
  [['claude', 'opus'], 15, 75],
  [['claude', 'sonnet'], 3, 15],
  [['claude', 'haiku'], 1, 5],
  [['gpt', 'nano'], 0.25, 1.5],
  [['gpt', 'mini'], 0.75, 4.5],
  [['gpt-oss'], 0.5, 1],
  [['gpt', '-pro'], 30, 180],
  [['gpt'], 5, 30],
  [['codex'], 5, 30],
  [['o4-mini'], 1.1, 4.4],
  [['o3-mini'], 1.1, 4.4],
  [['o3-pro'], 20, 80],
  [['gemini', 'flash'], 0.5, 3],
  [['gemini'], 4, 18],
  [['grok'], 5, 15],
  [['deepseek'], 2, 4],
  [['kimi'], 1, 4],
  [['qwen'], 2, 6.4],
  [['glm'], 1, 4],
  [['minimax'], 0.5, 2.5],
  [['mistral'], 2, 6],
  [['llama'], 1, 3],
];
const HIGHEST: Price = { input: 15, output: 75 };

/** The table, with configured prices by exact model name taking precedence. */
export function createPrices(own: Readonly<Record<string, Price>> = {}): Prices {
  const known = new Map(Object.entries(own).map(([name, price]) => [name.toLowerCase(), price]));
  return (model) => {
    const name = model.toLowerCase();
    const row = FAMILIES.find(([words]) => words.every((word) => name.includes(word)));
    return known.get(name) ?? (row === undefined ? HIGHEST : { input: row[1], output: row[2] });
  };
}
