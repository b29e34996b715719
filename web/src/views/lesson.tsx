import { linkTo, type ViewRoute } from '../lib/route.ts';
import { LessonPane } from '../parts/lesson-pane.tsx';

/** One lesson with its evidence, effect and history. */
export const LessonView = ({ route }: ViewRoute) => (
  <>
    <p class="view-above">
      <a href={linkTo(['lessons'])}>Lessons</a>
    </p>
    <LessonPane id={route.path[1] ?? ''} />
  </>
);
