import { describeCaseStudies } from './case-study.ts';

describeCaseStudies('the case studies of the paper, without a model to learn with');
