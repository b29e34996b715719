/** English function words: they match every text. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also always am an and any are as at be because been before being below between both but
  by can cannot could did do does doing done down during each either else etc ever every few for from further get gets
  getting give given go goes going gone got had has have having he her here hers him his how i if in instead into is it
  its itself just keep kind know let like lot made make makes making many may maybe me might more most much must my need
  needs never no nor not now of off on once one only onto or other our ours out over own per please put rather really
  same say see seem shall she should since so some something sometimes still such take than that the their theirs them
  then there these they thing things this those through to too under until up upon us use used using very via want wants
  was way we well were what when where whether which while who whose why will with within without would yes yet you your
  yours im ive id ill dont doesnt didnt cant wont isnt arent wasnt`.split(/\s+/),
);
