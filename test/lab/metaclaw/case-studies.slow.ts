import { describeCaseStudies } from './case-study.ts';

describeCaseStudies('the case studies of the paper, with a scripted evolver', 'own/teacher');
