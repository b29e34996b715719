/**
 * Texts to unit vectors. Equal texts give equal vectors; similar meanings give near vectors as far as the model can.
 * Rejects when the model cannot be loaded or is closed; callers have a simpler fallback.
 */
export interface Embed {
  /** Names the model and its dimensions; vectors of different ids are not comparable. */
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
