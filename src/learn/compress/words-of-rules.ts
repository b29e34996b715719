/** Words by which a sentence of a system prompt is a rule and not a description. */
const RULE =
  /\b(?:must|never|always|only|shall|should|required?|mandatory|do not|don['’]t|cannot|can['’]t|may not|use|using|call|run|execute|reply|respond|answer|send|write|read|put|keep|save|store|check|avoid|prefer|ask|stop|start|begin|end|wrap|format|follow|include|append|create|set|load|search|before|after|when|if|unless|instead|ensure|make sure|path|located|lives?)\b/i;

const FORBIDS =
  /\b(?:never|must not|mustn['’]t|do not|don['’]t|may not|not allowed|forbidden|prohibited|under no circumstances)\b/i;

/** Every wording with which a shortened sentence may forbid. */
const DENIES =
  /\b(?:never|not|no|don['’]t|doesn['’]t|cannot|can['’]t|mustn['’]t|shouldn['’]t|won['’]t|without|avoid|forbidden|prohibit\w*|refuse|disallow\w*|banned|only|nothing|nobody|none|neither|nor)\b/i;

export const isRule = (text: string): boolean => RULE.test(text);
export const isForbidding = (text: string): boolean => FORBIDS.test(text);
export const isDenying = (text: string): boolean => DENIES.test(text);
