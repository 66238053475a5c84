import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import LiveBudget from './LiveBudget.vue';
import StoreChooser from './StoreChooser.vue';
import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('LiveBudget', LiveBudget);
    app.component('StoreChooser', StoreChooser);
  },
};

export default theme;
