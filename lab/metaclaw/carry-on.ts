/** Ends what the user says about a mistake: without it an agent goes back to what is over. */
export const CARRY_ON = 'Bear this in mind and carry on with what comes next.';
