import { READ_INPUT, type ResearchField } from './research-field.ts';

/** Distances and periods as they are known: a table of facts for each central body, nearest first. */
const TABLES: Readonly<Record<string, string>> = {
  // Mean distance from the Sun in astronomical units, period in years.
  'Sun table':
    'Mercury 0.387 0.241,Venus 0.723 0.615,Earth 1 1,Mars 1.524 1.881,Vesta 2.362 3.63,Ceres 2.766 4.6,Pallas 2.773 4.62,Jupiter 5.203 11.862,Saturn 9.537 29.457,Uranus 19.191 84.011,Neptune 30.069 164.79,Pluto 39.482 247.94,Haumea 43.22 284.1,Makemake 45.56 307.5,Eris 67.78 558',
  // Of moons: thousands of kilometres, days.
  'Jupiter table':
    'Metis 128 0.295,Adrastea 129 0.298,Amalthea 181.4 0.498,Thebe 221.9 0.675,Io 421.8 1.769,Europa 671.1 3.551,Ganymede 1070.4 7.155,Callisto 1882.7 16.689,Themisto 7398 130,Leda 11165 240.9,Himalia 11461 250.6,Lysithea 11717 259.2,Elara 11741 259.6',
  'Saturn table':
    'Pan 133.6 0.575,Atlas 137.7 0.602,Prometheus 139.4 0.613,Pandora 141.7 0.629,Mimas 185.5 0.942,Enceladus 238 1.37,Tethys 294.7 1.888,Dione 377.4 2.737,Rhea 527.1 4.518,Titan 1221.9 15.945,Hyperion 1481 21.277,Iapetus 3560.8 79.322,Phoebe 12944 550.3',
  'Uranus table':
    'Cordelia 49.8 0.335,Ophelia 53.8 0.376,Bianca 59.2 0.435,Cressida 61.8 0.464,Juliet 64.4 0.493,Portia 66.1 0.513,Rosalind 69.9 0.558,Belinda 75.3 0.624,Puck 86 0.762,Miranda 129.9 1.413,Ariel 190.9 2.52,Umbriel 266 4.144,Titania 436.3 8.706,Oberon 583.5 13.463',
};

/** Orbits of planets, asteroids and moons: well-known values, not measurements of our own. */
export const ORBIT_FIELD: ResearchField = {
  name: 'prediction of orbital periods',
  methods: [
    'power law fit',
    'straight line fit',
    'nearest body',
    'mean period',
    'linear interpolation',
    'nearest two bodies',
  ],
  datasets: Object.keys(TABLES),
  metric: 'tolerance rate',
  protocol:
    'data.csv has the columns name, distance and period, nearest body first. For a seed, the bodies whose row number (from 0) plus the seed is divisible by 3 are held out; the others are known. The period of each body that is held out is predicted from its distance. A prediction within 20 percent of the true period is right. The tolerance rate is the share of right predictions in percent.',
  definitions: {
    'power law fit': 'fits a straight line through the logarithms of distance and period by least squares',
    'straight line fit': 'fits a straight line through distance and period by least squares',
    'nearest body': 'takes the period of the known body with the nearest distance',
    'mean period': 'takes the mean period of all known bodies',
    'linear interpolation':
      'interpolates between the two known bodies whose distances enclose it, and takes the nearest body outside of them',
    'nearest two bodies': 'takes the mean period of the two known bodies with the nearest distances',
  },
  data: (name) =>
    ['name,distance,period', ...(TABLES[name] ?? '').split(',').map((row) => row.replaceAll(' ', ','))].join(
      '\n',
    ),
  program: `${READ_INPUT}
const bodies = rows.map(([, distance, period]) => ({ distance: Number(distance), period: Number(period) }));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
function line(points) {
  const mx = mean(points.map(([x]) => x));
  const my = mean(points.map(([, y]) => y));
  const top = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  const slope = top / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  return (x) => my + slope * (x - mx);
}
function predictor(method, known) {
  const byDistance = (d) => [...known].sort((a, b) => Math.abs(a.distance - d) - Math.abs(b.distance - d));
  if (method === 'power law fit') {
    const fit = line(known.map(({ distance, period }) => [Math.log(distance), Math.log(period)]));
    return (d) => Math.exp(fit(Math.log(d)));
  }
  if (method === 'straight line fit') return line(known.map(({ distance, period }) => [distance, period]));
  if (method === 'mean period') return () => mean(known.map(({ period }) => period));
  if (method === 'nearest two bodies') return (d) => mean(byDistance(d).slice(0, 2).map(({ period }) => period));
  if (method === 'linear interpolation')
    return (d) => {
      const below = known.filter(({ distance }) => distance <= d).at(-1);
      const above = known.find(({ distance }) => distance >= d);
      if (below === undefined || above === undefined || below === above) return byDistance(d)[0].period;
      const share = (d - below.distance) / (above.distance - below.distance);
      return below.period + share * (above.period - below.period);
    };
  return (d) => byDistance(d)[0].period;
}
report((method, seed) => {
  const isOut = (_, row) => (row + seed) % 3 === 0;
  const predict = predictor(method, bodies.filter((body, row) => !isOut(body, row)));
  const right = bodies.filter(isOut).map(({ distance, period }) => Math.abs(predict(distance) - period) <= 0.2 * period);
  return mean(right.map(Number));
});
`,
};
