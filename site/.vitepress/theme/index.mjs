// The default theme loads a font of its own; this entry is the same theme with the fonts of the reader's system.
import DefaultTheme from 'vitepress/theme-without-fonts';
import './site.css';

export default DefaultTheme;
