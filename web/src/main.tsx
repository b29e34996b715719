import './styles/tokens.css';
import './styles/layout.css';
import './styles/parts.css';
import './styles/views.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './lib/theme.ts';

applyTheme();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
