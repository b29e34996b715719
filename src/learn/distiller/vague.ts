/** Words of general complaints that say nothing about what to do. */
const VAGUE: ReadonlySet<string> = new Set(
  `again attention answer answers ask asked bad best better brain broken careful carefully check closely complete completed
  completely correct correctly deliver detail details different differently do effort error errors exact exactly expected fix fixed
  focus follow following followed good great harder help include incorrect instruction instructions issue job look mistake
  mistakes nothing ok okay output part perfect precise problem properly question quality quickly read redo response result
  results retry right simply something stuff task tasks think thinking thought thorough today try understand user wanted work
  works wrong yourself`.split(/\s+/),
);

export const isVagueWord = (word: string): boolean => VAGUE.has(word);
