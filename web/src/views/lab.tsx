import type { Facets } from '../lib/api-shapes.ts';
import { useResource } from '../lib/resource.ts';
import { linkTo, type ViewRoute } from '../lib/route.ts';
import { Command } from '../parts/command.tsx';
import { Empty, Loaded } from '../parts/states.tsx';
import { View } from '../parts/view.tsx';
import { AdaptationPart } from './adaptation.tsx';
import { PracticePart, PracticeReportView } from './practice.tsx';
import { TrainingPart } from './training.tsx';

const PARTS = {
  practice: ['Practice', PracticePart],
  training: ['Training', TrainingPart],
  adaptation: ['Adaptation', AdaptationPart],
} as const;

type PartName = keyof typeof PARTS;

const isPart = (name: string | undefined): name is PartName => name !== undefined && name in PARTS;

/** What runs while nobody is there: practice and training, and what events changed. Each is shown once it was used. */
export function LabView({ route }: ViewRoute) {
  const [, wanted, run] = route.path;
  const facets = useResource<Facets>('/api/page/facets', { on: ['practice', 'training', 'event', 'hello'] });
  if (wanted === 'practice' && run !== undefined) return <PracticeReportView run={run} />;
  return (
    <View title="Lab" lead="What Instar does while you are away, and what came of it.">
      <Loaded of={facets}>
        {({ lab }) => {
          const shown = isPart(wanted) ? wanted : lab[0];
          if (shown === undefined)
            return (
              <Empty title="Nothing has run here yet.">
                <p>While you are away, agents can attempt tasks of your own work again:</p>
                <Command>instar practice</Command>
                <p>With enough graded attempts, a model of your own can be trained on them:</p>
                <Command>instar train</Command>
              </Empty>
            );
          const Part = PARTS[shown][1];
          const names = (Object.keys(PARTS) as PartName[]).filter(
            (name) => lab.includes(name) || name === shown,
          );
          return (
            <>
              {names.length > 1 && (
                <nav class="tabs lessons-tabs" aria-label="Parts of the lab">
                  {names.map((name) => (
                    <a
                      key={name}
                      href={linkTo(['lab', name])}
                      aria-current={name === shown ? 'page' : undefined}
                    >
                      {PARTS[name][0]}
                    </a>
                  ))}
                </nav>
              )}
              <Part />
            </>
          );
        }}
      </Loaded>
    </View>
  );
}
